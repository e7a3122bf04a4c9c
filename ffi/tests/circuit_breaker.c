/* The circuit breaker from C, as its specification. Time is a number. */
#include "check.h"

static sw_circuit_breaker breaker;
static sw_rejection no;
static sw_transition change;

static void configure(sw_circuit_breaker_config config)
{
    EQUAL(sw_circuit_breaker_init(&breaker, &config), SW_OK);
}

/* Consecutive mode with so many failures. */
static sw_circuit_breaker_config consecutive(uint64_t failures)
{
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    config.failure_threshold = failures;
    return config;
}

static sw_permit admitted(uint64_t now)
{
    sw_permit permit;
    EQUAL(sw_circuit_breaker_admit(&breaker, now, 0, &permit, &no, &change), SW_OK);
    return permit;
}

static sw_status fail(uint64_t now)
{
    sw_permit permit = admitted(now);
    return sw_circuit_breaker_failure(&breaker, &permit, now, 0, &change);
}

static uint32_t state(uint64_t now)
{
    uint32_t state = 99;
    EQUAL(sw_circuit_breaker_state(&breaker, now, &state), SW_OK);
    return state;
}

static void failures_in_a_row_open_it_and_a_trial_closes_it(void)
{
    sw_permit permit;
    configure(consecutive(2));
    EQUAL(fail(0), SW_OK);
    EQUAL(change.cause, 0);
    EQUAL(fail(SECOND), SW_OK);
    EQUAL(change.cause, SW_CAUSE_FAILURE_THRESHOLD);
    EQUAL(change.from, SW_STATE_CLOSED);
    EQUAL(change.to, SW_STATE_OPEN);
    EQUAL(change.at_ns, SECOND);
    CHECK(change.until_ns >= 31 * SECOND && change.until_ns <= 31 * SECOND + 2 * MS);

    EQUAL(sw_circuit_breaker_admit(&breaker, 2 * SECOND, 0, &permit, &no, &change), SW_REFUSED);
    EQUAL(no.layer, SW_LAYER_CIRCUIT_BREAKER);
    EQUAL(no.reason, SW_REASON_OPEN);
    EQUAL(no.when, SW_WHEN_AT);
    EQUAL(sw_permit_kind_of(&permit), SW_PERMIT_EMPTY);
    EQUAL(change.cause, 0);
    EQUAL(sw_retry_after_ns(&no, 2 * SECOND), no.at_ns - 2 * SECOND);

    EQUAL(sw_circuit_breaker_admit(&breaker, no.at_ns - 1, 0, &permit, &no, NULL), SW_REFUSED);
    EQUAL(state(no.at_ns), SW_STATE_HALF_OPEN);
    permit = admitted(no.at_ns);
    EQUAL(sw_permit_kind_of(&permit), SW_PERMIT_TRIAL);
    EQUAL(change.cause, SW_CAUSE_DUE);
    EQUAL(sw_circuit_breaker_success(&breaker, &permit, 32 * SECOND, 0, &change), SW_OK);
    EQUAL(change.cause, SW_CAUSE_TRIALS_SUCCEEDED);
    EQUAL(state(32 * SECOND), SW_STATE_CLOSED);
}

static void a_success_in_between_starts_the_count_anew(void)
{
    sw_permit permit;
    configure(consecutive(2));
    fail(0);
    permit = admitted(1);
    EQUAL(sw_circuit_breaker_success(&breaker, &permit, 1, 0, &change), SW_OK);
    fail(2);
    EQUAL(state(2), SW_STATE_CLOSED);
}

