/* Replays the conformance vectors (vectors.inc, written by vectors_to_c.py). */
#include "replay.h"

#include "seawall.h"

enum op {
    OP_CIRCUIT_BREAKER_ADMIT,
    OP_CIRCUIT_BREAKER_SUCCESS,
    OP_CIRCUIT_BREAKER_FAILURE,
    OP_CIRCUIT_BREAKER_FAILURE_UNTIL,
    OP_CIRCUIT_BREAKER_IGNORE,
    OP_CIRCUIT_BREAKER_TRIP,
    OP_CIRCUIT_BREAKER_HALF_OPEN,
    OP_CIRCUIT_BREAKER_RESET,
    OP_CIRCUIT_BREAKER_CONFIGURE,
    OP_CIRCUIT_BREAKER_SET_MODE,
    OP_CIRCUIT_BREAKER_STATE,
    OP_CIRCUIT_BREAKER_SNAPSHOT,
    OP_TOKEN_BUCKET_TRY_ACQUIRE,
    OP_TOKEN_BUCKET_PEEK,
    OP_TOKEN_BUCKET_RESERVE,
    OP_TOKEN_BUCKET_CANCEL,
    OP_TOKEN_BUCKET_DRAIN,
    OP_TOKEN_BUCKET_RESET,
    OP_TOKEN_BUCKET_CONFIGURE
};

/* What is done, and what must come of it. A pointer that is NULL expects nothing: all zero. */
struct step {
    uint64_t now, r, x, y;
    uint64_t want, want_more;
    const void *config;
    const sw_transition *transition;
    const sw_rejection *rejection;
    const sw_snapshot *snapshot;
    const char *text;
    uint32_t index;
    sw_status status;
    enum op op;
};

struct scenario {
    const char *name;
    const void *config;
    uint64_t start;
    uint32_t first, count;
    int token_bucket;
};

#include "vectors.inc"

/* With room for every window of the vectors. */
static SW_CIRCUIT_BREAKER_STORAGE(widest, SW_WINDOW_WORDS(1024));
#define breaker (widest.breaker)
static sw_token_bucket bucket;
static sw_permit permits[KEPT];
static sw_reservation reservations[KEPT];

/* What a step did. */
static sw_status status;
static sw_transition transition;
static sw_rejection rejection;
static sw_snapshot snapshot;
static uint64_t got, got_more;
static char text[256];

/* Whether `size` bytes are the same; `want` NULL stands for zeroes. */
static int same(const void *got_, const void *want, size_t size)
{
    const unsigned char *a = got_, *b = want;
    for (size_t i = 0; i < size; i++)
        if (a[i] != (b ? b[i] : 0))
            return 0;
    return 1;
}

static int same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static void granted(sw_grant grant)
{
    got = grant.remaining;
    got_more = grant.reset_after_ns;
}

/* A copy is settled, so that scenarios about copies settled twice can be replayed too. */
static sw_permit copy_of(const struct step *s)
{
    return permits[s->index];
}

