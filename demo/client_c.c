/* The C program of the lunch rush: takes orders as they fall due and has each one paid.
 *
 *     client_c log=FILE port=N guard=on|off timeout_ms=N orders=SECONDS:PER_SECOND,... NAME=VALUE ...
 *
 * Same lines in and out, same event log, as client_python.py. The settings come as words (NAME as in
 * settings.json), so that no JSON is read here. One thread, one poll loop, plain sockets, a connection per call. The loop reads
 * the clock and hands it to seawall.
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "seawall.h"

#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)
#define REPORT_EVERY (SECOND / 4)
#define CALLS 256 /* in flight at once: far above rate x timeout; after a long stall orders wait for a place */

enum outcome { SUCCESS, FAILURE, TOLD, IGNORED };
static const char *const outcome_name[] = {"success", "failure", "told", "ignored"};

static struct {
    const char *log, *orders;
    bool guard;
    uint16_t port;
    uint64_t timeout;
    uint64_t failure_rate, /* parts per million */
        window, minimum_calls, trials, reset_after, trial_timeout, rate, capacity, late_orders;
} settings;

struct call {
    bool used, sent;
    int fd;
    uint64_t id, taken;
    size_t got;
    char answer[1024];
    sw_permit permit;
};

static struct call calls[CALLS];
static unsigned in_flight;
static struct {
    uint64_t orders, sent, outcome[4], open, trials_busy, rate_limited;
} counters;

static void die(const char *what)
{
    fprintf(stderr, "client_c: %s: %s\n", what, errno ? strerror(errno) : "bad value");
    exit(2);
}

/* --- the event log: one JSON line per event, numbered ----------------------------------------- */

static FILE *events;
static uint64_t lines;

static void event(const char *name, const char *format, ...)
{
    va_list fields;
    fprintf(events, "{\"n\":%" PRIu64 ",\"t\":%" PRIu64 ",\"event\":\"%s\"", lines++, sw_now_ns(), name);
    va_start(fields, format);
    vfprintf(events, format, fields);
    va_end(fields);
    fputs("}\n", events);
}

/* A line of counters: {"client":"c", ...} on standard output, or the fields of the end event. */
static void write_counters(FILE *out)
{
    const struct {
        const char *name;
        uint64_t count;
    } refused[] = {
        {"open", counters.open},
        {"trials_busy", counters.trials_busy},
        {"rate_limited", counters.rate_limited},
    };
    const char *comma = "";
    fprintf(out, "\"orders\":%" PRIu64 ",\"sent\":%" PRIu64, counters.orders, counters.sent);
    for (int o = SUCCESS; o <= IGNORED; o++)
        fprintf(out, ",\"%s\":%" PRIu64, outcome_name[o], counters.outcome[o]);
    fputs(",\"refused\":{", out);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (!refused[i].count)
            continue;
        fprintf(out, "%s\"%s\":%" PRIu64, comma, refused[i].name, refused[i].count);
        comma = ",";
    }
    fputs("}", out);
}

/* --- the guard: circuit breaker around token bucket around the call --------------------------- */

static sw_circuit_breaker breaker;
static sw_token_bucket bucket;
/* Every change of state goes into the ring as well, and is heard of from there: the second channel. */
static SW_EVENT_RING_STORAGE(ring, 64);
static sw_event_ring_cursor cursor;

/* For answers that can only be negative by a mistake in this program. */
static sw_status sane(sw_status status)
{
    if (status < 0) {
        errno = 0;
        die(sw_strerror(status));
    }
    return status;
}

static void guard_init(void)
{
    sw_circuit_breaker_config breaker_config = sw_circuit_breaker_config_default();
    sw_token_bucket_config bucket_config = sw_token_bucket_config_default();

    breaker_config.failure_rate_ppm = settings.failure_rate;
    breaker_config.window = settings.window;
    breaker_config.minimum_calls = settings.minimum_calls;
    breaker_config.trials = settings.trials;
    breaker_config.reset_after_ns = settings.reset_after;
    breaker_config.trial_timeout_ns = settings.trial_timeout;
    bucket_config.rate = settings.rate;
    bucket_config.period_ns = SECOND;
    bucket_config.capacity = settings.capacity;

    sane(sw_circuit_breaker_init(&breaker, &breaker_config));
    sane(sw_token_bucket_init(&bucket, &bucket_config, sw_now_ns()));
    sane(sw_event_ring_init(&ring.ring, sizeof ring));
}

