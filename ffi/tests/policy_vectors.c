/* The conformance vectors of whole calls, replayed by a loop in C. */
#include <stdbool.h>

#include "check.h"

static sw_policy_config policy_config;
static sw_timeouts_config timeouts_config;
static sw_retry_config retry_config;
static sw_backoff_config backoff_config;
static sw_retry_budget_config retry_budget_config;
static sw_circuit_breaker_config circuit_breaker_config;
static sw_token_bucket_config token_bucket_config;
static bool has_retry, has_retry_budget, has_circuit_breaker, has_token_bucket;

static sw_circuit_breaker breaker;
static sw_token_bucket bucket;
static sw_retry_budget budget;
static sw_policy policy;
static sw_call calls[4];

/* The call that is polled, and with what. */
static sw_call *polled;
static uint64_t now, randomness;
static sw_step step;

#define NOBODY ((sw_rejection){0})

static void begin(void)
{
    policy_config = sw_policy_config_default();
    timeouts_config = sw_timeouts_config_default();
    retry_config = sw_retry_config_default();
    backoff_config = sw_backoff_config_default();
    retry_budget_config = sw_retry_budget_config_default();
    circuit_breaker_config = sw_circuit_breaker_config_default();
    token_bucket_config = sw_token_bucket_config_default();
    has_retry = has_retry_budget = has_circuit_breaker = has_token_bucket = false;
    memset(calls, 0, sizeof calls);
}

static sw_status made(uint64_t start)
{
    sw_backoff backoff;
    sw_status status = sw_policy_init(&policy, &policy_config, &timeouts_config);
    if (status == SW_OK)
        status = sw_backoff_init(&backoff, &backoff_config);
    if (status == SW_OK && has_retry)
        status = sw_policy_retry(&policy, &retry_config, &backoff);
    if (status == SW_OK && has_retry_budget)
        status = sw_retry_budget_init(&budget, &retry_budget_config, start);
    if (status == SW_OK && has_circuit_breaker)
        status = sw_circuit_breaker_init(&breaker, &circuit_breaker_config);
    if (status == SW_OK && has_token_bucket)
        status = sw_token_bucket_init(&bucket, &token_bucket_config, start);
    policy.budget = has_retry_budget ? &budget : NULL;
    policy.breaker = has_circuit_breaker ? &breaker : NULL;
    policy.rate_limit = has_token_bucket ? &bucket : NULL;
    return status;
}

/* Exactly one part says that it is impossible, with these words. */
static void refused_with(const char *words)
{
    char text[200];
    const char *said = "";
    char kept[200];
#define EXPLAIN(part)                                                                                          \
    do {                                                                                                       \
        sw_##part##_config_explain(&part##_config, text, sizeof text);                                         \
        if (text[0] != '\0' && said[0] == '\0') {                                                              \
            memcpy(kept, text, sizeof kept);                                                                   \
            said = kept;                                                                                       \
        }                                                                                                      \
    } while (0)
    EQUAL(made(0), SW_ERR_CONFIG);
    EXPLAIN(policy);
    if (said[0] == '\0')
        EXPLAIN(timeouts);
    if (said[0] == '\0')
        EXPLAIN(backoff);
    if (said[0] == '\0' && has_retry)
        EXPLAIN(retry);
    if (said[0] == '\0' && has_retry_budget)
        EXPLAIN(retry_budget);
    if (said[0] == '\0' && has_circuit_breaker)
        EXPLAIN(circuit_breaker);
    if (said[0] == '\0' && has_token_bucket)
        EXPLAIN(token_bucket);
    TEXT(said, words);
}

/* A call that is over makes room for the next one of its number. */
static void start(sw_call *call, uint64_t deadline_ns, bool over, sw_status status)
{
    if (over)
        memset(call, 0, sizeof *call);
    EQUAL(sw_call_start(call, deadline_ns), status);
}

static void poll_with(sw_call *call, uint64_t now_ns, uint64_t r)
{
    polled = call;
    now = now_ns;
    randomness = r;
}

static void next(enum sw_step_kind kind)
{
    EQUAL(sw_call_poll(polled, &policy, now, randomness, &step), SW_OK);
    EQUAL(step.kind, kind);
}

static void fail(uint64_t now_ns)
{
    sw_permit permit;
    EQUAL(sw_circuit_breaker_admit(&breaker, now_ns, 0, &permit, NULL, NULL), SW_OK);
    EQUAL(sw_circuit_breaker_failure(&breaker, &permit, now_ns, 0, NULL), SW_OK);
}

#define RUN_STEP(number, until, waited, after)                                                                 \
    do {                                                                                                       \
        next(SW_STEP_RUN);                                                                                     \
        EQUAL(step.attempt, number);                                                                           \
        CHECK(step.until_ns == (until));                                                                       \
        CHECK(step.waited_ns == (waited));                                                                     \
        EQUAL(step.failure, after);                                                                            \
    } while (0)

#define CANCEL(number, cut)                                                                                    \
    do {                                                                                                       \
        next(SW_STEP_CANCEL);                                                                                  \
        EQUAL(step.attempt, number);                                                                           \
        EQUAL(step.why, cut);                                                                                  \
    } while (0)

#define WAIT(until, with, pause)                                                                               \
    do {                                                                                                       \
        next(SW_STEP_WAIT);                                                                                    \
        CHECK(step.until_ns == (until));                                                                       \
        EQUAL(step.ticket, with);                                                                              \
        EQUAL(step.why, pause);                                                                                \
    } while (0)

#define CHANGED(before, after, why_, until)                                                                    \
    do {                                                                                                       \
        next(SW_STEP_CHANGED);                                                                                 \
        EQUAL(step.transition.from, before);                                                                   \
        EQUAL(step.transition.to, after);                                                                      \
        EQUAL(step.transition.cause, why_);                                                                    \
        CHECK(step.transition.until_ns == (until));                                                            \
    } while (0)

#define DONE(end, number, sent, last, told, by)                                                                \
    do {                                                                                                       \
        const sw_rejection no_ = by;                                                                           \
        next(SW_STEP_DONE);                                                                                    \
        EQUAL(step.why, end);                                                                                  \
        EQUAL(step.attempt, number);                                                                           \
        EQUAL(step.attempts, sent);                                                                            \
        EQUAL(step.failure, last);                                                                             \
        CHECK(step.told_ns == (told));                                                                         \
        EQUAL(step.rejection.layer, no_.layer);                                                                \
        EQUAL(step.rejection.reason, no_.reason);                                                              \
        EQUAL(step.rejection.when, no_.when);                                                                  \
        CHECK(step.rejection.at_ns == no_.at_ns);                                                              \
    } while (0)

#include "policy_vectors.inc"

int main(void)
{
    all();
    return check_end();
}
