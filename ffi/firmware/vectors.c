/* The conformance vectors on a microcontroller. */
#include "replay.h"
#include "start.h"

static void failed(const char *scenario, unsigned step, const char *what)
{
    print("FAILED ");
    print(scenario);
    print(": step ");
    print_number(step);
    print(": ");
    print(what);
    print(" is not as expected\n");
}

int main(void)
{
    struct replay_counts counts = replay(failed);
    print_number((unsigned)counts.passed);
    print(" passed, ");
    print_number((unsigned)counts.failed);
    print(" failed\n");
    return counts.failed != 0;
}
