/*
 * Signal-safety, instruction by instruction: an operation is interrupted by a signal handler that uses
 * the same object, once for each instruction of the operation. On x86-64 the processor's trap flag
 * raises SIGTRAP after every instruction; elsewhere there is nothing to be counted, and the file says so.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

#include "check.h"

#if defined(__x86_64__) && defined(__linux__)

static sw_circuit_breaker breaker;
static sw_token_bucket bucket;
static SW_EVENT_RING_STORAGE(events, 8);
static sw_circuit_breaker_config other_config;

/* The handler acts at instruction `target`; `count` is how many have passed. */
static volatile long count, target;
static volatile sig_atomic_t acted;
static void (*volatile handler_action)(void);

static void on_trap(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    if (count++ == target) {
        acted = 1;
        handler_action();
        /* The rest of the operation runs through. */
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100L;
    }
}

static inline __attribute__((always_inline)) void trap_on(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                         : "cc", "memory");
}

static inline __attribute__((always_inline)) void trap_off(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                         : "cc", "memory");
}

/* Interrupts `operation` at every one of its instructions in turn with `action`. */
static void interrupt_everywhere(void (*prepare)(void), void (*operation)(void), void (*action)(void),
                                 void (*verify)(void))
{
    long instructions = 0;
    handler_action = action;
    for (target = 0; target < 5000; target++) {
        prepare();
        count = 0;
        acted = 0;
        trap_on();
        operation();
        trap_off();
        if (!acted)
            break;
        instructions++;
        verify();
        if (check_bad) {
            printf("interrupted at instruction %ld\n", (long)target);
            return;
        }
    }
    printf("   interrupted at %ld instructions\n", instructions);
    CHECK(instructions > 20 && instructions < 5000);
}

static void prepare(void)
{
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    sw_token_bucket_config bucket_config = sw_token_bucket_config_default();
    config.failure_threshold = 3;
    other_config = config;
    other_config.failure_threshold = 7;
    bucket_config.rate = 1;
    bucket_config.capacity = 10;
    sw_circuit_breaker_init(&breaker, &config);
    sw_token_bucket_init(&bucket, &bucket_config, 0);
    sw_event_ring_init(&events.ring, sizeof events);
}

/* --- the token bucket: no token is lost or made ----------------------------------------------------- */

static sw_status inner, outer;

static void take_six(void)
{
    outer = sw_token_bucket_try_acquire(&bucket, 6, 0, NULL, NULL);
}

static void take_five(void)
{
    inner = sw_token_bucket_try_acquire(&bucket, 5, 0, NULL, NULL);
}

static void exactly_one_has_them(void)
{
    sw_grant grant;
    CHECK((inner == SW_OK) != (outer == SW_OK));
    sw_token_bucket_peek(&bucket, 0, 0, &grant, NULL);
    EQUAL(grant.remaining, outer == SW_OK ? 4 : 5);
}

static void a_bucket_neither_loses_nor_makes_a_token(void)
{
    interrupt_everywhere(prepare, take_six, take_five, exactly_one_has_them);
}

/* --- the circuit breaker: every failure counts once, and one of the two reports the change ---------- */

static sw_transition inner_change, outer_change;

static void fail(sw_transition *change)
{
    sw_permit permit;
    sw_circuit_breaker_admit(&breaker, SECOND, 0, &permit, NULL, NULL);
    sw_circuit_breaker_failure(&breaker, &permit, SECOND, 0, change);
}

static void prepare_with_one_failure(void)
{
    prepare();
    fail(&outer_change);
}

static void fail_outside(void)
{
    fail(&outer_change);
}

static void fail_inside(void)
{
    fail(&inner_change);
}

static void it_is_open_and_one_says_so(void)
{
    uint32_t state;
    sw_circuit_breaker_state(&breaker, SECOND, &state);
    EQUAL(state, SW_STATE_OPEN);
    EQUAL((inner_change.cause != 0) + (outer_change.cause != 0), 1);
}

