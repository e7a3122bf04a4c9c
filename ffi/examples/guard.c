/* A call guarded by a circuit breaker and a token bucket. */
#include <inttypes.h>
#include <stdio.h>

#include "seawall.h"

static sw_circuit_breaker payments;
static sw_token_bucket limit;

/* The call itself: here the third one fails, and so do all after it. */
static int pay(int order)
{
    return order < 3;
}

/* Says why not, and returns. */
static void refused(const sw_rejection *no, uint64_t now)
{
    char text[160];
    sw_explain(no, now, text, sizeof text);
    printf("refused: %s\n", text);
}

static void guarded(int order, uint64_t now)
{
    sw_permit permit;
    sw_rejection no;
    sw_transition change = {0};

    /* Look at the limit first, so that a refusal takes nothing. */
    if (sw_token_bucket_peek(&limit, 1, now, NULL, &no) != SW_OK) {
        refused(&no, now);
        return;
    }
    if (sw_circuit_breaker_admit(&payments, now, 0, &permit, &no, NULL) != SW_OK) {
        refused(&no, now);
        return;
    }
    if (sw_token_bucket_try_acquire(&limit, 1, now, NULL, &no) != SW_OK) {
        sw_circuit_breaker_ignore(&payments, &permit, now);
        refused(&no, now);
        return;
    }
    if (pay(order))
        sw_circuit_breaker_success(&payments, &permit, now, 0, &change);
    else
        sw_circuit_breaker_failure(&payments, &permit, now, 0, &change);
    if (change.cause)
        printf("%s, because %s\n", sw_state_name(change.to), sw_cause_name(change.cause));
}

int main(void)
{
    uint64_t now = sw_now_ns();
    sw_circuit_breaker_config breaker = sw_circuit_breaker_config_default();
    sw_token_bucket_config bucket = sw_token_bucket_config_default();
    breaker.failure_threshold = 2;
    bucket.rate = 5;
    bucket.capacity = 20;

    if (sw_circuit_breaker_init(&payments, &breaker) != SW_OK ||
        sw_token_bucket_init(&limit, &bucket, now) != SW_OK)
        return 1;
    for (int order = 1; order <= 6; order++)
        guarded(order, now);
    return 0;
}