static void a_rate_opens_it_from_the_minimum_of_calls_on(void)
{
    sw_snapshot figures;
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    config.failure_rate_ppm = 500000;
    config.window = 10;
    config.minimum_calls = 4;
    configure(config);
    for (int i = 0; i < 3; i++)
        fail(0);
    EQUAL(sw_circuit_breaker_snapshot(&breaker, 0, &figures), SW_OK);
    EQUAL(figures.calls, 3);
    EQUAL(figures.failure_rate_ppm, SW_NO_RATE);
    fail(0);
    EQUAL(change.cause, SW_CAUSE_FAILURE_RATE);
    EQUAL(change.calls, 4);
    EQUAL(change.failed, 4);
}

static void a_permit_is_settled_once(void)
{
    sw_permit permit;
    configure(consecutive(2));
    permit = admitted(0);
    EQUAL(sw_permit_kind_of(&permit), SW_PERMIT_CALL);
    EQUAL(sw_circuit_breaker_failure(&breaker, &permit, 0, 0, NULL), SW_OK);
    EQUAL(sw_permit_kind_of(&permit), SW_PERMIT_EMPTY);
    EQUAL(sw_circuit_breaker_failure(&breaker, &permit, 0, 0, &change), SW_ERR_SETTLED);
    EQUAL(sw_circuit_breaker_success(&breaker, &permit, 0, 0, &change), SW_ERR_SETTLED);
    EQUAL(sw_circuit_breaker_ignore(&breaker, &permit, 0), SW_ERR_SETTLED);
    EQUAL(change.cause, 0);
    EQUAL(state(0), SW_STATE_CLOSED);
}

static void a_result_from_before_a_change_is_stale(void)
{
    sw_permit early, trial;
    configure(consecutive(1));
    early = admitted(0);
    fail(0);
    EQUAL(sw_circuit_breaker_failure(&breaker, &early, 1, 0, &change), SW_STALE);
    trial = admitted(40 * SECOND);
    EQUAL(sw_circuit_breaker_reset(&breaker, 40 * SECOND, &change), SW_OK);
    EQUAL(change.cause, SW_CAUSE_RESET);
    EQUAL(sw_circuit_breaker_failure(&breaker, &trial, 41 * SECOND, 0, NULL), SW_STALE);
    EQUAL(state(41 * SECOND), SW_STATE_CLOSED);
}

static void an_ignored_trial_gives_its_place_back(void)
{
    sw_permit trial, second;
    configure(consecutive(1));
    fail(0);
    trial = admitted(40 * SECOND);
    EQUAL(sw_circuit_breaker_admit(&breaker, 40 * SECOND, 0, &second, &no, NULL), SW_REFUSED);
    EQUAL(no.reason, SW_REASON_TRIALS_BUSY);
    EQUAL(no.when, SW_WHEN_ESTIMATE);
    EQUAL(sw_circuit_breaker_ignore(&breaker, &trial, 40 * SECOND), SW_NEUTRAL);
    second = admitted(40 * SECOND);
    EQUAL(sw_permit_kind_of(&second), SW_PERMIT_TRIAL);
}

static void a_trial_that_is_never_settled_expires(void)
{
    sw_circuit_breaker_config config = consecutive(1);
    sw_permit lost, next;
    config.trial_timeout_ns = 5 * SECOND;
    configure(config);
    fail(0);
    lost = admitted(40 * SECOND);
    next = admitted(46 * SECOND);
    EQUAL(change.cause, SW_CAUSE_TRIALS_EXPIRED);
    EQUAL(sw_circuit_breaker_success(&breaker, &lost, 46 * SECOND, 0, NULL), SW_STALE);
    EQUAL(sw_circuit_breaker_success(&breaker, &next, 46 * SECOND, 0, NULL), SW_OK);
    EQUAL(state(46 * SECOND), SW_STATE_CLOSED);
}

static void a_dependency_says_when_it_will_be_back(void)
{
    sw_permit permit;
    configure(consecutive(5));
    permit = admitted(0);
    EQUAL(sw_circuit_breaker_failure_until(&breaker, &permit, 7 * SECOND, 0, 0, &change), SW_OK);
    EQUAL(change.cause, SW_CAUSE_RETRY_AFTER);
    EQUAL(state(7 * SECOND - 2 * MS), SW_STATE_OPEN);
    EQUAL(state(7 * SECOND + 2 * MS), SW_STATE_HALF_OPEN);
}

