/* Text for the person at the debugger. */
#ifndef START_H
#define START_H

void print(const char *text);
void print_number(unsigned number);

#endif
