/* The token bucket from C, as its specification. Time is a number. */
#include "check.h"

static sw_token_bucket bucket;
static sw_grant grant;
static sw_rejection no;

/* `rate` a second, `capacity` at once. */
static void configure(uint64_t rate, uint64_t capacity)
{
    sw_token_bucket_config config = sw_token_bucket_config_default();
    config.rate = rate;
    config.capacity = capacity;
    EQUAL(sw_token_bucket_init(&bucket, &config, 0), SW_OK);
}

static sw_status take(uint64_t cost, uint64_t now)
{
    return sw_token_bucket_try_acquire(&bucket, cost, now, &grant, &no);
}

static void it_admits_its_capacity_at_once_and_then_its_rate(void)
{
    configure(5, 20);
    for (uint64_t left = 20; left-- > 0;) {
        EQUAL(take(1, 0), SW_OK);
        EQUAL(grant.remaining, left);
    }
    EQUAL(grant.reset_after_ns, 4 * SECOND);
    grant.remaining = 77;
    EQUAL(take(1, 0), SW_REFUSED);
    EQUAL(no.layer, SW_LAYER_RATE_LIMIT);
    EQUAL(no.reason, SW_REASON_RATE_LIMITED);
    EQUAL(no.when, SW_WHEN_AT);
    EQUAL(no.at_ns, 200 * MS);
    EQUAL(grant.remaining, 0);
    EQUAL(grant.reset_after_ns, 0);
    EQUAL(sw_retry_after_ns(&no, 50 * MS), 150 * MS);
    EQUAL(take(1, 200 * MS - 1), SW_REFUSED);
    EQUAL(take(1, 200 * MS), SW_OK);
    EQUAL(no.reason, 0);
}

static void a_cost_above_the_capacity_can_never_be(void)
{
    configure(5, 20);
    EQUAL(take(21, 0), SW_REFUSED);
    EQUAL(no.reason, SW_REASON_EXCEEDS_CAPACITY);
    EQUAL(no.when, SW_WHEN_NEVER);
    CHECK(sw_retry_after_ns(&no, 0) == UINT64_MAX);
    EQUAL(take(20, 0), SW_OK);
}

static void a_refusal_and_a_peek_take_nothing(void)
{
    configure(1, 10);
    EQUAL(take(8, 0), SW_OK);
    for (int i = 0; i < 100; i++)
        EQUAL(take(3, 0), SW_REFUSED);
    EQUAL(sw_token_bucket_peek(&bucket, 2, 0, &grant, &no), SW_OK);
    EQUAL(sw_token_bucket_peek(&bucket, 3, 0, &grant, &no), SW_REFUSED);
    EQUAL(no.at_ns, SECOND);
    EQUAL(take(0, 0), SW_OK);
    EQUAL(grant.remaining, 2);
    EQUAL(take(2, 0), SW_OK);
}

static void a_reservation_waits_its_turn_and_can_be_given_back(void)
{
    sw_reservation first, second;
    uint32_t refund = 0;
    configure(1, 1);
    EQUAL(take(1, 0), SW_OK);
    EQUAL(sw_token_bucket_reserve(&bucket, 1, 10 * SECOND, 0, &first, &no), SW_OK);
    EQUAL(first.at_ns, SECOND);
    EQUAL(first.cost, 1);
    EQUAL(sw_token_bucket_reserve(&bucket, 1, SECOND, 0, &second, &no), SW_REFUSED);
    EQUAL(no.at_ns, 2 * SECOND);
    EQUAL(sw_token_bucket_cancel(&bucket, &second, 0, &refund), SW_ERR_SETTLED);
    EQUAL(sw_token_bucket_cancel(&bucket, &first, 0, &refund), SW_OK);
    EQUAL(refund, SW_REFUND_FULL);
    EQUAL(sw_token_bucket_cancel(&bucket, &first, 0, &refund), SW_ERR_SETTLED);
    EQUAL(take(1, SECOND), SW_OK);
}