static void by_hand_it_opens_half_opens_and_closes(void)
{
    configure(consecutive(5));
    EQUAL(sw_circuit_breaker_trip(&breaker, 9 * SECOND, 0, 0, &change), SW_OK);
    EQUAL(change.cause, SW_CAUSE_TRIPPED);
    EQUAL(state(8 * SECOND), SW_STATE_OPEN);
    EQUAL(sw_circuit_breaker_half_open(&breaker, SECOND, &change), SW_OK);
    EQUAL(change.cause, SW_CAUSE_HALF_OPENED);
    EQUAL(sw_circuit_breaker_half_open(&breaker, SECOND, &change), SW_OK);
    EQUAL(change.cause, 0);
    EQUAL(state(SECOND), SW_STATE_HALF_OPEN);
    EQUAL(sw_circuit_breaker_reset(&breaker, SECOND, NULL), SW_OK);
    EQUAL(state(SECOND), SW_STATE_CLOSED);
    EQUAL(sw_circuit_breaker_trip(&breaker, SW_DEFAULT, SECOND, 0, &change), SW_OK);
    CHECK(change.until_ns >= 31 * SECOND && change.until_ns <= 31 * SECOND + 2 * MS);
}

static void modes_keep_what_was_learnt(void)
{
    uint32_t before = 99;
    sw_permit permit;
    configure(consecutive(2));
    fail(0);
    EQUAL(sw_circuit_breaker_set_mode(&breaker, SW_MODE_FORCED_OPEN, &before), SW_OK);
    EQUAL(before, SW_MODE_NORMAL);
    EQUAL(sw_circuit_breaker_admit(&breaker, 0, 0, &permit, &no, NULL), SW_REFUSED);
    EQUAL(no.reason, SW_REASON_FORCED_OPEN);
    EQUAL(sw_circuit_breaker_set_mode(&breaker, SW_MODE_DISABLED, NULL), SW_OK);
    permit = admitted(0);
    EQUAL(sw_permit_kind_of(&permit), SW_PERMIT_BYPASS);
    EQUAL(sw_circuit_breaker_failure(&breaker, &permit, 0, 0, NULL), SW_NEUTRAL);
    EQUAL(sw_circuit_breaker_set_mode(&breaker, SW_MODE_NORMAL, &before), SW_OK);
    EQUAL(before, SW_MODE_DISABLED);
    fail(0);
    EQUAL(change.cause, SW_CAUSE_FAILURE_THRESHOLD);
    EQUAL(sw_circuit_breaker_set_mode(&breaker, 4, NULL), SW_ERR_VALUE);
}

static void shadow_measures_and_never_refuses(void)
{
    sw_circuit_breaker_config config = consecutive(1);
    sw_permit permit;
    config.mode = SW_MODE_SHADOW;
    configure(config);
    fail(0);
    EQUAL(state(1), SW_STATE_OPEN);
    permit = admitted(1);
    EQUAL(sw_permit_kind_of(&permit), SW_PERMIT_BYPASS);
    EQUAL(no.reason, SW_REASON_OPEN);
}

static void a_live_change_keeps_what_was_learnt(void)
{
    sw_circuit_breaker_config config = consecutive(5);
    configure(config);
    fail(0);
    fail(0);
    config.failure_threshold = 3;
    EQUAL(sw_circuit_breaker_configure(&breaker, &config), SW_OK);
    fail(0);
    EQUAL(state(0), SW_STATE_OPEN);
    config.trials = 0;
    EQUAL(sw_circuit_breaker_configure(&breaker, &config), SW_ERR_CONFIG);
    EQUAL(state(0), SW_STATE_OPEN);
}

