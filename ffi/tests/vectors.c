/* The conformance vectors from C. */
#include <stdio.h>

#include "replay.h"

static void failed(const char *scenario, unsigned step, const char *what)
{
    printf("FAILED %s: step %u: %s is not as expected\n", scenario, step, what);
}

int main(void)
{
    struct replay_counts counts = replay(failed);
    printf("%d passed, %d failed\n", counts.passed, counts.failed);
    return counts.failed != 0;
}
