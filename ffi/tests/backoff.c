/* Backoff, jitter and the helpers for many that act at once, from C. */
#include "check.h"

static sw_backoff backoff;
static uint64_t wait;

static sw_status make(uint64_t base, uint64_t cap, enum sw_jitter jitter)
{
    sw_backoff_config config = sw_backoff_config_default();
    config.base_ns = base;
    config.cap_ns = cap;
    config.jitter = jitter;
    return sw_backoff_init(&backoff, &config);
}

static uint64_t delay(uint32_t retry, uint64_t previous, uint64_t r)
{
    EQUAL(sw_backoff_delay(&backoff, retry, previous, r, &wait), SW_OK);
    return wait;
}

static void ceilings_double_up_to_the_cap(void)
{
    static const uint64_t want[] = {100, 200, 400, 800, 1600, 2000, 2000};
    sw_backoff_config config = sw_backoff_config_default();
    EQUAL(sw_backoff_init(&backoff, &config), SW_OK);
    for (uint32_t retry = 0; retry < sizeof want / sizeof want[0]; retry++) {
        EQUAL(sw_backoff_ceiling(&backoff, retry, &wait), SW_OK);
        EQUAL(wait, want[retry] * MS);
    }
    EQUAL(sw_backoff_ceiling(&backoff, UINT32_MAX, &wait), SW_OK);
    EQUAL(wait, 2000 * MS);
}

static void a_draw_keeps_to_its_range(void)
{
    EQUAL(make(100 * MS, SECOND, SW_JITTER_FULL), SW_OK);
    EQUAL(delay(1, 0, 1), 0);
    EQUAL(delay(1, 0, UINT64_MAX), 200 * MS);
    EQUAL(make(100 * MS, SECOND, SW_JITTER_EQUAL), SW_OK);
    EQUAL(delay(1, 0, 1), 100 * MS);
    EQUAL(make(100 * MS, SECOND, SW_JITTER_DECORRELATED), SW_OK);
    EQUAL(delay(5, 250 * MS, UINT64_MAX), 750 * MS);
    EQUAL(delay(5, 900 * MS, 1), 100 * MS);
    EQUAL(delay(5, 900 * MS, UINT64_MAX), SECOND);
}

static void without_randomness_there_is_no_jitter(void)
{
    EQUAL(make(100 * MS, SECOND, SW_JITTER_FULL), SW_OK);
    EQUAL(delay(2, 0, 0), 400 * MS);
}

static void impossible_values_are_refused_and_change_nothing(void)
{
    char text[160];
    sw_backoff_config config = sw_backoff_config_default();
    EQUAL(make(300 * MS, SECOND, SW_JITTER_NONE), SW_OK);
    EQUAL(make(500 * MS, 100 * MS, SW_JITTER_NONE), SW_ERR_CONFIG);
    EQUAL(make(500 * MS, SECOND, (enum sw_jitter)99), SW_ERR_CONFIG);
    EQUAL(delay(0, 0, 0), 300 * MS);
    config.base_ns = 500 * MS;
    config.cap_ns = 100 * MS;
    CHECK(sw_backoff_config_explain(&config, text, sizeof text) < sizeof text);
    TEXT(text, "backoff.cap: 100 ms is not allowed; allowed are 500 ms to 24 h (at least base)");
}

static void zero_is_no_backoff(void)
{
    sw_backoff none = {0};
    sw_reconnect link;
    EQUAL(sw_backoff_delay(&none, 0, 0, 0, &wait), SW_ERR_UNCONFIGURED);
    EQUAL(sw_backoff_ceiling(&none, 0, &wait), SW_ERR_UNCONFIGURED);
    EQUAL(sw_reconnect_init(&link, &none, SECOND), SW_ERR_UNCONFIGURED);
    EQUAL(sw_backoff_delay(NULL, 0, 0, 0, &wait), SW_ERR_NULL);
    EQUAL(sw_backoff_delay(&backoff, 0, 0, 0, NULL), SW_ERR_NULL);
}

static void a_connection_that_held_is_forgiven(void)
{
    sw_reconnect link = {0};
    EQUAL(sw_reconnect_lost(&link, 0, 0, &wait), SW_ERR_UNCONFIGURED);
    EQUAL(sw_reconnect_connected(&link, 0), SW_ERR_UNCONFIGURED);
    EQUAL(make(100 * MS, SECOND, SW_JITTER_NONE), SW_OK);
    EQUAL(sw_reconnect_init(&link, &backoff, 10 * SECOND), SW_OK);
    EQUAL(sw_reconnect_lost(&link, 0, 0, &wait), SW_OK);
    EQUAL(wait, 100 * MS);
    EQUAL(sw_reconnect_connected(&link, SECOND), SW_OK);
    EQUAL(sw_reconnect_lost(&link, 10 * SECOND, 0, &wait), SW_OK);
    EQUAL(wait, 200 * MS);
    EQUAL(sw_reconnect_connected(&link, 20 * SECOND), SW_OK);
    EQUAL(sw_reconnect_lost(&link, 30 * SECOND, 0, &wait), SW_OK);
    EQUAL(wait, 100 * MS);
}

static void cached_values_and_schedules_are_spread(void)
{
    EQUAL(sw_ttl_ns(SECOND, 100000, 1), 900 * MS);
    EQUAL(sw_ttl_ns(SECOND, 100000, UINT64_MAX), SECOND);
    EQUAL(sw_ttl_ns(SECOND, 100000, 0), SECOND);
    EQUAL(sw_ttl_ns(SECOND, UINT32_MAX, 1), 0);

    const sw_schedule one = sw_schedule_make(60 * SECOND, 1000000, 1);
    const sw_schedule other = sw_schedule_make(60 * SECOND, 1000000, 2);
    CHECK(one.phase_ns < 60 * SECOND && one.phase_ns != other.phase_ns);
    const uint64_t first = sw_schedule_next_ns(one, 90 * SECOND);
    EQUAL(first % (60 * SECOND), one.phase_ns);
    EQUAL(sw_schedule_next_ns(one, first) - first, 60 * SECOND);
    EQUAL(sw_schedule_next_ns((sw_schedule){0}, 5), 6);
}

int main(void)
{
    RUN(ceilings_double_up_to_the_cap);
    RUN(a_draw_keeps_to_its_range);
    RUN(without_randomness_there_is_no_jitter);
    RUN(impossible_values_are_refused_and_change_nothing);
    RUN(zero_is_no_backoff);
    RUN(a_connection_that_held_is_forgiven);
    RUN(cached_values_and_schedules_are_spread);
    return check_end();
}