static uint32_t state(void)
{
    uint32_t state;
    sane(sw_circuit_breaker_state(&breaker, sw_now_ns(), &state));
    return state;
}

static const char *state_name(void)
{
    return settings.guard ? sw_state_name(state()) : "none";
}

static void changed(const sw_transition *change)
{
    if (!change->cause)
        return;
    event("transition",
          ",\"from\":\"%s\",\"to\":\"%s\",\"cause\":\"%s\",\"calls\":%u,\"failed\":%u,\"generation\":%u",
          sw_state_name(change->from), sw_state_name(change->to), sw_cause_name(change->cause), change->calls,
          change->failed, change->generation);
    sane(sw_event_ring_push(&ring.ring, sizeof ring, 0, change));
}

static void listen_to_ring(void)
{
    sw_event heard;
    while (settings.guard && sane(sw_event_ring_poll(&ring.ring, sizeof ring, &cursor, &heard)) == SW_OK)
        event("heard", ",\"from\":\"%s\",\"to\":\"%s\"", sw_state_name(heard.transition.from),
              sw_state_name(heard.transition.to));
}

static void refused(const struct call *call, const sw_rejection *why, const char *permit)
{
    uint64_t *counter = why->reason == SW_REASON_OPEN          ? &counters.open
                        : why->reason == SW_REASON_TRIALS_BUSY ? &counters.trials_busy
                                                               : &counters.rate_limited;
    ++*counter;
    event("refused", ",\"call\":%" PRIu64 ",\"reason\":\"%s\",\"permit\":\"%s\",\"ns\":%" PRIu64, call->id,
          sw_reason_name(why->reason), permit, sw_now_ns() - call->taken);
}

/* Whether the call may go out; `permit` says as what. */
static bool guard_admit(struct call *call, const char **permit)
{
    sw_rejection no;
    sw_transition change;
    sw_status answer = sane(sw_circuit_breaker_admit(&breaker, call->taken, 0, &call->permit, &no, &change));

    changed(&change);
    if (answer == SW_REFUSED) {
        refused(call, &no, "none");
        return false;
    }
    *permit = sw_permit_kind_of(&call->permit) == SW_PERMIT_TRIAL ? "trial" : "normal";
    if (sane(sw_token_bucket_try_acquire(&bucket, 1, call->taken, NULL, &no)) == SW_REFUSED) {
        /* Our own refusal says nothing about the provider. */
        sane(sw_circuit_breaker_ignore(&breaker, &call->permit, call->taken));
        refused(call, &no, *permit);
        return false;
    }
    return true;
}

static void guard_settle(struct call *call, enum outcome outcome, uint64_t told_until)
{
    sw_transition change = {0};
    uint64_t now = sw_now_ns();

    switch (outcome) {
    case SUCCESS:
        sane(sw_circuit_breaker_success(&breaker, &call->permit, now, 0, &change));
        break;
    case FAILURE:
        sane(sw_circuit_breaker_failure(&breaker, &call->permit, now, 0, &change));
        break;
    case TOLD:
        sane(sw_circuit_breaker_failure_until(&breaker, &call->permit, told_until, now, 0, &change));
        break;
    case IGNORED:
        sane(sw_circuit_breaker_ignore(&breaker, &call->permit, now));
        break;
    }
    changed(&change);
}

/* --- one call -------------------------------------------------------------------------------- */

static void settle(struct call *call, enum outcome outcome, const char *why, uint64_t told_until)
{
    if (settings.guard)
        guard_settle(call, outcome, told_until);
    counters.outcome[outcome]++;
    event("settled",
          ",\"call\":%" PRIu64 ",\"outcome\":\"%s\",\"why\":\"%s\",\"told_until\":%" PRIu64 ",\"ns\":%" PRIu64,
          call->id, outcome_name[outcome], why, told_until, sw_now_ns() - call->taken);
    if (call->fd >= 0)
        close(call->fd);
    call->used = false;
    in_flight--;
}

