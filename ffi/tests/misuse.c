/* Everything that a caller can do wrong and a library can notice; and bytes that are no state. */
#include <stdlib.h>

#include "check.h"

static sw_circuit_breaker breaker;
static sw_token_bucket bucket;
static SW_EVENT_RING_STORAGE(events, 2);
static sw_circuit_breaker_config breaker_config;
static sw_token_bucket_config bucket_config;
static sw_permit permit;
static sw_reservation reservation;
static sw_rejection rejection;
static sw_transition transition;
static sw_snapshot snapshot;
static sw_grant grant;
static sw_event event;
static sw_event_ring_cursor cursor;
static sw_random source;
static uint32_t number;

static void begin(void)
{
    breaker_config = sw_circuit_breaker_config_default();
    bucket_config = sw_token_bucket_config_default();
    bucket_config.rate = 10;
    bucket_config.capacity = 5;
    EQUAL(sw_circuit_breaker_init(&breaker, &breaker_config), SW_OK);
    EQUAL(sw_token_bucket_init(&bucket, &bucket_config, 0), SW_OK);
    EQUAL(sw_event_ring_init(&events.ring, sizeof events), SW_OK);
    EQUAL(sw_circuit_breaker_admit(&breaker, 0, 0, &permit, NULL, NULL), SW_OK);
    EQUAL(sw_token_bucket_reserve(&bucket, 1, 0, 0, &reservation, NULL), SW_OK);
}

