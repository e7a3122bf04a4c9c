/* A minimal image, to be compared with one that is empty: what do the primitives cost in flash and RAM? */
#include "seawall.h"

/* Unknown to the compiler, so that nothing is decided while it compiles. */
volatile uint64_t now;
volatile int worked, result;

#ifdef CIRCUIT_BREAKER
static sw_circuit_breaker breaker;

static void use_breaker(void)
{
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    sw_permit permit;
    sw_rejection no;
    sw_circuit_breaker_init(&breaker, &config);
    if (sw_circuit_breaker_admit(&breaker, now, 0, &permit, &no, NULL) != SW_OK)
        result = (int)no.reason;
    else if (worked)
        sw_circuit_breaker_success(&breaker, &permit, now, 0, NULL);
    else
        sw_circuit_breaker_failure(&breaker, &permit, now, 0, NULL);
}
#endif

#ifdef TOKEN_BUCKET
static sw_token_bucket bucket;

static void use_bucket(void)
{
    sw_token_bucket_config config = sw_token_bucket_config_default();
    sw_rejection no;
    config.rate = 10;
    config.capacity = 5;
    sw_token_bucket_init(&bucket, &config, now);
    if (sw_token_bucket_try_acquire(&bucket, 1, now, NULL, &no) != SW_OK)
        result = (int)no.reason;
}
#endif

int main(void)
{
#ifdef CIRCUIT_BREAKER
    use_breaker();
#endif
#ifdef TOKEN_BUCKET
    use_bucket();
#endif
    return result;
}
