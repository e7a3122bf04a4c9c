/* The innermost of three services: it alone calls the provider.
 *
 *     chain_c port=N attempts=N budget=on|off breaker=on|off
 *
 * Prints {"port":N}, then answers POST with 200 when the provider did, else with 503, until standard input ends.
 * A thread per connection, a connection per call, plain sockets; every call is a loop around sw_call_poll.
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "seawall.h"

#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)

static uint16_t provider;
static sw_policy policy;
static sw_retry_budget budget;
static sw_circuit_breaker breaker;
static sw_random source;

static void die(const char *what)
{
    fprintf(stderr, "chain_c: %s: %s\n", what, errno ? strerror(errno) : "bad value");
    exit(2);
}

/* For answers that can only be negative by a mistake in this program. */
static void sane(sw_status status)
{
    if (status < 0) {
        errno = 0;
        die(sw_strerror(status));
    }
}

static void wire(uint64_t attempts, bool budgeted, bool guarded)
{
    sw_timeouts_config timeouts = {.connect_ns = SECOND, .attempt_ns = 2 * SECOND, .total_ns = 10 * SECOND};
    sw_backoff_config pauses = sw_backoff_config_default();
    sw_retry_config retry = sw_retry_config_default();
    sw_retry_budget_config tenth = sw_retry_budget_config_default();
    sw_circuit_breaker_config judge = sw_circuit_breaker_config_default();
    sw_backoff backoff;

    pauses.base_ns = MILLISECOND;
    pauses.cap_ns = 5 * MILLISECOND;
    retry.attempts = attempts;
    retry.idempotent = SW_IDEMPOTENT_BY_KEY;
    sane(sw_random_init_from_system(&source));
    sane(sw_backoff_init(&backoff, &pauses));
    sane(sw_policy_init(&policy, NULL, &timeouts));
    sane(sw_policy_retry(&policy, &retry, &backoff));
    sane(sw_retry_budget_init(&budget, &tenth, sw_now_ns()));
    sane(sw_circuit_breaker_init(&breaker, &judge));
    policy.budget = budgeted ? &budget : NULL;
    policy.breaker = guarded ? &breaker : NULL;
}

/* --- the provider, asked once ------------------------------------------------------------------ */

static void limit(int fd, uint64_t until_ns)
{
    uint64_t now = sw_now_ns(), left = until_ns > now ? until_ns - now : 1000;
    struct timeval span = {.tv_sec = (time_t)(left / SECOND), .tv_usec = (suseconds_t)(left % SECOND / 1000)};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof span);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &span, sizeof span);
}

static sw_finish ask(uint64_t until_ns)
{
    static const char request[] =
        "POST /pay HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(provider)};
    char answer[512];
    size_t got = 0;
    unsigned status = 0;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0)
        return sw_finish_failure(SW_FAILURE_CONNECTION);
    limit(fd, until_ns);
    bool sent = connect(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
                send(fd, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)(sizeof request - 1);
    while (sent && got < sizeof answer - 1) {
        ssize_t part = recv(fd, answer + got, sizeof answer - 1 - got, 0);
        if (part <= 0)
            break;
        got += (size_t)part;
    }
    close(fd);
    answer[got] = '\0';
    if (sscanf(answer, "HTTP/1.1 %u", &status) != 1)
        return sw_finish_failure(sent && got == 0 ? SW_FAILURE_TIMEOUT : SW_FAILURE_CONNECTION);
    return sw_finish_status(status, UINT64_MAX);
}

static void sleep_until(uint64_t instant_ns)
{
    struct timespec until = {.tv_sec = (time_t)(instant_ns / SECOND), .tv_nsec = (long)(instant_ns % SECOND)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* One whole call under the policy: whether it was answered. */
static bool pay(void)
{
    sw_call call = {0};
    sw_step step;
    sane(sw_call_start(&call, UINT64_MAX));
    for (;;) {
        sane(sw_call_poll(&call, &policy, sw_now_ns(), sw_random_next(&source), &step));
        if (step.kind == SW_STEP_RUN) {
            sw_finish finish = ask(step.until_ns);
            sane(sw_call_finished(&call, step.attempt, &finish));
        } else if (step.kind == SW_STEP_WAIT) {
            sleep_until(step.until_ns);
        } else if (step.kind == SW_STEP_DONE) {
            return step.success;
        }
    }
}

/* --- the service ------------------------------------------------------------------------------- */

static void *serve(void *connection)
{
    int fd = (int)(intptr_t)connection;
    char request[1024];
    size_t got = 0;
    while (got < sizeof request - 1) {
        ssize_t part = recv(fd, request + got, sizeof request - 1 - got, 0);
        if (part <= 0)
            break;
        got += (size_t)part;
        request[got] = '\0';
        if (strstr(request, "\r\n\r\n")) {
            char answer[128];
            int length = snprintf(answer, sizeof answer, "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                                  pay() ? "200 OK" : "503 Service Unavailable");
            if (send(fd, answer, (size_t)length, MSG_NOSIGNAL) < 0)
                break;
            break;
        }
    }
    close(fd);
    return NULL;
}

static void *listen_for(void *socket_)
{
    for (;;) {
        pthread_t thread;
        int fd = accept((int)(intptr_t)socket_, NULL, NULL);
        if (fd < 0)
            continue;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) != 0)
            die("a thread");
        pthread_detach(thread);
    }
    return NULL;
}

int main(int count, char **words)
{
    uint64_t attempts = 1;
    bool budgeted = false, guarded = false;
    for (int i = 1; i < count; i++) {
        char *value = strchr(words[i], '=');
        if (!value)
            die(words[i]);
        *value++ = '\0';
        if (strcmp(words[i], "port") == 0)
            provider = (uint16_t)strtoul(value, NULL, 10);
        else if (strcmp(words[i], "attempts") == 0)
            attempts = strtoull(value, NULL, 10);
        else if (strcmp(words[i], "budget") == 0)
            budgeted = strcmp(value, "on") == 0;
        else if (strcmp(words[i], "breaker") == 0)
            guarded = strcmp(value, "on") == 0;
        else
            die(words[i]);
    }
    wire(attempts, budgeted, guarded);

    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 128) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) < 0)
        die("listening");
    pthread_t thread;
    if (pthread_create(&thread, NULL, listen_for, (void *)(intptr_t)fd) != 0)
        die("a thread");
    printf("{\"port\":%u}\n", ntohs(at.sin_port));
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