static void jitter_without_randomness_says_so(void)
{
    sw_circuit_breaker_config config = consecutive(1);
    sw_random random = {{0}};
    sw_permit permit;
    config.reset_jitter_ppm = 500000;
    configure(config);
    EQUAL(sw_random_next(&random), 0);
    permit = admitted(0);
    EQUAL(sw_circuit_breaker_failure(&breaker, &permit, 0, sw_random_next(&random), &change), SW_OK);
    EQUAL(change.unseeded, 1);

    EQUAL(sw_random_init(&random, 1), SW_OK);
    configure(config);
    permit = admitted(0);
    EQUAL(sw_circuit_breaker_failure(&breaker, &permit, 0, sw_random_next(&random), &change), SW_OK);
    EQUAL(change.unseeded, 0);
    CHECK(change.until_ns >= 15 * SECOND && change.until_ns <= 45 * SECOND + 2 * MS);
}

static void it_explains_itself(void)
{
    char text[160], small[10];
    configure(consecutive(2));
    fail(0);
    fail(0);
    CHECK(sw_circuit_breaker_explain(&breaker, 20 * SECOND, text, sizeof text) == strlen(text));
    TEXT(text, "open: 2 calls in a row failed; next trial in 10.1 s");
    EQUAL(sw_circuit_breaker_explain(&breaker, 20 * SECOND, NULL, 0), strlen(text));
    EQUAL(sw_circuit_breaker_explain(&breaker, 20 * SECOND, small, sizeof small), strlen(text));
    TEXT(small, "open: 2 c");
    EQUAL(sw_circuit_breaker_admit(&breaker, 20 * SECOND, 0, &(sw_permit){{0}}, &no, NULL), SW_REFUSED);
    sw_explain(&no, 20 * SECOND, text, sizeof text);
    TEXT(text, "The circuit breaker is open; ask again in 10.1 s");
}

static void a_static_breaker_needs_a_configuration_first(void)
{
    static sw_circuit_breaker fresh;
    sw_permit permit;
    uint32_t state;
    char text[160];
    EQUAL(sw_circuit_breaker_admit(&fresh, 0, 0, &permit, &no, NULL), SW_ERR_UNCONFIGURED);
    EQUAL(no.reason, SW_REASON_UNCONFIGURED);
    EQUAL(no.when, SW_WHEN_NEVER);
    EQUAL(sw_circuit_breaker_state(&fresh, 0, &state), SW_ERR_UNCONFIGURED);
    EQUAL(sw_circuit_breaker_trip(&fresh, SW_DEFAULT, 0, 0, NULL), SW_ERR_UNCONFIGURED);
    EQUAL(sw_circuit_breaker_reset(&fresh, 0, NULL), SW_ERR_UNCONFIGURED);
    EQUAL(sw_circuit_breaker_set_mode(&fresh, SW_MODE_DISABLED, NULL), SW_ERR_UNCONFIGURED);
    sw_circuit_breaker_explain(&fresh, 0, text, sizeof text);
    TEXT(text, "the state was never configured; initialise it first");
    configure(consecutive(1));
    permit = admitted(0);
    EQUAL(sw_circuit_breaker_success(&fresh, &permit, 0, 0, NULL), SW_ERR_UNCONFIGURED);
}

