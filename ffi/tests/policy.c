/* Whole calls from C: a loop that the caller writes, and what it is told. Time is a number. */
#include "check.h"

static sw_circuit_breaker breaker;
static sw_token_bucket bucket;
static sw_retry_budget budget;
static sw_backoff backoff;
static sw_policy policy;
static sw_call call;
static sw_step step;
static uint64_t now;

/* Three attempts with pauses of 100 and 200 ms, an attempt timeout of a second, three in all. */
static void make(void)
{
    sw_timeouts_config timeouts = {.connect_ns = 200 * MS, .attempt_ns = SECOND, .total_ns = 3 * SECOND};
    sw_backoff_config pauses = sw_backoff_config_default();
    sw_retry_config retry = sw_retry_config_default();
    sw_circuit_breaker_config judge = sw_circuit_breaker_config_default();
    sw_token_bucket_config rate = sw_token_bucket_config_default();
    sw_retry_budget_config retries = sw_retry_budget_config_default();
    pauses.jitter = SW_JITTER_NONE;
    retry.idempotent = SW_IDEMPOTENT_YES;
    rate.rate = 100;
    rate.capacity = 100;
    now = SECOND;
    EQUAL(sw_circuit_breaker_init(&breaker, &judge), SW_OK);
    EQUAL(sw_token_bucket_init(&bucket, &rate, now), SW_OK);
    EQUAL(sw_retry_budget_init(&budget, &retries, now), SW_OK);
    EQUAL(sw_backoff_init(&backoff, &pauses), SW_OK);
    EQUAL(sw_policy_init(&policy, NULL, &timeouts), SW_OK);
    EQUAL(sw_policy_retry(&policy, &retry, &backoff), SW_OK);
    policy.breaker = &breaker;
    policy.rate_limit = &bucket;
    policy.budget = &budget;
    memset(&call, 0, sizeof call);
}

static uint32_t poll(void)
{
    EQUAL(sw_call_poll(&call, &policy, now, 0, &step), SW_OK);
    return step.kind;
}

/* The loop of a program that makes its calls one after the other: every attempt ends like `finish`. */
static void run(sw_finish finish)
{
    EQUAL(sw_call_start(&call, UINT64_MAX), SW_OK);
    for (int steps = 0; steps < 100; steps++) {
        switch (poll()) {
        case SW_STEP_RUN:
            EQUAL(sw_call_finished(&call, step.attempt, &finish), SW_OK);
            break;
        case SW_STEP_WAIT:
            now = step.until_ns;
            break;
        case SW_STEP_DONE:
            return;
        default:
            break;
        }
    }
    CHECK(!"the call never ends");
}

static void a_success_takes_one_attempt(void)
{
    make();
    run(sw_finish_success());
    EQUAL(step.why, SW_END_SUCCESS);
    EQUAL(step.success, 1);
    EQUAL(step.attempt, 1);
    EQUAL(step.attempts, 1);
    EQUAL(now, SECOND);
}

static void a_lasting_trouble_takes_three_and_their_pauses(void)
{
    make();
    run(sw_finish_failure(SW_FAILURE_CONNECTION));
    EQUAL(step.why, SW_END_ATTEMPTS_USED_UP);
    EQUAL(step.success, 0);
    EQUAL(step.attempts, 3);
    EQUAL(step.failure, SW_FAILURE_CONNECTION);
    EQUAL(now, SECOND + 300 * MS);
    EQUAL(sw_retry_budget_balance_ppm(&budget, now), 8000000);
}

static void what_recurs_is_not_retried(void)
{
    make();
    run(sw_finish_status(404, UINT64_MAX));
    EQUAL(step.why, SW_END_NOT_RETRYABLE);
    EQUAL(step.attempts, 1);
    EQUAL(step.failure, SW_FAILURE_STATUS);
}

static void a_told_wait_is_kept_and_one_that_is_too_long_ends_the_call(void)
{
    make();
    run(sw_finish_status(429, 2 * SECOND));
    EQUAL(step.why, SW_END_WONT_FINISH);
    EQUAL(step.attempts, 2);
    EQUAL(now, 3 * SECOND);

    make();
    run(sw_finish_status(503, 3600 * SECOND));
    EQUAL(step.why, SW_END_TOLD_TOO_LONG);
    EQUAL(step.told_ns, 3601 * SECOND);
}

static void an_open_breaker_is_final_and_says_when(void)
{
    make();
    EQUAL(sw_circuit_breaker_trip(&breaker, now, 0, 0, NULL), SW_OK);
    run(sw_finish_success());
    EQUAL(step.why, SW_END_BREAKER_REFUSED);
    EQUAL(step.attempts, 0);
    EQUAL(step.rejection.reason, SW_REASON_OPEN);
    EQUAL(step.rejection.when, SW_WHEN_AT);
}

