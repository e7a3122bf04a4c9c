/* Counts that must hold whatever threads do at the same time. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define THREADS 4
#define ROUNDS 50000

static sw_circuit_breaker breaker;
static sw_token_bucket bucket;
static SW_EVENT_RING_STORAGE(events, 1024);

struct tally {
    int number;
    uint64_t admitted, settled, twice, opened;
};

static void run_all(void *(*body)(void *), struct tally tallies[THREADS])
{
    pthread_t threads[THREADS];
    memset(tallies, 0, THREADS * sizeof tallies[0]);
    for (int i = 0; i < THREADS; i++) {
        tallies[i].number = i;
        CHECK(pthread_create(&threads[i], NULL, body, &tallies[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static uint64_t sum(const struct tally tallies[THREADS], size_t field)
{
    uint64_t sum = 0;
    for (int i = 0; i < THREADS; i++)
        sum += *(const uint64_t *)((const char *)&tallies[i] + field);
    return sum;
}

static void *take_tokens(void *of)
{
    struct tally *tally = of;
    for (int i = 0; i < ROUNDS; i++)
        tally->admitted += sw_token_bucket_try_acquire(&bucket, 1, 0, NULL, NULL) == SW_OK;
    return NULL;
}

static void a_bucket_admits_its_capacity_exactly(void)
{
    struct tally tallies[THREADS];
    sw_token_bucket_config config = sw_token_bucket_config_default();
    config.rate = 1;
    config.capacity = 100001;
    EQUAL(sw_token_bucket_init(&bucket, &config, 0), SW_OK);
    run_all(take_tokens, tallies);
    EQUAL(sum(tallies, offsetof(struct tally, admitted)), 100001);
}

static void *open_and_push(void *of)
{
    struct tally *tally = of;
    sw_permit permit;
    sw_transition change;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t now = i * 10 * MS;
        if (sw_circuit_breaker_admit(&breaker, now, 0, &permit, NULL, &change) == SW_OK) {
            if (change.cause)
                sw_event_ring_push(&events.ring, sizeof events, (uint32_t)tally->number, &change);
            sw_circuit_breaker_failure(&breaker, &permit, now, 0, &change);
            tally->opened += change.cause != 0 && change.to == SW_STATE_OPEN;
            if (change.cause)
                sw_event_ring_push(&events.ring, sizeof events, (uint32_t)tally->number, &change);
        }
    }
    return NULL;
}

static void every_change_is_reported_once(void)
{
    struct tally tallies[THREADS];
    sw_snapshot figures;
    sw_event event;
    sw_event_ring_cursor cursor = {0, 0};
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    uint64_t seen = 0, half = 0;
    config.failure_threshold = 1;
    config.reset_after_ns = 20 * SECOND;
    EQUAL(sw_circuit_breaker_init(&breaker, &config), SW_OK);
    EQUAL(sw_event_ring_init(&events.ring, sizeof events), SW_OK);
    run_all(open_and_push, tallies);
    while (sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event) == SW_OK) {
        seen++;
        half += event.transition.to == SW_STATE_HALF_OPEN;
    }
    EQUAL(sw_circuit_breaker_snapshot(&breaker, 0, &figures), SW_OK);
    EQUAL(cursor.missed, 0);
    EQUAL(seen - half, sum(tallies, offsetof(struct tally, opened)));
    CHECK(half > 3);
    /* The generation counts what becomes stale: the opening of a closed breaker does not. */
    CHECK(seen >= figures.generation);
}

static sw_permit shared[ROUNDS];

static void *settle_shared(void *of)
{
    struct tally *tally = of;
    for (int i = 0; i < ROUNDS; i++) {
        sw_status status = sw_circuit_breaker_ignore(&breaker, &shared[i], 0);
        tally->settled += status == SW_NEUTRAL;
        tally->twice += status == SW_ERR_SETTLED;
    }
    return NULL;
}

static void of_several_that_settle_a_permit_one_does(void)
{
    struct tally tallies[THREADS];
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    EQUAL(sw_circuit_breaker_init(&breaker, &config), SW_OK);
    for (int i = 0; i < ROUNDS; i++)
        EQUAL(sw_circuit_breaker_admit(&breaker, 0, 0, &shared[i], NULL, NULL), SW_OK);
    run_all(settle_shared, tallies);
    EQUAL(sum(tallies, offsetof(struct tally, settled)), ROUNDS);
    EQUAL(sum(tallies, offsetof(struct tally, twice)), (THREADS - 1) * ROUNDS);
}