static void a_breaker_with_storage_judges_longer_windows(void)
{
    static SW_CIRCUIT_BREAKER_STORAGE(wide, SW_WINDOW_WORDS(100));
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    sw_permit permit;
    sw_snapshot snapshot;
    int i;
    config.window = 100;
    config.minimum_calls = 100;
    EQUAL(sw_circuit_breaker_config_words(&config), SW_WINDOW_WORDS(100));
    EQUAL(sw_circuit_breaker_init(&breaker, &config), SW_ERR_CONFIG);
    EQUAL(sw_circuit_breaker_init_with(&wide.breaker, sizeof(sw_circuit_breaker), &config), SW_ERR_CONFIG);
    EQUAL(sw_circuit_breaker_init_with(&wide.breaker, sizeof(sw_circuit_breaker) - 1, &config), SW_ERR_STORAGE);
    EQUAL(sw_circuit_breaker_init_with(&wide.breaker, sizeof wide, &config), SW_OK);
    for (i = 0; i < 100; i++) {
        EQUAL(sw_circuit_breaker_admit(&wide.breaker, 0, 0, &permit, NULL, NULL), SW_OK);
        if (i < 50)
            EQUAL(sw_circuit_breaker_success(&wide.breaker, &permit, 0, 0, NULL), SW_OK);
        else
            EQUAL(sw_circuit_breaker_failure(&wide.breaker, &permit, 0, 0, &change), SW_OK);
    }
    EQUAL(change.cause, SW_CAUSE_FAILURE_RATE);
    EQUAL(change.calls, 100);
    EQUAL(change.failed, 50);

    /* It can change to every window that its words hold, and to no other. */
    EQUAL(sw_circuit_breaker_reset(&wide.breaker, 0, NULL), SW_OK);
    config = sw_circuit_breaker_config_default();
    config.window_span_ns = 10 * SECOND;
    EQUAL(sw_circuit_breaker_config_words(&config), SW_BUCKET_WORDS(10));
    EQUAL(sw_circuit_breaker_configure(&wide.breaker, &config), SW_OK);
    for (i = 0; i < 3; i++) {
        EQUAL(sw_circuit_breaker_admit(&wide.breaker, i * 5 * SECOND, 0, &permit, NULL, NULL), SW_OK);
        EQUAL(sw_circuit_breaker_failure(&wide.breaker, &permit, i * 5 * SECOND, 0, NULL), SW_OK);
    }
    EQUAL(sw_circuit_breaker_snapshot(&wide.breaker, 10 * SECOND, &snapshot), SW_OK);
    EQUAL(snapshot.calls, 2);
    config.buckets = 60;
    EQUAL(sw_circuit_breaker_config_words(&config), SW_BUCKET_WORDS(60));
    EQUAL(sw_circuit_breaker_configure(&wide.breaker, &config), SW_ERR_CONFIG);
    EQUAL(sw_circuit_breaker_config_words(NULL), 0);
}

/* The macros and the library agree on every length. */
static void every_window_has_its_number_of_words(void)
{
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    uint64_t n;
    for (n = 2; n <= 1024; n++) {
        config.window = n;
        EQUAL(sw_circuit_breaker_config_words(&config), SW_WINDOW_WORDS(n));
    }
    config.window = SW_DEFAULT;
    config.window_span_ns = SECOND;
    for (n = 10; n <= 60; n++) {
        config.buckets = n;
        EQUAL(sw_circuit_breaker_config_words(&config), SW_BUCKET_WORDS(n));
    }
}

int main(void)
{
    RUN(failures_in_a_row_open_it_and_a_trial_closes_it);
    RUN(a_success_in_between_starts_the_count_anew);
    RUN(a_rate_opens_it_from_the_minimum_of_calls_on);
    RUN(a_permit_is_settled_once);
    RUN(a_result_from_before_a_change_is_stale);
    RUN(an_ignored_trial_gives_its_place_back);
    RUN(a_trial_that_is_never_settled_expires);
    RUN(a_dependency_says_when_it_will_be_back);
    RUN(by_hand_it_opens_half_opens_and_closes);
    RUN(modes_keep_what_was_learnt);
    RUN(shadow_measures_and_never_refuses);
    RUN(a_live_change_keeps_what_was_learnt);
    RUN(jitter_without_randomness_says_so);
    RUN(it_explains_itself);
    RUN(a_static_breaker_needs_a_configuration_first);
    RUN(a_breaker_with_storage_judges_longer_windows);
    RUN(every_window_has_its_number_of_words);
    return check_end();
}
