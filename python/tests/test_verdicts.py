"""What counts as a failure, and what never does."""

from __future__ import annotations

import asyncio
import builtins
import datetime

import pytest
from conftest import fail

import seawall


def groups(name, *errors):
    """A group of exceptions, where the interpreter has them (3.11 and later)."""
    return [getattr(builtins, name)("group", list(errors))] if hasattr(builtins, name) else []


def failures(breaker):
    return breaker.snapshot().failed


def raising(breaker, error):
    with pytest.raises(type(error)) as raised:
        breaker.call(fail, error)
    assert raised.value is error, "the exception is the caller's own"


def test_every_exception_is_a_failure_by_default(make):
    breaker = make(failure_threshold=100)
    for error in (ValueError(), TimeoutError(), OSError(), *groups("ExceptionGroup", ValueError(), OSError())):
        before = failures(breaker)
        raising(breaker, error)
        assert failures(breaker) == before + 1


@pytest.mark.parametrize(
    "error",
    [
        asyncio.CancelledError(),
        KeyboardInterrupt(),
        SystemExit(1),
        GeneratorExit(),
        StopIteration(),
        StopAsyncIteration(),
        *groups("BaseExceptionGroup", asyncio.CancelledError()),
        seawall.CircuitOpen("other: open", "other", "open"),
        seawall.RateLimited("bucket: limited", "bucket", "rate_limited"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_control_flow_and_own_refusals_never_count_and_pass_through(make, error):
    breaker = make(failure_threshold=1, is_failure=lambda error: True)
    raising(breaker, error)
    assert breaker.state == "closed" and failures(breaker) == 0
    with pytest.raises(type(error)), breaker:
        raise error
    with pytest.raises(type(error)), breaker.admit():
        raise error
    assert breaker.state == "closed" and failures(breaker) == 0


REFUSED = seawall.RateLimited("bucket: limited", "bucket", "rate_limited")
CANCELLED = asyncio.CancelledError()


@pytest.mark.parametrize(
    "error",
    [
        *groups("ExceptionGroup", REFUSED),
        *groups("ExceptionGroup", REFUSED, *groups("ExceptionGroup", REFUSED, REFUSED)),
        *groups("BaseExceptionGroup", CANCELLED, *groups("ExceptionGroup", REFUSED)),
    ],
    ids=repr,
)
def test_a_group_of_nothing_but_refusals_and_cancellations_counts_for_nothing(make, error):
    breaker = make(failure_threshold=1, is_failure=lambda error: True)
    raising(breaker, error)
    assert breaker.state == "closed" and failures(breaker) == 0


@pytest.mark.parametrize(
    "error",
    [
        *groups("ExceptionGroup", REFUSED, OSError()),
        *groups("BaseExceptionGroup", CANCELLED, OSError()),
        *groups(
            "BaseExceptionGroup", CANCELLED, *groups("ExceptionGroup", REFUSED, *groups("ExceptionGroup", OSError()))
        ),
    ],
    ids=repr,
)
def test_a_group_with_anything_else_in_it_is_a_failure(make, error):
    breaker = make(failure_threshold=1)
    raising(breaker, error)
    assert breaker.state == "open"


@pytest.mark.skipif(not hasattr(builtins, "ExceptionGroup"), reason="no groups before Python 3.11")
def test_a_group_may_be_nested_without_end(make):
    error = OSError()
    for _ in range(100_000):
        error = builtins.ExceptionGroup("group", [error])
    breaker = make(failure_threshold=1)
    with pytest.raises(builtins.ExceptionGroup):
        breaker.call(fail, error)
    assert breaker.state == "open"
    while isinstance(error, builtins.ExceptionGroup):  # from the outside in, not to end it by recursion
        error = error.exceptions[0]


def test_ignored_classes_count_for_nothing(make):
    breaker = make(ignore=(LookupError, ValueError))
    raising(breaker, ConnectionError())
    for _ in range(5):
        raising(breaker, KeyError())
        raising(breaker, ValueError())
    assert failures(breaker) == 1, "neither a failure nor a success that would end the row"
    assert failures(make(ignore=KeyError)) == 0, "one class need not be a tuple"


def test_ignore_takes_exception_classes_only(make):
    for wrong in (5, [5], "ValueError", int):
        with pytest.raises(TypeError):
            make(ignore=wrong)


def test_a_predicate_decides_about_exceptions(make):
    breaker = make(is_failure=lambda error: not isinstance(error, ValueError))
    for _ in range(5):
        raising(breaker, ValueError())
    assert failures(breaker) == 0
    raising(breaker, OSError())
    raising(breaker, OSError())
    assert breaker.state == "open"


def test_an_exception_that_is_no_failure_is_an_answer_and_so_a_success(make, clock):
    breaker = make(is_failure=lambda error: not isinstance(error, ValueError), ignore=KeyError)
    for between, state in ((ValueError(), "closed"), (KeyError(), "open")):
        breaker.reset()
        raising(breaker, OSError())
        raising(breaker, between)
        raising(breaker, OSError())
        assert breaker.state == state, "a success ends the row of failures; what is ignored does not"
    clock.advance(10.1)
    raising(breaker, KeyError())
    assert breaker.state == "half-open"
    raising(breaker, ValueError())
    assert breaker.state == "closed", "the trial has succeeded"


class Unavailable(Exception):
    def __init__(self, retry_after):
        self.retry_after = retry_after


def waits(breaker):
    with pytest.raises(seawall.CircuitOpen) as refused:
        breaker.admit()
    return refused.value.retry_after


@pytest.mark.parametrize("told", [120, 120.0, "2min", "120", datetime.timedelta(minutes=2)], ids=repr)
def test_a_guarded_call_passes_on_what_the_server_said(make, told):
    breaker = make(retry_after_of=lambda error: error.retry_after)
    raising(breaker, Unavailable(told))
    assert 120 <= waits(breaker) < 120.01
    assert breaker.snapshot().cause == "retry_after"

    breaker = make(retry_after_of=lambda error: error.retry_after)
    with pytest.raises(Unavailable):
        asyncio.run(breaker(as_coroutine)(Unavailable(told)))
    assert 120 <= waits(breaker) < 120.01

    breaker = make(is_failure_result=lambda answer: answer[0] == 503, retry_after_of=lambda answer: answer[1])
    assert breaker.call(lambda: (200, told)) == (200, told)
    assert breaker.state == "closed", "asked of failures only"
    assert breaker.call(lambda: (503, told)) == (503, told)
    assert 120 <= waits(breaker) < 120.01


async def as_coroutine(error):
    raise error


@pytest.mark.parametrize(
    "told",
    [None, 0, -3, float("nan"), True, "", "soon", "-5", "1.5", "²", "Wed, 21 Oct 2026 07:28:00 GMT", [], b"120"],
    ids=repr,
)
def test_an_answer_that_makes_no_sense_is_a_plain_failure(make, told, caplog):
    breaker = make(retry_after_of=lambda error: error.retry_after)
    raising(breaker, Unavailable(told))
    assert breaker.state == "closed" and failures(breaker) == 1
    assert not caplog.records


def test_digits_without_end_are_cut_to_the_cap(make):
    breaker = make(retry_after_of=lambda error: error.retry_after, max_retry_after="5min")
    raising(breaker, Unavailable("9" * 400))
    assert 299 < waits(breaker) < 300.01


def test_retry_after_of_is_not_asked_of_what_is_no_failure(make):
    asked = []
    breaker = make(retry_after_of=asked.append, ignore=KeyError, is_failure=lambda error: isinstance(error, OSError))
    for error in (KeyError(), ValueError(), asyncio.CancelledError()):
        raising(breaker, error)
    breaker.call(int)
    assert asked == []
    error = OSError()
    raising(breaker, error)
    assert asked == [error]


def test_retry_after_of_that_raises_is_logged_and_a_plain_failure(make, caplog):
    breaker = make(retry_after_of=lambda error: error.missing)
    raising(breaker, OSError("the call's own"))
    assert breaker.state == "closed" and failures(breaker) == 1
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "circuit_breaker: a predicate raised"
    ]


def test_a_predicate_decides_about_results(make):
    breaker = make(is_failure_result=lambda status: status >= 500)
    assert [breaker.call(int, status) for status in (503, 200, 503, 503)] == [503, 200, 503, 503]
    assert breaker.state == "open"


def test_the_same_rules_hold_for_trials(make, clock):
    breaker = make(ignore=ValueError)
    breaker.trip()
    clock.advance(10.1)
    raising(breaker, ValueError())
    assert breaker.state == "half-open", "ignored: the place of the trial is free again"
    raising(breaker, OSError())
    assert breaker.state == "open"


def test_a_predicate_that_raises_counts_as_if_it_were_not_there(make, caplog):
    def broken(_):
        raise RuntimeError("broken predicate")

    breaker = make(is_failure=broken, is_failure_result=broken)
    assert breaker.call(int, 5) == 5, "the result is not lost"
    assert failures(breaker) == 0
    raising(breaker, OSError("the call's own"))
    raising(breaker, OSError("the call's own"))
    assert breaker.state == "open"
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "circuit_breaker: a predicate raised"
    ] * 3


def test_an_interrupt_in_a_predicate_is_not_swallowed_and_loses_no_trial(make, clock):
    def interrupted(_):
        raise KeyboardInterrupt

    breaker = make(is_failure=interrupted, is_failure_result=interrupted)
    breaker.trip()
    clock.advance(10.1)
    for call in (int, fail):
        with pytest.raises(KeyboardInterrupt):
            breaker.call(call)
        assert breaker.snapshot().trials_in_flight == 0
    assert breaker.state == "half-open"


def test_slow_calls_count_when_asked_for(make, clock):
    breaker = make(slow_after="200ms")

    def slow():
        clock.advance(0.3)

    breaker.call(slow)
    breaker.call(slow)
    assert breaker.state == "open"


def by_hand(breaker):
    return breaker.admit().success


def as_coroutines_do(breaker):
    grant = breaker._enter()
    return lambda: breaker._returned(grant, None)


@pytest.mark.parametrize("begin", [by_hand, as_coroutines_do])
def test_a_call_that_began_before_slowness_counted_is_not_slow(make, clock, begin):
    """A clean admission reads no clock, so that nothing is known of when it began."""
    breaker = make(failure_threshold=1)
    breaker.call(int)
    end = begin(breaker)
    breaker.configure(failure_threshold=1, slow_after="1ms")
    clock.advance(60)
    end()
    assert breaker.state == "closed"