static void an_attempt_is_cut_off_by_its_own_timeout(void)
{
    make();
    EQUAL(sw_call_start(&call, UINT64_MAX), SW_OK);
    EQUAL(poll(), SW_STEP_RUN);
    EQUAL(step.until_ns, 2 * SECOND);
    EQUAL(poll(), SW_STEP_WAIT);
    EQUAL(step.why, SW_PAUSE_ATTEMPTS);
    EQUAL(step.until_ns, 2 * SECOND);
    now = step.until_ns;
    EQUAL(poll(), SW_STEP_CANCEL);
    EQUAL(step.attempt, 1);
    EQUAL(step.why, SW_CUT_TIMED_OUT);
    sw_finish late = sw_finish_success();
    EQUAL(sw_call_finished(&call, 1, &late), SW_STALE);
}

static void cancelling_is_neutral_and_final(void)
{
    make();
    EQUAL(sw_call_start(&call, UINT64_MAX), SW_OK);
    EQUAL(poll(), SW_STEP_RUN);
    EQUAL(sw_call_cancelled(&call), SW_OK);
    EQUAL(poll(), SW_STEP_CANCEL);
    EQUAL(step.why, SW_CUT_CANCELLED);
    EQUAL(poll(), SW_STEP_DONE);
    EQUAL(step.why, SW_END_CANCELLED);
    EQUAL(sw_call_cancelled(&call), SW_STALE);
    sw_snapshot figures;
    EQUAL(sw_circuit_breaker_snapshot(&breaker, now, &figures), SW_OK);
    EQUAL(figures.failed, 0);
}

static void inputs_that_make_no_sense_change_nothing(void)
{
    sw_finish finish = sw_finish_success();
    make();
    EQUAL(sw_call_finished(&call, 1, &finish), SW_STALE);
    EQUAL(sw_call_start(&call, UINT64_MAX), SW_OK);
    EQUAL(sw_call_start(&call, UINT64_MAX), SW_STALE);
    EQUAL(poll(), SW_STEP_RUN);
    EQUAL(sw_call_finished(&call, 2, &finish), SW_STALE);
    EQUAL(sw_call_woken(&call, 7), SW_STALE);
    finish.failure = 99;
    EQUAL(sw_call_finished(&call, 1, &finish), SW_ERR_VALUE);
    finish = sw_finish_failure(99);
    EQUAL(finish.failure, SW_FAILURE_OTHER);
    EQUAL(sw_call_finished(&call, 1, &finish), SW_OK);
    EQUAL(sw_call_finished(&call, 1, &finish), SW_STALE);
    EQUAL(poll(), SW_STEP_DONE);
    EQUAL(poll(), SW_STEP_DONE);
    EQUAL(step.why, SW_END_NOT_RETRYABLE);
}

static void what_must_be_stated_must_be_stated(void)
{
    char text[200];
    sw_timeouts_config timeouts = sw_timeouts_config_default();
    sw_retry_config retry = sw_retry_config_default();
    make();
    EQUAL(sw_policy_init(&policy, NULL, &timeouts), SW_ERR_CONFIG);
    CHECK(sw_timeouts_config_explain(&timeouts, text, sizeof text) < sizeof text);
    CHECK(strstr(text, "timeouts.connect: nothing is not allowed") == text);
    EQUAL(sw_policy_retry(&policy, &retry, &backoff), SW_ERR_CONFIG);
    CHECK(sw_retry_config_explain(&retry, text, sizeof text) < sizeof text);
    CHECK(strstr(text, "retry.idempotent: nothing is not allowed") == text);
    sw_policy_config config = sw_policy_config_default();
    config.cost = 0;
    CHECK(sw_policy_config_explain(&config, text, sizeof text) < sizeof text);
    CHECK(strstr(text, "policy.cost: 0 is not allowed") == text);
    retry.idempotent = SW_IDEMPOTENT_YES;
    retry.attempts = 0;
    EQUAL(sw_policy_retry(&policy, &retry, &backoff), SW_ERR_CONFIG);
}

static void parts_that_were_never_configured_are_refused(void)
{
    static sw_circuit_breaker none;
    make();
    policy.breaker = &none;
    EQUAL(sw_call_start(&call, UINT64_MAX), SW_OK);
    EQUAL(sw_call_poll(&call, &policy, now, 0, &step), SW_ERR_UNCONFIGURED);
    policy.breaker = NULL;
    EQUAL(sw_call_poll(&call, &policy, now, 0, &step), SW_OK);
    EQUAL(sw_call_poll(&call, NULL, now, 0, &step), SW_ERR_NULL);
    EQUAL(sw_call_poll(NULL, &policy, now, 0, &step), SW_ERR_NULL);
    EQUAL(sw_call_poll(&call, &policy, now, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_call_start((sw_call *)((char *)&call + 1), 0), SW_ERR_MISALIGNED);
}

int main(void)
{
    RUN(a_success_takes_one_attempt);
    RUN(a_lasting_trouble_takes_three_and_their_pauses);
    RUN(what_recurs_is_not_retried);
    RUN(a_told_wait_is_kept_and_one_that_is_too_long_ends_the_call);
    RUN(an_open_breaker_is_final_and_says_when);
    RUN(an_attempt_is_cut_off_by_its_own_timeout);
    RUN(cancelling_is_neutral_and_final);
    RUN(inputs_that_make_no_sense_change_nothing);
    RUN(what_must_be_stated_must_be_stated);
    RUN(parts_that_were_never_configured_are_refused);
    return check_end();
}
