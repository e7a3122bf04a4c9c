/* The retry budget from C, as its specification. */
#include "check.h"

static sw_retry_budget budget;
static sw_rejection no;

static void configure(uint64_t capacity, uint64_t per_second)
{
    sw_retry_budget_config config = sw_retry_budget_config_default();
    config.capacity = capacity;
    config.min_per_second = per_second;
    EQUAL(sw_retry_budget_init(&budget, &config, 0), SW_OK);
}

static unsigned retries(uint64_t now)
{
    unsigned count = 0;
    while (count < 1000 && sw_retry_budget_withdraw(&budget, now, NULL) == SW_OK)
        count++;
    return count;
}

static void ten_requests_pay_for_one_retry(void)
{
    configure(10, 0);
    EQUAL(retries(0), 10);
    for (int request = 0; request < 9; request++)
        EQUAL(sw_retry_budget_deposit(&budget, 0), SW_OK);
    EQUAL(sw_retry_budget_balance_ppm(&budget, 0), 900000);
    EQUAL(sw_retry_budget_withdraw(&budget, 0, &no), SW_REFUSED);
    EQUAL(no.layer, SW_LAYER_RETRY_BUDGET);
    EQUAL(no.reason, SW_REASON_BUDGET_EMPTY);
    EQUAL(no.when, SW_WHEN_UNKNOWN);
    CHECK(sw_retry_after_ns(&no, 0) == UINT64_MAX);
    EQUAL(sw_retry_budget_deposit(&budget, 0), SW_OK);
    EQUAL(sw_retry_budget_withdraw(&budget, 0, &no), SW_OK);
    EQUAL(no.reason, 0);
}

static void a_retry_that_was_not_sent_comes_back(void)
{
    configure(1, 0);
    EQUAL(retries(0), 1);
    EQUAL(sw_retry_budget_refund(&budget, 0), SW_OK);
    EQUAL(sw_retry_budget_refund(&budget, 0), SW_OK);
    EQUAL(retries(0), 1);
    EQUAL(sw_retry_budget_reset(&budget, 0), SW_OK);
    EQUAL(retries(0), 1);
}

static void some_flow_in_by_themselves_and_the_refusal_estimates_when(void)
{
    configure(5, 2);
    EQUAL(retries(0), 5);
    EQUAL(sw_retry_budget_withdraw(&budget, 0, &no), SW_REFUSED);
    EQUAL(no.when, SW_WHEN_ESTIMATE);
    CHECK(no.at_ns >= 500 * MS && no.at_ns <= 534 * MS);
    EQUAL(sw_retry_budget_withdraw(&budget, no.at_ns, &no), SW_OK);
}

static void a_change_keeps_what_is_there_as_far_as_it_fits(void)
{
    sw_retry_budget_config config = sw_retry_budget_config_default();
    configure(10, 0);
    config.capacity = 3;
    EQUAL(sw_retry_budget_configure(&budget, &config, 0), SW_OK);
    EQUAL(retries(0), 3);
    config.capacity = 0;
    EQUAL(sw_retry_budget_configure(&budget, &config, 0), SW_ERR_CONFIG);
    char text[160];
    CHECK(sw_retry_budget_config_explain(&config, text, sizeof text) < sizeof text);
    TEXT(text, "retry_budget.capacity: 0 is not allowed; allowed are 1 to 100000");
}

static void zero_is_no_budget(void)
{
    static sw_retry_budget none;
    EQUAL(sw_retry_budget_withdraw(&none, 0, &no), SW_ERR_UNCONFIGURED);
    EQUAL(sw_retry_budget_deposit(&none, 0), SW_ERR_UNCONFIGURED);
    EQUAL(sw_retry_budget_refund(&none, 0), SW_ERR_UNCONFIGURED);
    EQUAL(sw_retry_budget_reset(&none, 0), SW_ERR_UNCONFIGURED);
    EQUAL(sw_retry_budget_balance_ppm(&none, 0), 0);
    EQUAL(sw_retry_budget_withdraw(NULL, 0, &no), SW_ERR_NULL);
    EQUAL(sw_retry_budget_deposit((sw_retry_budget *)((char *)&none + 4), 0), SW_ERR_MISALIGNED);
}

int main(void)
{
    RUN(ten_requests_pay_for_one_retry);
    RUN(a_retry_that_was_not_sent_comes_back);
    RUN(some_flow_in_by_themselves_and_the_refusal_estimates_when);
    RUN(a_change_keeps_what_is_there_as_far_as_it_fits);
    RUN(zero_is_no_budget);
    return check_end();
}
