/* The ring of events from C. */
#include "check.h"

#define EVENTS 4

static SW_EVENT_RING_STORAGE(events, EVENTS);
static sw_event event;

static sw_transition opened(uint64_t at)
{
    static sw_circuit_breaker breaker;
    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();
    sw_transition change;
    EQUAL(sw_circuit_breaker_init(&breaker, &config), SW_OK);
    EQUAL(sw_circuit_breaker_trip(&breaker, SW_DEFAULT, at, 0, &change), SW_OK);
    return change;
}

static void push(uint32_t source, uint64_t at)
{
    sw_transition change = opened(at);
    EQUAL(sw_event_ring_push(&events.ring, sizeof events, source, &change), SW_OK);
}

static void a_reader_gets_every_event_once_and_in_order(void)
{
    sw_event_ring_cursor cursor = {0, 0};
    sw_transition change = opened(5 * SECOND);
    EQUAL(sw_event_ring_init(&events.ring, sizeof events), SW_OK);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event), SW_EMPTY);
    EQUAL(event.transition.cause, 0);
    push(7, 5 * SECOND);
    push(8, 6 * SECOND);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event), SW_OK);
    EQUAL(event.source, 7);
    EQUAL(event.transition.cause, SW_CAUSE_TRIPPED);
    EQUAL(event.transition.to, SW_STATE_OPEN);
    EQUAL(event.transition.at_ns, 5 * SECOND);
    EQUAL(event.transition.until_ns, change.until_ns);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event), SW_OK);
    EQUAL(event.source, 8);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event), SW_EMPTY);
    EQUAL(cursor.missed, 0);
}

static void a_late_reader_learns_how_many_it_missed(void)
{
    sw_event_ring_cursor cursor = {0, 0};
    EQUAL(sw_event_ring_init(&events.ring, sizeof events), SW_OK);
    for (uint32_t i = 0; i < EVENTS + 3; i++)
        push(i, i);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event), SW_OK);
    EQUAL(event.source, 3);
    EQUAL(cursor.missed, 3);
}

static void no_change_is_no_event(void)
{
    sw_event_ring_cursor cursor = {0, 0};
    sw_transition none;
    memset(&none, 0, sizeof none);
    EQUAL(sw_event_ring_init(&events.ring, sizeof events), SW_OK);
    EQUAL(sw_event_ring_push(&events.ring, sizeof events, 1, &none), SW_OK);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event), SW_EMPTY);
}

static void storage_is_checked(void)
{
    static SW_EVENT_RING_STORAGE(fresh, EVENTS);
    sw_event_ring_cursor cursor = {0, 0};
    sw_transition change = opened(0), odd = change;
    EQUAL(sizeof fresh, 16 + 32 * EVENTS);
    EQUAL(sw_event_ring_push(&fresh.ring, sizeof fresh, 1, &change), SW_ERR_UNCONFIGURED);
    EQUAL(sw_event_ring_poll(&fresh.ring, sizeof fresh, &cursor, &event), SW_ERR_UNCONFIGURED);
    EQUAL(sw_event_ring_init(&fresh.ring, 47), SW_ERR_STORAGE);
    EQUAL(sw_event_ring_init(&fresh.ring, 0), SW_ERR_STORAGE);
    EQUAL(sw_event_ring_init(&fresh.ring, sizeof fresh), SW_OK);
    EQUAL(sw_event_ring_push(&fresh.ring, sizeof fresh - 32, 1, &change), SW_ERR_UNCONFIGURED);
    EQUAL(sw_event_ring_push(&fresh.ring, sizeof fresh, 65536, &change), SW_ERR_VALUE);
    odd.to = 3;
    EQUAL(sw_event_ring_push(&fresh.ring, sizeof fresh, 1, &odd), SW_ERR_VALUE);
    odd = change;
    odd.cause = 99;
    EQUAL(sw_event_ring_push(&fresh.ring, sizeof fresh, 1, &odd), SW_ERR_VALUE);
    EQUAL(sw_event_ring_poll(&fresh.ring, sizeof fresh, &cursor, &event), SW_EMPTY);
}

static void any_cursor_is_some_place(void)
{
    sw_event_ring_cursor cursor = {0, UINT64_MAX};
    EQUAL(sw_event_ring_init(&events.ring, sizeof events), SW_OK);
    for (uint32_t i = 0; i < EVENTS + 3; i++)
        push(i, i);
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event), SW_OK);
    CHECK(cursor.missed == UINT64_MAX);
    /* Beyond the end: the ring was emptied since, so the reader begins with what is there. */
    cursor.next = UINT64_MAX;
    EQUAL(sw_event_ring_poll(&events.ring, sizeof events, &cursor, &event), SW_OK);
    EQUAL(event.source, 3);
}

int main(void)
{
    RUN(a_reader_gets_every_event_once_and_in_order);
    RUN(a_late_reader_learns_how_many_it_missed);
    RUN(no_change_is_no_event);
    RUN(storage_is_checked);
    RUN(any_cursor_is_some_place);
    return check_end();
}