static void *try_trials(void *of)
{
    struct tally *tally = of;
    sw_permit permit;
    for (int i = 0; i < 100; i++)
        tally->admitted += sw_circuit_breaker_admit(&breaker, 60 * SECOND, 0, &permit, NULL, NULL) == SW_OK;
    return NULL;
}

static void no_more_trials_than_stated_go_out(void)
{
    struct tally tallies[THREADS];
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    config.trials = 3;
    for (int round = 0; round < 100; round++) {
        EQUAL(sw_circuit_breaker_init(&breaker, &config), SW_OK);
        EQUAL(sw_circuit_breaker_trip(&breaker, SW_DEFAULT, 0, 0, NULL), SW_OK);
        run_all(try_trials, tallies);
        EQUAL(sum(tallies, offsetof(struct tally, admitted)), 3);
    }
}

static void *reconfigure(void *of)
{
    struct tally *tally = of;
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    config.failure_threshold = 1000000;
    for (int i = 0; i < 1000; i++) {
        sw_permit permit;
        sw_status changed;
        config.trials = 1 + (uint64_t)(i % 15);
        changed = sw_circuit_breaker_configure(&breaker, &config);
        CHECK(changed == SW_OK || changed == SW_ERR_BUSY);
        if (sw_circuit_breaker_admit(&breaker, 0, 0, &permit, NULL, NULL) == SW_OK) {
            sw_status settled = sw_circuit_breaker_failure(&breaker, &permit, 0, 0, NULL);
            tally->settled += settled == SW_OK;
            tally->admitted += settled == SW_OK || settled == SW_STALE;
        }
    }
    return NULL;
}

/* Every fourth change makes stale what is in flight across it; all else is counted, once. */
static void no_failure_is_lost_while_the_configuration_changes(void)
{
    struct tally tallies[THREADS];
    sw_snapshot figures;
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    config.failure_threshold = 1000000;
    EQUAL(sw_circuit_breaker_init(&breaker, &config), SW_OK);
    run_all(reconfigure, tallies);
    EQUAL(sw_circuit_breaker_snapshot(&breaker, 0, &figures), SW_OK);
    EQUAL(sum(tallies, offsetof(struct tally, admitted)), THREADS * 1000);
    EQUAL(figures.failed, sum(tallies, offsetof(struct tally, settled)));
    CHECK(figures.failed > THREADS * 1000 / 2);
}

/* What processes share: the bucket, and how many tokens each of them got. */
struct between_processes {
    sw_token_bucket bucket;
    uint64_t admitted[2];
};

static void processes_share_a_bucket(void)
{
    sw_token_bucket_config config = sw_token_bucket_config_default();
    struct between_processes *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    if (shared == MAP_FAILED) {
        CHECK(!"memory to share");
        return;
    }
    config.rate = 1;
    config.capacity = 50001;
    EQUAL(sw_token_bucket_init(&shared->bucket, &config, 0), SW_OK);
    child = fork();
    for (int i = 0; i < ROUNDS; i++)
        shared->admitted[child == 0] += sw_token_bucket_try_acquire(&shared->bucket, 1, 0, NULL, NULL) == SW_OK;
    if (child == 0)
        _exit(0);
    CHECK(waitpid(child, NULL, 0) == child);
    EQUAL(shared->admitted[0] + shared->admitted[1], 50001);
    munmap(shared, sizeof *shared);
}

static void the_clock_and_the_randomness_of_the_system(void)
{
    sw_random random;
    uint64_t before = sw_now_ns(), after = sw_now_ns();
    CHECK(before > 0 && after >= before);
    EQUAL(sw_random_init_from_system(&random), SW_OK);
    CHECK(sw_random_next(&random) != sw_random_next(&random));
}

int main(void)
{
    RUN(a_bucket_admits_its_capacity_exactly);
    RUN(every_change_is_reported_once);
    RUN(of_several_that_settle_a_permit_one_does);
    RUN(no_more_trials_than_stated_go_out);
    RUN(no_failure_is_lost_while_the_configuration_changes);
    RUN(processes_share_a_bucket);
    RUN(the_clock_and_the_randomness_of_the_system);
    return check_end();
}
