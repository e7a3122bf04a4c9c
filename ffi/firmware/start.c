/* What is between power-on and main on a Cortex-M, and talking to the debugger by semihosting. */
#include "start.h"

#include <stdint.h>

int main(void);

/* From the linker script. */
extern uint32_t ram_data[], ram_data_end[], flash_data[], ram_bss[], ram_bss_end[], stack_top[];

static uint32_t semihost(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void print(const char *text)
{
    semihost(0x04 /* SYS_WRITE0 */, text);
}

void print_number(unsigned number)
{
    char digits[11], *at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    print(at);
}

static void end(int failed)
{
    /* ADP_Stopped_ApplicationExit, or ADP_Stopped_RunTimeErrorUnknown. */
    semihost(0x18 /* SYS_EXIT */, (const void *)(failed ? 0x20023u : 0x20026u));
    for (;;) {
    }
}

void reset(void)
{
    const uint32_t *from = flash_data;
    for (uint32_t *to = ram_data; to < ram_data_end;)
        *to++ = *from++;
    for (uint32_t *to = ram_bss; to < ram_bss_end;)
        *to++ = 0;
    end(main());
}

static void fault(void)
{
    print("fault\n");
    end(1);
}

/* The table that the processor starts from: the stack, then reset and the fifteen that may go wrong. */
__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors = {
    stack_top,
    {reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault},
};
