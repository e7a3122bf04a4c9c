/* Deadlines from C. */
#include "check.h"

static uint64_t left;
static sw_rejection no;

static void work_that_fits_may_begin(void)
{
    const uint64_t deadline = sw_deadline_after_ns(SECOND, 300 * MS);
    EQUAL(sw_deadline_check(deadline, 100 * MS, SECOND + 200 * MS, &left, &no), SW_OK);
    EQUAL(left, 100 * MS);
    EQUAL(no.reason, 0);
    EQUAL(sw_deadline_check(deadline, 101 * MS, SECOND + 200 * MS, &left, &no), SW_REFUSED);
    EQUAL(no.layer, SW_LAYER_DEADLINE);
    EQUAL(no.reason, SW_REASON_WONT_FINISH);
    EQUAL(no.when, SW_WHEN_NEVER);
    EQUAL(left, 0);
    EQUAL(sw_deadline_check(deadline, 0, deadline, &left, &no), SW_REFUSED);
    EQUAL(no.reason, SW_REASON_DEADLINE_EXCEEDED);
    EQUAL(sw_deadline_check(deadline, 0, 0, NULL, NULL), SW_OK);
}

static void never_is_never(void)
{
    EQUAL(sw_deadline_check(UINT64_MAX, UINT64_MAX, UINT64_MAX, &left, &no), SW_OK);
    CHECK(left == UINT64_MAX);
    CHECK(sw_deadline_after_ns(UINT64_MAX - 5, 6) == UINT64_MAX);
    CHECK(sw_deadline_shrunk_ns(UINT64_MAX, SECOND) == UINT64_MAX);
    EQUAL(sw_deadline_shrunk_ns(3 * SECOND, SECOND), 2 * SECOND);
    EQUAL(sw_deadline_shrunk_ns(SECOND, 3 * SECOND), 0);
}

int main(void)
{
    RUN(work_that_fits_may_begin);
    RUN(never_is_never);
    return check_end();
}