static void a_breaker_counts_both_failures_and_reports_one_change(void)
{
    interrupt_everywhere(prepare_with_one_failure, fail_outside, fail_inside, it_is_open_and_one_says_so);
}

/* --- one permit, settled by the program and by its handler: once ------------------------------------ */

static sw_permit shared;

static void prepare_permit(void)
{
    prepare();
    sw_circuit_breaker_admit(&breaker, 0, 0, &shared, NULL, NULL);
}

static void settle_outside(void)
{
    outer = sw_circuit_breaker_failure(&breaker, &shared, 0, 0, NULL);
}

static void settle_inside(void)
{
    inner = sw_circuit_breaker_failure(&breaker, &shared, 0, 0, NULL);
}

static void it_counted_once(void)
{
    sw_snapshot figures;
    CHECK((inner == SW_OK) != (outer == SW_OK));
    CHECK(inner == SW_ERR_SETTLED || outer == SW_ERR_SETTLED);
    sw_circuit_breaker_snapshot(&breaker, 0, &figures);
    EQUAL(figures.failed, 1);
}

static void a_permit_is_settled_once_whoever_comes_first(void)
{
    interrupt_everywhere(prepare_permit, settle_outside, settle_inside, it_counted_once);
}

/* --- a change of configuration, with calls inside it; and the other way round ----------------------- */

static void configure_outside(void)
{
    outer = sw_circuit_breaker_configure(&breaker, &other_config);
}

static void three_failures_counted_under_one_or_the_other(void)
{
    sw_snapshot figures;
    EQUAL(outer, SW_OK);
    sw_circuit_breaker_snapshot(&breaker, SECOND, &figures);
    EQUAL(figures.state, SW_STATE_CLOSED);
    EQUAL(figures.failed, 2);
}

static void calls_go_on_inside_a_change_of_configuration(void)
{
    interrupt_everywhere(prepare_with_one_failure, configure_outside, fail_inside,
                         three_failures_counted_under_one_or_the_other);
}

static void configure_inside(void)
{
    inner = sw_circuit_breaker_configure(&breaker, &other_config);
}

static void the_failure_counted_and_the_change_holds(void)
{
    sw_snapshot figures;
    EQUAL(inner, SW_OK);
    sw_circuit_breaker_snapshot(&breaker, SECOND, &figures);
    EQUAL(figures.failed, 2);
    EQUAL(figures.state, SW_STATE_CLOSED);
}

static void a_change_of_configuration_goes_on_inside_a_call(void)
{
    interrupt_everywhere(prepare_with_one_failure, fail_outside, configure_inside,
                         the_failure_counted_and_the_change_holds);
}

/* --- the ring: both events arrive -------------------------------------------------------------------- */

static sw_transition some_change;

static void prepare_change(void)
{
    prepare();
    sw_circuit_breaker_trip(&breaker, SW_DEFAULT, 0, 0, &some_change);
}

static void push_outside(void)
{
    outer = sw_event_ring_push(&events.ring, sizeof events, 1, &some_change);
}

static void push_inside(void)
{
    inner = sw_event_ring_push(&events.ring, sizeof events, 2, &some_change);
}

static void both_events_are_there(void)
{
    sw_event_ring_cursor cursor = {0, 0};
    sw_event first, second;
    EQUAL(outer, SW_OK);
    EQUAL(inner, SW_OK);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &first), SW_OK);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &second), SW_OK);
    EQUAL(first.source + second.source, 3);
}

static void a_ring_keeps_both_events(void)
{
    interrupt_everywhere(prepare_change, push_outside, push_inside, both_events_are_there);
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    RUN(a_bucket_neither_loses_nor_makes_a_token);
    RUN(a_breaker_counts_both_failures_and_reports_one_change);
    RUN(a_permit_is_settled_once_whoever_comes_first);
    RUN(calls_go_on_inside_a_change_of_configuration);
    RUN(a_change_of_configuration_goes_on_inside_a_call);
    RUN(a_ring_keeps_both_events);
    return check_end();
}

#else

int main(void)
{
    puts("0 passed, 0 failed, 6 skipped");
    return 0;
}

#endif