static void null_where_something_is_needed_is_answered(void)
{
    char text[100];
    begin();
    EQUAL(sw_circuit_breaker_init(NULL, &breaker_config), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_init(&breaker, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_admit(NULL, 0, 0, &permit, NULL, NULL), SW_ERR_NULL);
    EQUAL(sw_permit_kind_of(&permit), SW_PERMIT_EMPTY);
    EQUAL(sw_circuit_breaker_admit(&breaker, 0, 0, NULL, NULL, NULL), SW_ERR_NULL);
    begin();
    EQUAL(sw_circuit_breaker_success(NULL, &permit, 0, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_success(&breaker, NULL, 0, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_failure(NULL, &permit, 0, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_failure_until(NULL, &permit, 0, 0, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_ignore(NULL, &permit, 0), SW_ERR_NULL);
    EQUAL(sw_permit_kind_of(&permit), SW_PERMIT_CALL);
    EQUAL(sw_permit_kind_of(NULL), SW_PERMIT_EMPTY);
    EQUAL(sw_circuit_breaker_trip(NULL, SW_DEFAULT, 0, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_half_open(NULL, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_reset(NULL, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_configure(NULL, &breaker_config), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_configure(&breaker, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_set_mode(NULL, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_state(NULL, 0, &number), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_state(&breaker, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_snapshot(NULL, 0, &snapshot), SW_ERR_NULL);
    EQUAL(sw_circuit_breaker_snapshot(&breaker, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_token_bucket_init(NULL, &bucket_config, 0), SW_ERR_NULL);
    EQUAL(sw_token_bucket_init(&bucket, NULL, 0), SW_ERR_NULL);
    EQUAL(sw_token_bucket_try_acquire(NULL, 1, 0, NULL, NULL), SW_ERR_NULL);
    EQUAL(sw_token_bucket_peek(NULL, 1, 0, NULL, NULL), SW_ERR_NULL);
    EQUAL(sw_token_bucket_reserve(NULL, 1, 0, 0, &reservation, NULL), SW_ERR_NULL);
    EQUAL(sw_token_bucket_reserve(&bucket, 1, 0, 0, NULL, NULL), SW_ERR_NULL);
    EQUAL(sw_token_bucket_cancel(NULL, &reservation, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_token_bucket_cancel(&bucket, NULL, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_token_bucket_drain(NULL, 0), SW_ERR_NULL);
    EQUAL(sw_token_bucket_reset(NULL, 0), SW_ERR_NULL);
    EQUAL(sw_token_bucket_configure(NULL, &bucket_config, 0), SW_ERR_NULL);
    EQUAL(sw_token_bucket_configure(&bucket, NULL, 0), SW_ERR_NULL);
    EQUAL(sw_event_ring_init(NULL, sizeof events), SW_ERR_NULL);
    EQUAL(sw_event_ring_push(NULL, sizeof events, 0, &transition), SW_ERR_NULL);
    EQUAL(sw_event_ring_push(&events.ring, sizeof events, 0, NULL), SW_ERR_NULL);
    EQUAL(sw_event_ring_poll(NULL, sizeof events, &cursor, &event), SW_ERR_NULL);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, NULL, &event), SW_ERR_NULL);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, NULL), SW_ERR_NULL);
    EQUAL(sw_random_init(NULL, 1), SW_ERR_NULL);
    EQUAL(sw_random_init_from_system(NULL), SW_ERR_NULL);
    EQUAL(sw_random_next(NULL), 0);
    CHECK(sw_retry_after_ns(NULL, 0) == UINT64_MAX);
    sw_explain(NULL, 0, text, sizeof text);
    TEXT(text, "a pointer that must not be NULL is");
    sw_circuit_breaker_explain(NULL, 0, text, sizeof text);
    TEXT(text, "a pointer that must not be NULL is");
    sw_circuit_breaker_config_explain(NULL, text, sizeof text);
    TEXT(text, "a pointer that must not be NULL is");
    sw_token_bucket_config_explain(NULL, text, sizeof text);
    TEXT(text, "a pointer that must not be NULL is");
}

static void misaligned_pointers_are_answered(void)
{
    static SW_ALIGNED(8) char memory[1024];
    void *odd = memory + 4;
    void *odder = memory + 1;
    begin();
    EQUAL(sw_circuit_breaker_init(odd, &breaker_config), SW_ERR_MISALIGNED);
    EQUAL(sw_circuit_breaker_init(&breaker, odder), SW_ERR_MISALIGNED);
    EQUAL(sw_circuit_breaker_admit(odd, 0, 0, &permit, NULL, NULL), SW_ERR_MISALIGNED);
    EQUAL(sw_circuit_breaker_admit(&breaker, 0, 0, odd, NULL, NULL), SW_ERR_MISALIGNED);
    EQUAL(sw_circuit_breaker_admit(&breaker, 0, 0, &permit, odder, NULL), SW_ERR_MISALIGNED);
    EQUAL(sw_circuit_breaker_admit(&breaker, 0, 0, &permit, NULL, odder), SW_ERR_MISALIGNED);
    begin();
    EQUAL(sw_circuit_breaker_success(&breaker, &permit, 0, 0, odder), SW_ERR_MISALIGNED);
    EQUAL(sw_circuit_breaker_success(&breaker, odd, 0, 0, NULL), SW_ERR_MISALIGNED);
    EQUAL(sw_permit_kind_of(&permit), SW_PERMIT_CALL);
    EQUAL(sw_permit_kind_of(odd), SW_PERMIT_EMPTY);
    EQUAL(sw_circuit_breaker_state(&breaker, 0, odder), SW_ERR_MISALIGNED);
    EQUAL(sw_token_bucket_init(odd, &bucket_config, 0), SW_ERR_MISALIGNED);
    EQUAL(sw_token_bucket_try_acquire(odd, 1, 0, NULL, NULL), SW_ERR_MISALIGNED);
    EQUAL(sw_token_bucket_try_acquire(&bucket, 1, 0, odder, NULL), SW_ERR_MISALIGNED);
    EQUAL(sw_token_bucket_cancel(&bucket, odd, 0, NULL), SW_ERR_MISALIGNED);
    EQUAL(sw_event_ring_init(odd, 512), SW_ERR_MISALIGNED);
    EQUAL(sw_random_init(odd, 1), SW_ERR_MISALIGNED);
    EQUAL(sw_random_next(odd), 0);
    /* What was refused for a pointer has taken nothing. */
    EQUAL(sw_token_bucket_peek(&bucket, 4, 0, NULL, NULL), SW_OK);
}

static void an_impossible_configuration_is_told_with_field_value_and_range(void)
{
    char text[160], small[20];
    begin();
    EQUAL(sw_circuit_breaker_config_explain(&breaker_config, text, sizeof text), 0);
    TEXT(text, "");
    breaker_config.trials = 0;
    EQUAL(sw_circuit_breaker_init(&breaker, &breaker_config), SW_ERR_CONFIG);
    EQUAL(sw_circuit_breaker_config_explain(&breaker_config, text, sizeof text), strlen(text));
    TEXT(text, "circuit_breaker.trials: 0 is not allowed; allowed are 1 to 15");
    EQUAL(sw_circuit_breaker_config_explain(&breaker_config, small, sizeof small), strlen(text));
    TEXT(small, "circuit_breaker.tri");
    EQUAL(sw_circuit_breaker_config_explain(&breaker_config, NULL, 0), strlen(text));
    EQUAL(sw_circuit_breaker_config_explain(&breaker_config, small, 1), strlen(text));
    TEXT(small, "");
    /* The breaker is as it was. */
    EQUAL(sw_circuit_breaker_state(&breaker, 0, &number), SW_OK);

    breaker_config = sw_circuit_breaker_config_default();
    breaker_config.window = 10;
    breaker_config.minimum_calls = 11;
    sw_circuit_breaker_config_explain(&breaker_config, text, sizeof text);
    TEXT(text, "circuit_breaker.minimum_calls: 11 is not allowed; allowed are 1 to 10 (at most window)");

    /* "For ever" is no span; it is refused and not taken for the default. */
    breaker_config = sw_circuit_breaker_config_default();
    breaker_config.reset_after_ns = UINT64_MAX;
    EQUAL(sw_circuit_breaker_init(&breaker, &breaker_config), SW_ERR_CONFIG);

    bucket_config = sw_token_bucket_config_default();
    EQUAL(sw_token_bucket_init(&bucket, &bucket_config, 0), SW_ERR_CONFIG);
    bucket_config.rate = 0;
    bucket_config.capacity = 1;
    EQUAL(sw_token_bucket_init(&bucket, &bucket_config, 0), SW_ERR_CONFIG);
    CHECK(sw_token_bucket_config_explain(&bucket_config, text, sizeof text) > 0);
    CHECK(strncmp(text, "token_bucket.rate: 0 is not allowed", 35) == 0);
}

static void a_zeroed_configuration_is_no_default(void)
{
    memset(&breaker_config, 0, sizeof breaker_config);
    memset(&bucket_config, 0, sizeof bucket_config);
    EQUAL(sw_circuit_breaker_init(&breaker, &breaker_config), SW_ERR_CONFIG);
    EQUAL(sw_token_bucket_init(&bucket, &bucket_config, 0), SW_ERR_CONFIG);
}

static void numbers_that_mean_nothing_are_answered(void)
{
    char text[100];
    rejection = (sw_rejection){.layer = 77, .reason = SW_REASON_OPEN, .when = SW_WHEN_AT};
    sw_explain(&rejection, 0, text, sizeof text);
    TEXT(text, "a number is none of its enumeration");
    CHECK(sw_retry_after_ns(&rejection, 0) == UINT64_MAX);
    rejection = (sw_rejection){0};
    CHECK(sw_retry_after_ns(&rejection, 0) == 0);
    TEXT(sw_reason_name(999), "unknown");
    TEXT(sw_strerror(999), "unknown");
    TEXT(sw_reason_name(SW_REASON_TRIALS_BUSY), "trials_busy");
    TEXT(sw_cause_name(SW_CAUSE_TRIAL_FAILED), "trial_failed");
    TEXT(sw_state_name(SW_STATE_HALF_OPEN), "half-open");
    TEXT(sw_mode_name(SW_MODE_FORCED_OPEN), "forced-open");
    TEXT(sw_layer_name(SW_LAYER_RATE_LIMIT), "rate_limit");
    TEXT(sw_strerror(SW_ERR_SETTLED),
         "the permit or reservation is empty: it was settled already, or never granted");
    TEXT(sw_version(), SW_VERSION);
}

/* --- any bytes whatever --------------------------------------------------------------------------- */

static uint64_t draw(void)
{
    return sw_random_next(&source);
}

/* Mostly small or near the ends, where the edges are. */
static uint64_t any(void)
{
    switch (draw() % 4) {
    case 0:
        return draw() % 32;
    case 1:
        return draw() % (100 * SECOND);
    case 2:
        return UINT64_MAX - draw() % 32;
    default:
        return draw();
    }
}

static void scribble(void *memory, size_t size, int density)
{
    uint64_t word;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        if ((int)(draw() % 100) >= density)
            continue;
        word = any();
        memcpy((char *)memory + i, &word, 8);
    }
}

static void use_the_breaker(void)
{
    char text[160];
    uint64_t now = any();
    switch (draw() % 12) {
    case 0:
    case 1:
        sw_circuit_breaker_admit(&breaker, now, any(), &permit, &rejection, &transition);
        break;
    case 2:
        sw_circuit_breaker_success(&breaker, &permit, now, any(), &transition);
        break;
    case 3:
        sw_circuit_breaker_failure(&breaker, &permit, now, any(), &transition);
        break;
    case 4:
        sw_circuit_breaker_failure_until(&breaker, &permit, any(), now, any(), &transition);
        break;
    case 5:
        sw_circuit_breaker_ignore(&breaker, &permit, now);
        break;
    case 6:
        sw_circuit_breaker_trip(&breaker, any(), now, any(), &transition);
        break;
    case 7:
        sw_circuit_breaker_half_open(&breaker, now, &transition);
        break;
    case 8:
        sw_circuit_breaker_reset(&breaker, now, &transition);
        break;
    case 9:
        sw_circuit_breaker_configure(&breaker, &breaker_config);
        sw_circuit_breaker_config_explain(&breaker_config, text, draw() % sizeof text);
        break;
    case 10:
        sw_circuit_breaker_set_mode(&breaker, (uint32_t)(draw() % 5), &number);
        break;
    default:
        sw_circuit_breaker_snapshot(&breaker, now, &snapshot);
        CHECK(sw_circuit_breaker_explain(&breaker, now, text, sizeof text) < sizeof text);
        sw_explain(&rejection, now, text, draw() % sizeof text);
    }
}

static void use_the_bucket(void)
{
    uint64_t now = any();
    switch (draw() % 8) {
    case 0:
        sw_token_bucket_try_acquire(&bucket, any(), now, &grant, &rejection);
        break;
    case 1:
        sw_token_bucket_peek(&bucket, any(), now, &grant, &rejection);
        break;
    case 2:
        sw_token_bucket_reserve(&bucket, any(), any(), now, &reservation, &rejection);
        break;
    case 3:
        sw_token_bucket_cancel(&bucket, &reservation, now, &number);
        break;
    case 4:
        sw_token_bucket_drain(&bucket, now);
        break;
    case 5:
        sw_token_bucket_reset(&bucket, now);
        break;
    case 6:
        sw_token_bucket_configure(&bucket, &bucket_config, now);
        break;
    default:
        sw_token_bucket_try_acquire(&bucket, 1, now, NULL, NULL);
    }
}

static void use_the_ring(void)
{
    if (draw() % 2)
        sw_event_ring_push(&events.ring, sizeof events, (uint32_t)draw(), &transition);
    else
        sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event);
}

static void any_bytes_whatever_lead_to_an_answer(void)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : 20;
    sw_random_init(&source, seed);
    begin();
    for (int round = 0; round < 200000; round++) {
        /* Some rounds on nothing but noise, others on a real state with a few words spoilt. */
        int density = draw() % 3 == 0 ? 100 : 3;
        if (round % 20 == 0) {
            begin();
            sw_random_init(&source, seed + (uint64_t)round);
        }
        scribble(&breaker, sizeof breaker, density);
        scribble(&bucket, sizeof bucket, density);
        scribble(&events, sizeof events, density);
        scribble(&permit, sizeof permit, 10);
        scribble(&reservation, sizeof reservation, 10);
        scribble(&cursor, sizeof cursor, 10);
        scribble(&transition, sizeof transition, 10);
        scribble(&rejection, sizeof rejection, 10);
        scribble(&breaker_config, sizeof breaker_config, 10);
        scribble(&bucket_config, sizeof bucket_config, 10);
        use_the_breaker();
        use_the_bucket();
        use_the_ring();
    }
}

int main(void)
{
    RUN(null_where_something_is_needed_is_answered);
    RUN(misaligned_pointers_are_answered);
    RUN(an_impossible_configuration_is_told_with_field_value_and_range);
    RUN(a_zeroed_configuration_is_no_default);
    RUN(numbers_that_mean_nothing_are_answered);
    RUN(any_bytes_whatever_lead_to_an_answer);
    return check_end();
}
