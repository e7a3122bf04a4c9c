/* The conformance vectors of one operation each: backoff, retry budget, classification, header text. */
#include "check.h"

static sw_backoff backoff;
static sw_reconnect link;
static sw_retry_budget budget;
static uint64_t wait;
static char out[256];

#define NOBODY ((sw_rejection){0})
#define SAME(got, want) CHECK((uint64_t)(got) == (want))

static void schedule(uint64_t period, uint32_t spread, uint64_t seed, uint64_t now, uint64_t phase, uint64_t next)
{
    const sw_schedule made = sw_schedule_make(period, spread, seed);
    SAME(made.phase_ns, phase);
    SAME(sw_schedule_next_ns(made, now), next);
}

static void withdraw(uint64_t now, sw_status status, sw_rejection want)
{
    sw_rejection no;
    EQUAL(sw_retry_budget_withdraw(&budget, now, &no), status);
    EQUAL(no.layer, want.layer);
    EQUAL(no.reason, want.reason);
    EQUAL(no.when, want.when);
    SAME(no.at_ns, want.at_ns);
}

static void deadline(uint64_t at, uint64_t expected, uint64_t now, uint64_t left, sw_rejection want)
{
    uint64_t remaining;
    sw_rejection no;
    EQUAL(sw_deadline_check(at, expected, now, &remaining, &no), want.reason ? SW_REFUSED : SW_OK);
    SAME(remaining, left);
    EQUAL(no.layer, want.layer);
    EQUAL(no.reason, want.reason);
    EQUAL(no.when, want.when);
}

static void verdict(sw_finish finish, uint32_t retryable, uint32_t after_wait, uint32_t evidence)
{
    EQUAL(finish.retryable, retryable);
    EQUAL(finish.after_wait, after_wait);
    EQUAL(finish.evidence, evidence);
}

static void retry_after(const char *value, size_t size, int64_t now, uint64_t want)
{
    EQUAL(sw_parse_retry_after(value, size, now, &wait), want == UINT64_MAX ? SW_EMPTY : SW_OK);
    SAME(wait, want);
}

static void date(const char *value, size_t size, int64_t now, int there, int64_t want)
{
    int64_t unix;
    EQUAL(sw_parse_http_date(value, size, now, &unix), there ? SW_OK : SW_EMPTY);
    EQUAL(unix, want);
}

static void written(size_t length, const char *want)
{
    EQUAL(length, strlen(want));
    TEXT(out, want);
}

#include "asked_vectors.inc"

int main(void)
{
    all();
    return check_end();
}