/* The seconds of a Retry-After header, or 0. */
static unsigned retry_after(const char *answer)
{
    unsigned seconds = 0;
    for (const char *line = answer; (line = strchr(line, '\n')); line++)
        if (!strncasecmp(line + 1, "retry-after:", 12))
            sscanf(line + 13, "%u", &seconds);
    return seconds;
}

static void answered(struct call *call)
{
    unsigned status = 0, wait;
    char why[4] = "";
    call->answer[call->got] = '\0';
    if (sscanf(call->answer, "HTTP/1.1 %3s", why) != 1 || (status = (unsigned)atoi(why)) < 100) {
        settle(call, FAILURE, "connection", 0);
        return;
    }
    wait = retry_after(call->answer);
    if ((status == 429 || status == 503) && wait)
        settle(call, TOLD, why, sw_now_ns() + wait * SECOND);
    else
        settle(call, status >= 500 ? FAILURE : status >= 400 ? IGNORED : SUCCESS, why, 0);
}

static void take(uint64_t id)
{
    const struct sockaddr_in provider = {
        .sin_family = AF_INET,
        .sin_port = htons(settings.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct call *call = calls;
    const char *permit = "none";
    uint64_t taken = sw_now_ns();

    while (call->used) /* the caller has seen that there is a free one */
        call++;
    *call = (struct call){.used = true, .fd = -1, .id = id, .taken = taken};
    counters.orders++;
    if (settings.guard && !guard_admit(call, &permit)) {
        call->used = false;
        return;
    }
    counters.sent++;
    in_flight++;
    event("admitted", ",\"call\":%" PRIu64 ",\"permit\":\"%s\",\"before\":%" PRIu64 ",\"after\":%" PRIu64, id, permit,
          taken, taken);

    call->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (call->fd < 0 ||
        (connect(call->fd, (const struct sockaddr *)&provider, sizeof provider) < 0 && errno != EINPROGRESS))
        settle(call, FAILURE, "connection", 0);
}

/* The socket is ready: send the request, then read until the provider closes. */
static void advance(struct call *call)
{
    ssize_t n;
    if (!call->sent) {
        char request[160];
        int length = snprintf(request, sizeof request,
                              "POST /pay HTTP/1.1\r\nhost: 127.0.0.1\r\nx-client: c\r\nx-call: %" PRIu64
                              "\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                              call->id);
        /* Far below any socket buffer, so it goes in one piece or the connection is broken. */
        if (send(call->fd, request, (size_t)length, MSG_NOSIGNAL) != length)
            settle(call, FAILURE, "connection", 0);
        call->sent = true;
        return;
    }
    n = recv(call->fd, call->answer + call->got, sizeof call->answer - 1 - call->got, 0);
    if (n > 0)
        call->got += (size_t)n;
    else if (n == 0)
        answered(call);
    else if (errno != EAGAIN && errno != EINTR)
        settle(call, FAILURE, "connection", 0);
}

/* --- the rush --------------------------------------------------------------------------------- */

/* When order k (from 1) falls due, or UINT64_MAX after the last; as in plan.py. After the last come late orders, for as
 * long as the breaker is not closed. */
static uint64_t due(uint64_t k, uint64_t start)
{
    const char *part = settings.orders;
    uint64_t last = 0, gap = 0;
    while (*part) {
        char *end;
        double seconds = strtod(part, &end);
        uint64_t per_second = strtoull(end + 1, &end, 10);
        uint64_t count = (uint64_t)(seconds * (double)per_second + 0.5);
        gap = SECOND / per_second;
        if (k <= count)
            return start + (k - 1) * gap;
        last = start + (count - 1) * gap;
        k -= count;
        start += (uint64_t)(seconds * (double)SECOND + 0.5);
        part = *end ? end + 1 : end;
    }
    return settings.guard && k <= settings.late_orders && state() != SW_STATE_CLOSED ? last + k * gap : UINT64_MAX;
}

static void report(void)
{
    printf("{\"client\":\"c\",\"state\":\"%s\",\"in_flight\":%u,", state_name(), in_flight);
    write_counters(stdout);
    puts("}");
    fflush(stdout);
}

static void run(uint64_t start)
{
    uint64_t order = 1, at, next_report = start;
    while ((at = due(order, start)) != UINT64_MAX || in_flight) {
        struct pollfd ready[CALLS];
        struct call *of[CALLS];
        nfds_t n = 0;
        uint64_t now = sw_now_ns(), wake = now + REPORT_EVERY;

        for (; in_flight < CALLS && at <= now; at = due(order, start))
            take(order++);
        if (in_flight < CALLS && at < wake)
            wake = at;
        if (now >= next_report) {
            report();
            next_report = now + REPORT_EVERY;
        }
        for (struct call *call = calls; call < calls + CALLS; call++) {
            if (!call->used)
                continue;
            if (call->taken + settings.timeout < wake)
                wake = call->taken + settings.timeout;
            ready[n] = (struct pollfd){.fd = call->fd, .events = call->sent ? POLLIN : POLLOUT};
            of[n++] = call;
        }
        listen_to_ring();
        now = sw_now_ns();
        /* Rounded up: waking a little late costs nothing, waking early would spin. */
        if (poll(ready, n, wake > now ? (int)((wake - now + MILLISECOND - 1) / MILLISECOND) : 0) < 0 && errno != EINTR)
            die("poll");
        now = sw_now_ns();
        for (nfds_t i = 0; i < n; i++) {
            if (ready[i].revents)
                advance(of[i]);
            if (of[i]->used && now >= of[i]->taken + settings.timeout)
                settle(of[i], FAILURE, "timeout", 0);
        }
    }
    report();
}

/* --- settings --------------------------------------------------------------------------------- */

static uint64_t number(const char *text)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || end == text || *end)
        die(text);
    return value;
}

static void set(const char *name, const char *value)
{
    const struct {
        const char *name;
        uint64_t *field, unit;
    } numbers[] = {
        {"timeout_ms", &settings.timeout, MILLISECOND},
        {"window", &settings.window, 1},
        {"minimum_calls", &settings.minimum_calls, 1},
        {"trials", &settings.trials, 1},
        {"reset_after_ms", &settings.reset_after, MILLISECOND},
        {"trial_timeout_ms", &settings.trial_timeout, MILLISECOND},
        {"rate_per_second", &settings.rate, 1},
        {"capacity", &settings.capacity, 1},
        {"late_orders", &settings.late_orders, 1},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!strcmp(name, numbers[i].name)) {
            *numbers[i].field = number(value) * numbers[i].unit;
            return;
        }
    }
    if (!strcmp(name, "failure_rate"))
        settings.failure_rate = (uint64_t)(strtod(value, NULL) * 1e6 + 0.5);
    else if (!strcmp(name, "orders"))
        settings.orders = value;
    else if (!strcmp(name, "log"))
        settings.log = value;
    else if (!strcmp(name, "port"))
        settings.port = (uint16_t)number(value);
    else if (!strcmp(name, "guard"))
        settings.guard = !strcmp(value, "on");
    else {
        errno = 0;
        die(name);
    }
}

int main(int argc, char **argv)
{
    uint64_t start;
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        errno = 0;
        if (!value)
            die(argv[i]);
        *value = '\0';
        set(argv[i], value + 1);
    }
    errno = 0;
    if (!settings.log || !settings.orders || !(events = fopen(settings.log, "w")))
        die("log=FILE and orders=SECONDS:PER_SECOND,... are needed");
    if (settings.guard)
        guard_init();

    puts("{\"ready\":true}");
    fflush(stdout);
    if (scanf("{\"start_ns\": %" SCNu64 "}", &start) != 1)
        die("no start was given");
    event("start", ",\"client\":\"c\",\"guard\":%s", settings.guard ? "true" : "false");
    run(start);
    listen_to_ring();
    fprintf(events, "{\"n\":%" PRIu64 ",\"t\":%" PRIu64 ",\"event\":\"end\",\"state\":\"%s\",\"counters\":{", lines,
            sw_now_ns(), state_name());
    write_counters(events);
    fputs("}}\n", events);
    if (fclose(events))
        die("the log could not be written");
    return 0;
}