static void act(const struct step *s)
{
    sw_permit permit;
    sw_reservation reservation;
    sw_grant grant = {0, 0};
    uint32_t answer = 0;

    switch (s->op) {
    case OP_CIRCUIT_BREAKER_ADMIT:
        status = sw_circuit_breaker_admit(&breaker, s->now, s->r, &permit, &rejection, &transition);
        got = sw_permit_kind_of(&permit);
        if (status == SW_OK)
            permits[s->index] = permit;
        else
            sw_explain(&rejection, s->now, text, sizeof text);
        break;
    case OP_CIRCUIT_BREAKER_SUCCESS:
        permit = copy_of(s);
        status = sw_circuit_breaker_success(&breaker, &permit, s->now, s->r, &transition);
        break;
    case OP_CIRCUIT_BREAKER_FAILURE:
        permit = copy_of(s);
        status = sw_circuit_breaker_failure(&breaker, &permit, s->now, s->r, &transition);
        break;
    case OP_CIRCUIT_BREAKER_FAILURE_UNTIL:
        permit = copy_of(s);
        status = sw_circuit_breaker_failure_until(&breaker, &permit, s->x, s->now, s->r, &transition);
        break;
    case OP_CIRCUIT_BREAKER_IGNORE:
        permit = copy_of(s);
        status = sw_circuit_breaker_ignore(&breaker, &permit, s->now);
        break;
    case OP_CIRCUIT_BREAKER_TRIP:
        status = sw_circuit_breaker_trip(&breaker, s->x, s->now, s->r, &transition);
        break;
    case OP_CIRCUIT_BREAKER_HALF_OPEN:
        status = sw_circuit_breaker_half_open(&breaker, s->now, &transition);
        break;
    case OP_CIRCUIT_BREAKER_RESET:
        status = sw_circuit_breaker_reset(&breaker, s->now, &transition);
        break;
    case OP_CIRCUIT_BREAKER_CONFIGURE:
        status = sw_circuit_breaker_configure(&breaker, s->config);
        sw_circuit_breaker_config_explain(s->config, text, sizeof text);
        break;
    case OP_CIRCUIT_BREAKER_SET_MODE:
        status = sw_circuit_breaker_set_mode(&breaker, (uint32_t)s->x, &answer);
        got = answer;
        break;
    case OP_CIRCUIT_BREAKER_STATE:
        status = sw_circuit_breaker_state(&breaker, s->now, &answer);
        got = answer;
        break;
    case OP_CIRCUIT_BREAKER_SNAPSHOT:
        status = sw_circuit_breaker_snapshot(&breaker, s->now, &snapshot);
        sw_circuit_breaker_explain(&breaker, s->now, text, sizeof text);
        break;
    case OP_TOKEN_BUCKET_TRY_ACQUIRE:
    case OP_TOKEN_BUCKET_PEEK:
        status = s->op == OP_TOKEN_BUCKET_PEEK
                     ? sw_token_bucket_peek(&bucket, s->x, s->now, &grant, &rejection)
                     : sw_token_bucket_try_acquire(&bucket, s->x, s->now, &grant, &rejection);
        granted(grant);
        if (status == SW_REFUSED)
            sw_explain(&rejection, s->now, text, sizeof text);
        break;
    case OP_TOKEN_BUCKET_RESERVE:
        status = sw_token_bucket_reserve(&bucket, s->x, s->y, s->now, &reservation, &rejection);
        got = reservation.at_ns;
        if (status == SW_OK)
            reservations[s->index] = reservation;
        else
            sw_explain(&rejection, s->now, text, sizeof text);
        break;
    case OP_TOKEN_BUCKET_CANCEL:
        reservation = reservations[s->index];
        status = sw_token_bucket_cancel(&bucket, &reservation, s->now, &answer);
        got = answer;
        break;
    case OP_TOKEN_BUCKET_DRAIN:
        status = sw_token_bucket_drain(&bucket, s->now);
        break;
    case OP_TOKEN_BUCKET_RESET:
        status = sw_token_bucket_reset(&bucket, s->now);
        break;
    case OP_TOKEN_BUCKET_CONFIGURE:
        status = sw_token_bucket_configure(&bucket, s->config, s->now);
        sw_token_bucket_config_explain(s->config, text, sizeof text);
        break;
    }
}

/* What went otherwise than expected, or NULL. */
static const char *differs(const struct step *s)
{
    if (status != s->status)
        return "the status";
    if (got != s->want || got_more != s->want_more)
        return "the answer";
    if (!same(&transition, s->transition, sizeof transition))
        return "the transition";
    if (!same(&rejection, s->rejection, sizeof rejection))
        return "the rejection";
    if (!same(&snapshot, s->snapshot, sizeof snapshot))
        return "the snapshot";
    if (!same_text(text, s->text ? s->text : ""))
        return "the sentence";
    return NULL;
}

static const char *begin(const struct scenario *scenario)
{
    status = scenario->token_bucket ? sw_token_bucket_init(&bucket, scenario->config, scenario->start)
                                    : sw_circuit_breaker_init_with(&breaker, sizeof widest, scenario->config);
    return status == SW_OK ? NULL : "the configuration";
}

struct replay_counts replay(void (*failed)(const char *scenario, unsigned step, const char *what))
{
    static const sw_transition no_transition;
    static const sw_rejection no_rejection;
    static const sw_snapshot no_snapshot;
    struct replay_counts counts = {0, 0};
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const struct scenario *scenario = &scenarios[i];
        const char *what = begin(scenario);
        uint32_t step = 0;
        for (; !what && step < scenario->count; step++) {
            transition = no_transition;
            rejection = no_rejection;
            snapshot = no_snapshot;
            got = got_more = 0;
            text[0] = '\0';
            act(&steps[scenario->first + step]);
            what = differs(&steps[scenario->first + step]);
        }
        if (what) {
            failed(scenario->name, step, what);
            counts.failed++;
        } else {
            counts.passed++;
        }
    }
    return counts;
}
