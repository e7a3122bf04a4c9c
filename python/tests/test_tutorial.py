"""The tutorial entry points simply work, and the known defects of the tutorials are mended."""

from __future__ import annotations

import threading

import pytest
from conftest import fail, trip

import seawall


def test_circuit_breaker_of_the_tutorial(clock):
    breaker = seawall.CircuitBreaker(failure_threshold=5, reset_after=30.0, clock=clock)
    for _ in range(5):
        assert breaker.state == "closed"
        with pytest.raises(ConnectionError):
            breaker.call(fail)
    assert breaker.state == "open"
    calls = []
    with pytest.raises(seawall.CircuitOpen):
        breaker.call(calls.append, 1)
    assert calls == [], "no remote call while open"
    clock.advance(30.1)
    assert breaker.state == "half-open"
    with pytest.raises(ConnectionError):
        breaker.call(fail)
    assert breaker.state == "open", "a failed trial reopens it"
    clock.advance(30.1)
    assert breaker.call(lambda: "ok") == "ok"
    assert breaker.state == "closed"
    assert breaker.snapshot().failed == 0, "and the counter starts at zero"


def test_defaults_are_five_failures_and_thirty_seconds(clock):
    breaker = seawall.CircuitBreaker(clock=clock)
    trip(breaker, 5)
    with pytest.raises(seawall.CircuitOpen) as refused:
        breaker.admit()
    assert 30.0 <= refused.value.retry_after < 30.01
    assert refused.value.at == pytest.approx(clock.now() + refused.value.retry_after)


def test_arguments_pass_through(make):
    def authorise(order, amount, *, timeout):
        return order, amount, timeout

    assert make().call(authorise, 7, amount=3, timeout=2.0) == (7, 3, 2.0)


def test_half_open_admits_one_trial_however_many_ask(make, clock):
    breaker = make()
    trip(breaker)
    clock.advance(10.1)
    start, admitted = threading.Barrier(8), []

    def ask():
        start.wait()
        try:
            admitted.append(breaker.admit())
        except seawall.CircuitOpen as refused:
            assert refused.reason == "trials_busy"

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 1 and admitted[0].trial


def test_a_late_success_from_before_the_trip_does_not_close_it(make):
    breaker = make()
    early = breaker.admit()
    trip(breaker)
    assert early.success() == "stale"
    assert breaker.state == "open"


def test_a_trial_that_never_returns_expires(make, clock):
    breaker = make(trial_timeout=5)
    trip(breaker)
    clock.advance(10.1)
    lost = breaker.admit()
    with pytest.raises(seawall.CircuitOpen):
        breaker.admit()
    clock.advance(5.1)
    with breaker.admit() as permit:
        assert permit.trial
    assert breaker.state == "closed"
    assert lost.failure() == "stale"


def test_minimum_calls_before_a_rate_counts(make):
    breaker = make(failure_rate=0.5, minimum_calls=10)
    for _ in range(9):
        with pytest.raises(ConnectionError):
            breaker.call(fail)
    assert breaker.state == "closed"
    with pytest.raises(ConnectionError):
        breaker.call(fail)
    assert breaker.state == "open"


def test_token_bucket_of_the_tutorial(clock):
    bucket = seawall.TokenBucket(rate=5, capacity=20, clock=clock)
    assert [bucket.allow() for _ in range(20)] == [(True, 0)] * 20
    assert bucket.allow() == (False, 1), "whole seconds for the header, never zero"
    assert bucket.allow(cost=11) == (False, 3), "11 tokens take 2.2 s, rounded up"
    clock.advance(0.2)
    assert bucket.allow() == (True, 0)


def test_a_cost_above_the_capacity_is_never_not_later(clock):
    bucket = seawall.TokenBucket(rate=5, capacity=20, clock=clock)
    assert bucket.allow(cost=21) == (False, None)
    assert bucket.allow(cost=10**30) == (False, None)
    assert bucket.allow(cost=20) == (True, 0), "and nothing was taken"


@pytest.mark.parametrize("rate", [0, 0.0, "0/s", -1, float("nan"), float("inf")])
def test_a_rate_of_nothing_is_refused(rate):
    with pytest.raises(seawall.ConfigError):
        seawall.TokenBucket(rate=rate, capacity=20)
    bucket = seawall.TokenBucket(rate=5, capacity=20)
    with pytest.raises(seawall.ConfigError):
        bucket.configure(rate=rate, capacity=20)
