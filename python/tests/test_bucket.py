"""The token bucket's ways of asking."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

import seawall


@pytest.fixture
def bucket(clock):
    return seawall.TokenBucket(rate=5, capacity=20, clock=clock, name="orders")


def test_a_decision_says_everything_without_an_exception(bucket):
    yes = bucket.decide(15)
    assert yes and (yes.allowed, yes.remaining, yes.reset_after, yes.retry_after, yes.reason) == (True, 5, 3.0, 0, None)
    no = bucket.decide(10)
    assert not no
    assert (no.allowed, no.remaining, no.reset_after, no.retry_after, no.reason) == (
        False,
        None,
        None,
        1.0,
        "rate_limited",
    )
    never = bucket.decide(21)
    assert (never.retry_after, never.reason, never.at_ns) == (None, "exceeds_capacity", None)
    assert yes.explain() == "admitted; 5 left"
    assert no.explain() == "The rate limit is used up for now; ask again in 1 s"
    assert never.explain().endswith("asking again will not help")


def test_acquire_raises_with_who_why_and_when(bucket, clock):
    assert bucket.acquire(20) is None
    with pytest.raises(seawall.RateLimited) as refused:
        bucket.acquire(3)
    error = refused.value
    assert (error.policy, error.reason, error.retry_after, error.at) == ("orders", "rate_limited", 0.6, 1000.6)
    assert str(error) == "orders: The rate limit is used up for now; ask again in 600 ms"
    clock.advance(error.retry_after)
    bucket.acquire(3)
    with pytest.raises(seawall.RateLimited) as refused:
        bucket.acquire(21)
    assert (refused.value.reason, refused.value.at, refused.value.retry_after) == ("exceeds_capacity", None, None)


def test_whoever_waits_as_told_is_admitted_and_not_a_nanosecond_early(clock):
    bucket = seawall.TokenBucket(rate=7, capacity=1, clock=clock)
    for _ in range(50):
        assert bucket.try_acquire()
        wait = bucket.decide().retry_after
        at = bucket.decide().at_ns
        clock.set_ns(at - 1)
        assert not bucket.try_acquire()
        clock.set_ns(at)
        assert wait * 1e9 >= at - clock.now_ns()
        assert bucket.peek()


def test_a_refusal_changes_nothing(bucket, clock):
    bucket.acquire(20)
    for _ in range(100):
        assert not bucket.try_acquire()
        assert not bucket.peek()
    clock.advance(0.2)
    assert bucket.try_acquire()


def test_cost_zero_looks_and_takes_nothing(bucket):
    assert bucket.decide(0).remaining == 20 and bucket.peek(0).remaining == 20
    bucket.drain()
    assert bucket.try_acquire(0) and not bucket.try_acquire(1)
    bucket.reset()
    assert bucket.peek(0).remaining == 20


@pytest.mark.parametrize("cost", [-1, -(10**30)])
def test_a_negative_cost_is_refused(bucket, cost):
    for ask in (bucket.try_acquire, bucket.allow, bucket.decide, bucket.acquire, bucket.peek):
        with pytest.raises(ValueError, match="a cost of"):
            ask(cost)


@pytest.mark.parametrize("cost", [1.5, "1", None, [], float("nan"), True, False])
def test_a_cost_that_is_no_whole_number_is_refused(bucket, cost):
    with pytest.raises(TypeError, match="a cost is a whole number"):
        bucket.try_acquire(cost)
    assert bucket.peek(0).remaining == 20


def test_reservations_are_first_come_first_served(bucket, clock):
    bucket.drain()
    first, second = bucket.reserve(5, max_wait=10), bucket.reserve(5, "10s")
    assert (first.at, first.wait, second.wait, second.cost) == (1001.0, 1.0, 2.0, 5)
    with pytest.raises(seawall.RateLimited) as refused:
        bucket.reserve(5, timedelta(seconds=2))
    assert refused.value.retry_after == 3.0
    clock.advance(1.5)
    assert (first.wait, second.wait) == (0.0, 0.5)


def test_a_reservation_is_given_back_once(bucket):
    bucket.drain()
    reservation = bucket.reserve(5, 10)
    assert reservation.cancel() == "full"
    assert reservation.cancel() == "nothing"
    assert bucket.reserve(5, 10).wait == 1.0


def test_rate_and_capacity_change_while_it_runs(bucket, clock):
    bucket.drain()
    clock.advance(1)
    bucket.configure(rate=10, capacity=20)
    assert bucket.peek(0).remaining == 5, "the past was settled at the old rate"
    clock.advance(1)
    assert bucket.peek(0).remaining == 15
    bucket.configure(rate=10, capacity=3)
    assert bucket.peek(0).remaining == 3
    with pytest.raises(seawall.ConfigError):
        bucket.configure(rate=10, capacity=0)
    with pytest.raises(seawall.ConfigError, match="token_bucket.capacity: nothing is not allowed"):
        bucket.configure(rate=10)
    with pytest.raises(TypeError):
        bucket.configure(rat=1)
    assert bucket.peek(0).remaining == 3


def test_a_new_rate_counts_per_second_unless_it_brings_its_period(clock):
    bucket = seawall.TokenBucket(rate="60/min", capacity=100, clock=clock, start="empty")
    clock.advance(10)
    assert bucket.peek(0).remaining == 10
    bucket.configure(rate=4, capacity=100)
    clock.advance(10)
    assert bucket.peek(0).remaining == 50
    bucket.configure(rate=0.5, capacity=100)
    clock.advance(10)
    assert bucket.peek(0).remaining == 55


def test_rates_as_people_write_them(clock):
    for rate, wait in ((0.5, 2.0), ("1/min", 60.0), ("100/s", 0.01), ("1/250ms", 0.25), (4, 0.25)):
        bucket = seawall.TokenBucket(rate, 1, clock=clock)
        bucket.acquire()
        assert bucket.decide().retry_after == wait, rate
    assert seawall.TokenBucket(6, 1, period="1min", start="empty", clock=clock).decide().retry_after == 10.0


def test_a_period_that_contradicts_the_text_of_the_rate_is_refused(bucket):
    for ask in (seawall.TokenBucket, bucket.configure):
        with pytest.raises(seawall.ConfigError, match="the rate names its own period") as refused:
            ask(rate="100/min", capacity=1, period=1.0)
        assert (refused.value.field, refused.value.value) == ("period", 1.0)
    assert seawall.TokenBucket("100/min", 1, period="1min")


def test_what_configure_takes_is_what_its_signature_says(bucket):
    import inspect

    assert str(inspect.signature(bucket.configure)) == "(*, rate, capacity, period=None)"


def test_refusals_are_counted_by_reason(bucket):
    bucket.acquire(20)
    bucket.try_acquire()
    bucket.allow()
    bucket.decide(21)
    for refused in (lambda: bucket.acquire(), lambda: bucket.reserve(1, 0)):
        with pytest.raises(seawall.RateLimited):
            refused()
    bucket.peek()
    assert bucket.refusals() == {"rate_limited": 4, "exceeds_capacity": 1}


def test_threads_never_get_more_than_the_capacity(clock):
    bucket = seawall.TokenBucket(rate=1, capacity=1000, clock=clock)
    admitted = []

    def take():
        admitted.append(sum(bucket.try_acquire() for _ in range(1000)))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(admitted) == 1000


def test_a_clock_that_goes_back_admits_nobody_twice(clock):
    bucket = seawall.TokenBucket(rate=1, capacity=1, clock=clock)
    assert bucket.try_acquire()
    clock.set(990.0)
    assert not bucket.try_acquire()


def test_repr(bucket):
    assert repr(bucket) == "<TokenBucket orders: admitted; 20 left>"
    assert repr(bucket.reserve(2, 0)) == "<Reservation of 2 from orders, usable in 0.000000 s>"
    assert repr(bucket.peek()) == "<Decision: admitted; 17 left>"
