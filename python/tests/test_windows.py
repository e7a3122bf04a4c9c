"""Windows of more than 20 calls, and of time."""

from __future__ import annotations

import pickle
from datetime import timedelta

import pytest
from conftest import fail

import seawall


def calls(breaker, good=0, bad=0):
    for _ in range(good):
        breaker.call(int)
    for _ in range(bad):
        with pytest.raises(ConnectionError):
            breaker.call(fail)


def counts(breaker):
    snapshot = breaker.snapshot()
    return snapshot.calls, snapshot.failed


def test_the_last_hundred_calls_are_judged(make):
    breaker = make(window=100, minimum_calls=100)
    calls(breaker, good=150)
    assert counts(breaker) == (100, 0)
    calls(breaker, bad=49)
    assert (breaker.state, counts(breaker)) == ("closed", (100, 49))
    calls(breaker, bad=1)
    assert breaker.state == "open"


@pytest.mark.parametrize("window", ["10s", timedelta(seconds=10), "10000 ms"], ids=repr)
def test_the_calls_of_ten_seconds_are_judged(make, clock, window):
    breaker = make(window=window)
    calls(breaker, good=7)
    clock.advance(5)
    calls(breaker, good=3, bad=6)
    assert counts(breaker) == (16, 6)
    clock.advance(5)
    assert counts(breaker) == (9, 6), "the first seven have left"
    calls(breaker, good=1)
    assert breaker.state == "open", "six of ten"


def test_a_span_may_be_stated_by_its_own_name():
    for options in ({"window": "60s"}, {"window_span": 60}, {"window_span": timedelta(minutes=1)}):
        assert seawall.CircuitBreaker(**options).__reduce__()[1][0] == {"window_span": 60 * 10**9}


def test_it_changes_from_one_window_to_any_other_while_it_runs(make):
    breaker = make(window=1024, minimum_calls=1000)
    calls(breaker, good=30, bad=10)
    breaker.configure(window=200, minimum_calls=200)
    assert counts(breaker) == (40, 10)
    breaker.configure(window="60s", buckets=60, minimum_calls=100)
    calls(breaker, good=2, bad=1)
    assert counts(breaker) == (3, 1)
    breaker.configure(window="1 d", minimum_calls=100)
    assert counts(breaker) == (0, 0), "buckets of another width begin anew"


def test_a_breaker_with_a_window_of_time_pickles():
    breaker = pickle.loads(pickle.dumps(seawall.CircuitBreaker(window="60s", buckets=20)))
    assert breaker.__reduce__()[1][0] == {"window_span": 60 * 10**9, "buckets": 20}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 1025}, "circuit_breaker.window: 1025 is not allowed; allowed are 2 to 1024"),
        ({"window": 100.5}, "circuit_breaker.window: a fraction is not allowed; allowed are 2 to 1024"),
        ({"window": "5ms"}, "circuit_breaker.window_span: 5 ms is not allowed; allowed are 10 ms to 24 h"),
        ({"window": timedelta(days=2)}, "circuit_breaker.window_span: 2 d is not allowed; allowed are 10 ms to 24 h"),
        (
            {"window": timedelta(seconds=-1)},
            "circuit_breaker.window: a negative number is not allowed; allowed are 2 to 1024",
        ),
        (
            {"window": 20, "window_span": 60},
            "circuit_breaker.window: 20 is not allowed; it must be left out (window_span is given)",
        ),
    ],
    ids=repr,
)
def test_what_is_no_window_is_refused(options, message):
    with pytest.raises(seawall.ConfigError) as refused:
        seawall.CircuitBreaker(**options)
    assert str(refused.value) == message
