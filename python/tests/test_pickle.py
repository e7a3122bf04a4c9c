"""What pickles: exceptions with all they carry, objects with their configuration and a fresh state."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from conftest import trip

import seawall
from seawall.testing import ManualClock


def refuse(name):
    """Runs in another process, whose exception must come back whole."""
    bucket = seawall.TokenBucket(rate=1, capacity=1, name=name)
    bucket.drain()
    bucket.acquire()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_refusals_round_trip(make, clock, protocol):
    breaker = make(name="payments")
    breaker.trip()
    bucket = seawall.TokenBucket(rate=1, capacity=1, clock=clock)
    errors = []
    for ask in (breaker.admit, lambda: bucket.acquire(2), lambda: bucket.reserve(1, 0) and bucket.acquire()):
        with pytest.raises(seawall.Refused) as refused:
            ask()
        errors.append(refused.value)
    for error in errors:
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is type(error) and str(again) == str(error) and again.args == error.args
        for name in ("at", "at_ns", "retry_after", "reason", "policy"):
            assert getattr(again, name) == getattr(error, name)


def test_config_errors_round_trip():
    with pytest.raises(seawall.ConfigError) as refused:
        seawall.CircuitBreaker(trials=0)
    again = pickle.loads(pickle.dumps(refused.value))
    assert (str(again), again.field, again.value, again.allowed) == (str(refused.value), "trials", 0, "1 to 15")


def test_a_refusal_comes_back_from_another_process():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(seawall.RateLimited) as refused:
            pool.submit(refuse, "far").result()
    assert refused.value.policy == "far" and 0 < refused.value.retry_after <= 1


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_a_breaker_copies_its_configuration_and_starts_afresh(make, copied):
    breaker = make(
        name="payments", ignore=KeyError, is_failure=callable, retry_after_of=len, random=3, reset_after="1min"
    )
    breaker.configure(failure_threshold=1, reset_after="1min")
    breaker.trip()
    again = copied(breaker)
    assert (again.name, again.state, breaker.state) == ("payments", "closed", "open")
    assert again.__reduce__()[1][0] == {"failure_threshold": 1, "reset_after": 60_000_000_000}
    assert again.__reduce__()[1][3:] == breaker.__reduce__()[1][3:]
    assert again.__reduce__()[1][4:] == ((KeyError,), callable, None, len)


def test_what_is_copied_keeps_the_mode_as_the_breaker_does(make):
    breaker = make()
    breaker.mode = "disabled"
    breaker.configure(failure_threshold=7)
    again = pickle.loads(pickle.dumps(breaker))
    assert again.mode == "disabled" == breaker.mode
    assert again.__reduce__()[1][0].keys() == {"failure_threshold", "mode"}
    breaker.configure(mode="normal")
    assert pickle.loads(pickle.dumps(breaker)).mode == "normal"


@pytest.mark.parametrize("nanoseconds", [0, 1, 2**53 + 1, 1_700_000_000_123_456_789, 2**64 - 1])
@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_a_clock_by_hand_copies_to_the_nanosecond(copied, nanoseconds):
    clock = ManualClock()
    clock.set_ns(nanoseconds)
    again = copied(clock)
    assert again.now_ns() == nanoseconds
    again.set_ns(5)
    assert clock.now_ns() == nanoseconds, "and moves by itself"


def test_a_bucket_likewise():
    bucket = seawall.TokenBucket(rate="60/min", capacity=3, name="orders")
    bucket.drain()
    again = pickle.loads(pickle.dumps(bucket))
    assert again.name == "orders" and again.peek(0).remaining == 3
    assert again.__reduce__()[1][0] == {"period": 60_000_000_000, "rate": 60, "capacity": 3}


def test_a_copy_in_a_copy(make):
    breaker = make()
    trip(breaker)
    assert pickle.loads(pickle.dumps({"a": [breaker]}))["a"][0].state == "closed"