static void it_is_drained_and_filled_by_hand(void)
{
    configure(1, 10);
    EQUAL(sw_token_bucket_drain(&bucket, 0), SW_OK);
    EQUAL(take(1, 0), SW_REFUSED);
    EQUAL(sw_token_bucket_reset(&bucket, 0), SW_OK);
    EQUAL(take(10, 0), SW_OK);
}

static void it_may_start_empty(void)
{
    sw_token_bucket_config config = sw_token_bucket_config_default();
    config.rate = 1;
    config.capacity = 5;
    config.start = SW_FILL_EMPTY;
    EQUAL(sw_token_bucket_init(&bucket, &config, 7 * SECOND), SW_OK);
    EQUAL(take(1, 7 * SECOND), SW_REFUSED);
    EQUAL(take(1, 8 * SECOND), SW_OK);
}

static void a_live_change_settles_the_past_at_the_old_rate(void)
{
    sw_token_bucket_config config = sw_token_bucket_config_default();
    configure(1, 10);
    EQUAL(take(10, 0), SW_OK);
    config.rate = 100;
    config.capacity = 10;
    EQUAL(sw_token_bucket_configure(&bucket, &config, 2 * SECOND), SW_OK);
    EQUAL(sw_token_bucket_peek(&bucket, 0, 2 * SECOND, &grant, NULL), SW_OK);
    EQUAL(grant.remaining, 2);
    config.rate = 0;
    EQUAL(sw_token_bucket_configure(&bucket, &config, 2 * SECOND), SW_ERR_CONFIG);
    EQUAL(take(3, 2 * SECOND + 10 * MS), SW_OK);
}

static void rates_go_from_one_a_day_to_ten_to_the_tenth_a_second(void)
{
    sw_token_bucket_config config = sw_token_bucket_config_default();
    config.rate = 1;
    config.period_ns = 86400 * SECOND;
    config.capacity = 1;
    EQUAL(sw_token_bucket_init(&bucket, &config, 0), SW_OK);
    EQUAL(take(1, 0), SW_OK);
    EQUAL(take(1, 86400 * SECOND - 1), SW_REFUSED);
    EQUAL(take(1, 86400 * SECOND), SW_OK);
    configure(UINT64_C(10000000000), 1000);
    EQUAL(take(1000, 0), SW_OK);
    EQUAL(take(1, 0), SW_REFUSED);
    EQUAL(no.at_ns, 1);
}

static void a_clock_that_goes_back_admits_no_more(void)
{
    configure(1, 2);
    EQUAL(take(2, 10 * SECOND), SW_OK);
    EQUAL(take(1, 5 * SECOND), SW_REFUSED);
    EQUAL(take(1, 11 * SECOND), SW_OK);
}

static void a_static_bucket_needs_a_configuration_first(void)
{
    static sw_token_bucket fresh;
    sw_reservation reservation;
    EQUAL(sw_token_bucket_try_acquire(&fresh, 1, 0, &grant, &no), SW_ERR_UNCONFIGURED);
    EQUAL(no.reason, SW_REASON_UNCONFIGURED);
    EQUAL(sw_token_bucket_peek(&fresh, 1, 0, NULL, NULL), SW_ERR_UNCONFIGURED);
    EQUAL(sw_token_bucket_reserve(&fresh, 1, 0, 0, &reservation, NULL), SW_ERR_UNCONFIGURED);
    EQUAL(sw_token_bucket_drain(&fresh, 0), SW_ERR_UNCONFIGURED);
    EQUAL(sw_token_bucket_reset(&fresh, 0), SW_ERR_UNCONFIGURED);
}

int main(void)
{
    RUN(it_admits_its_capacity_at_once_and_then_its_rate);
    RUN(a_cost_above_the_capacity_can_never_be);
    RUN(a_refusal_and_a_peek_take_nothing);
    RUN(a_reservation_waits_its_turn_and_can_be_given_back);
    RUN(it_is_drained_and_filled_by_hand);
    RUN(it_may_start_empty);
    RUN(a_live_change_settles_the_past_at_the_old_rate);
    RUN(rates_go_from_one_a_day_to_ten_to_the_tenth_a_second);
    RUN(a_clock_that_goes_back_admits_no_more);
    RUN(a_static_bucket_needs_a_configuration_first);
    return check_end();
}
