"""Whole calls: timeouts, deadlines, breaker and rate limit together, synchronous and asynchronous."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading

import pytest
import trio

import seawall
from seawall.testing import ManualClock, ManualRandom


@pytest.fixture
def policy(clock):
    """A policy under virtual time, without randomness."""

    def make(*, connect=None, attempt=None, total=None, retry=True, **options):
        if retry is True:
            retry = seawall.Retry(idempotent="yes")
        timeouts = seawall.Timeouts(connect=connect, attempt=attempt, total=total)
        return seawall.Policy(timeouts=timeouts, retry=retry, clock=clock, random=ManualRandom(), **options)

    return make


def down():
    raise ConnectionError("down")


def ending(policy, function=down, error=Exception):
    with pytest.raises(error) as raised:
        policy.call(function)
    return seawall.ending_of(raised.value)


# Timeouts.


def test_timeouts_must_be_stated_one_by_one():
    with pytest.raises(TypeError):
        seawall.Policy()
    with pytest.raises(seawall.ConfigError) as refused:
        seawall.Timeouts(connect=1, attempt=1)
    assert refused.value.field == "total"
    assert seawall.Timeouts(connect=None, attempt=None, total=None).total is None


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1, "soon", "2 days"])
def test_impossible_timeouts(value):
    with pytest.raises(seawall.ConfigError):
        seawall.Timeouts(connect=None, attempt=None, total=value)


def test_a_synchronous_attempt_knows_what_remains_and_is_no_answer_when_late(policy, clock):
    seen = []

    def slow():
        seen.append(seawall.current_attempt().remaining())
        clock.advance(2)
        return "late"

    with pytest.raises(seawall.TimedOut) as raised:
        policy(attempt=1).call(slow)
    assert seen == [1, 1, 1] and isinstance(raised.value, TimeoutError)
    assert raised.value.reason == "timed_out" and seawall.ending_of(raised.value).failure == "timeout"


def test_a_late_answer_may_be_used(policy, clock):
    assert policy(attempt=1, late="use").call(lambda: clock.advance(2) or "late") == "late"


def test_the_total_spans_all_attempts_and_pauses(policy, clock):
    def slow():
        clock.advance(0.4)
        raise ConnectionError

    with pytest.raises(TimeoutError) as raised:
        policy(total=1).call(slow)
    assert clock.now() <= 1001
    assert isinstance(raised.value.__cause__, ConnectionError)


def test_no_attempt_starts_when_less_remains_than_is_expected(policy, clock):
    with seawall.Deadline.after(1, clock=clock):
        assert policy(expected=0.5).call(int) == 0
        clock.advance(0.6)
        with pytest.raises(seawall.WontFinish) as refused:
            policy(expected=0.5).call(int)
    assert refused.value.reason == "wont_finish" and seawall.ending_of(refused.value).attempts == 0


@pytest.mark.parametrize("loop", [asyncio, trio])
def test_an_asynchronous_attempt_is_cancelled_at_its_timeout(loop):
    policy = seawall.Policy(
        timeouts=seawall.Timeouts(connect=None, attempt=0.01, total=None),
        retry=seawall.Retry(idempotent="yes", attempts=2, backoff=seawall.Backoff(base=0.001)),
    )
    cut = []

    @policy
    async def hang():
        try:
            await loop.sleep(3600)
        finally:
            cut.append(seawall.current_attempt().attempt)

    with pytest.raises(seawall.TimedOut):
        trio.run(hang) if loop is trio else asyncio.run(hang())
    assert cut == [1, 2] and policy.endings() == {"attempts_used_up": 1}


def test_a_timeout_of_an_attempt_swallows_no_cancellation_from_outside():
    policy = seawall.Policy(timeouts=seawall.Timeouts(connect=None, attempt=60, total=None))
    began = []

    @policy
    async def hang():
        began.append(1)
        await asyncio.sleep(3600)

    async def main():
        task = asyncio.ensure_future(hang())
        while not began:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        async def later():
            return "the loop goes on"

        return await later()

    assert asyncio.run(main()) == "the loop goes on"


@pytest.mark.skipif(not hasattr(asyncio.Task, "uncancel"), reason="before 3.11 cancellations are not counted")
def test_a_cancellation_from_outside_beside_the_timeout_is_not_taken_for_it():
    policy = seawall.Policy(timeouts=seawall.Timeouts(connect=None, attempt=0.01, total=None))

    @policy
    async def hang():
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            asyncio.current_task().cancel()
            raise

    async def main():
        task = asyncio.ensure_future(hang())
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    asyncio.run(main())


# Deadlines.


def test_a_nested_call_inherits_the_deadline(policy, clock):
    seen = []
    inner, outer = policy(attempt=5), policy(attempt=2)

    def nested():
        seen.append(seawall.current_attempt().remaining())

    with seawall.Deadline.after(3, clock=clock):
        inner.call(nested)
        outer.call(lambda: inner.call(nested))
    inner.call(nested)
    assert seen == [3, 2, 5] and seawall.current_deadline() is None


def test_the_earlier_of_two_deadlines_binds(clock):
    def remaining():
        return seawall.current_deadline().remaining()

    with seawall.Deadline.after(3, clock=clock) as outer:
        with seawall.Deadline.after(9, clock=clock):
            assert remaining() == 3
        with seawall.Deadline.after(1, clock=clock), outer:
            assert remaining() == 1
        assert remaining() == 3


def test_an_expired_deadline_starts_nothing(policy, clock):
    with seawall.Deadline.after(1, clock=clock):
        clock.advance(1)
        with pytest.raises(seawall.DeadlineExceeded) as refused:
            policy().call(pytest.fail)
    assert refused.value.reason == "deadline_exceeded" and isinstance(refused.value, TimeoutError)


def test_a_deadline_of_another_clock_is_refused(policy):
    with seawall.Deadline.after(1), pytest.raises(ValueError, match="another clock"):
        policy().call(int)


def test_a_block_inside_an_attempt_is_still_part_of_it(policy, clock):
    def inside():
        with seawall.Deadline.after(1, clock=clock):
            return seawall.current_attempt().attempt

    assert policy(attempt=5).call(inside) == 1


def test_the_innermost_attempt_is_the_current_one_whatever_it_is_nested_in(policy):
    plain, timed = policy(retry=None, name="plain"), policy(retry=None, attempt=5, name="timed")

    def current():
        return seawall.current_attempt().policy

    async def later():
        return current(), plain.call(current), current()

    def both(outer, inner):
        return outer.call(lambda: (current(), inner.call(current), current()))

    assert both(plain, timed) == ("plain", "timed", "plain") and both(timed, plain) == ("timed", "plain", "timed")
    assert plain.call(lambda: asyncio.run(timed.call(later))) == ("timed", "plain", "timed")
    with pytest.raises(ZeroDivisionError):
        plain.call(lambda: 1 / 0)
    assert seawall.current_attempt() is None


def test_under_greenlets_a_plain_attempt_is_in_the_context_too(policy, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "greenlet", sys)
    plain = policy(retry=None)
    assert plain.call(lambda: contextvars.copy_context().run(seawall.current_attempt).attempt) == 1
    seen = []

    def elsewhere():
        context = contextvars.copy_context()
        thread = threading.Thread(target=lambda: seen.append(context.run(seawall.current_attempt)))
        thread.start()
        thread.join()

    plain.call(elsewhere)
    assert seen[0].attempt == 1


def test_tasks_and_threads_have_deadlines_of_their_own(clock):
    async def task(span):
        with seawall.Deadline.after(span, clock=clock):
            await asyncio.sleep(0)
            return seawall.current_deadline().remaining()

    async def main():
        return await asyncio.gather(task(1), task(2))

    assert asyncio.run(main()) == [1, 2]
    seen = []
    with seawall.Deadline.after(3, clock=clock):
        bare = threading.Thread(target=lambda: seen.append(seawall.current_deadline()))
        context = contextvars.copy_context()
        handed = threading.Thread(target=lambda: seen.append(context.run(seawall.current_deadline).remaining()))
        for thread in (bare, handed):
            thread.start()
            thread.join()
    assert seen == [None, 3]


def test_a_deadline_by_hand(clock):
    deadline = seawall.Deadline.after(2, clock=clock)
    assert deadline.check(1) == 2 and deadline.at == 1002
    assert deadline.shrunk_by(0.5).remaining() == 1.5
    assert deadline.earlier(seawall.Deadline(1001, clock=clock)).at == 1001
    with pytest.raises(seawall.WontFinish):
        deadline.check(3)
    clock.advance(2)
    with pytest.raises(seawall.DeadlineExceeded):
        deadline.check()
    with pytest.raises(ValueError, match="no instant"):
        seawall.Deadline(float("inf"))


# The parts.


def test_an_open_breaker_is_final_and_says_when(policy, clock):
    breaker = seawall.CircuitBreaker(failure_threshold=1, reset_after=30, clock=clock, name="payments")
    whole = policy(breaker=breaker)
    first = ending(whole, error=ConnectionError)
    assert (first.end, first.reason, first.attempts) == ("breaker_refused", "open", 1)
    with pytest.raises(seawall.CircuitOpen) as refused:
        whole.call(pytest.fail)
    assert refused.value.policy == "payments" and refused.value.retry_after == pytest.approx(30, abs=0.01)
    assert breaker.refusals()["open"] == 2 and whole.endings() == {"breaker_refused": 2}


def test_every_attempt_is_told_to_the_breaker_and_transitions_are_heard(policy, clock):
    breaker = seawall.CircuitBreaker(failure_threshold=3, clock=clock)
    heard = []
    breaker.on_transition(heard.append)
    assert ending(policy(breaker=breaker), error=ConnectionError).attempts == 3
    assert [change.to_state for change in heard] == ["open"]


def test_own_refusals_are_no_evidence_and_not_retried(policy, clock):
    inner = seawall.CircuitBreaker(failure_threshold=1, clock=clock)
    inner.trip()
    outer = seawall.CircuitBreaker(failure_threshold=1, clock=clock)
    result = ending(policy(breaker=outer), lambda: inner.call(int), seawall.CircuitOpen)
    assert (result.attempts, result.failure, outer.state) == (1, "own_refusal", "closed")


def test_a_timeout_of_an_inner_policy_is_the_dependencys_failure(policy, clock):
    inner = policy(attempt=1, retry=None)
    breaker = seawall.CircuitBreaker(failure_threshold=1, clock=clock)
    with pytest.raises(seawall.TimedOut):
        breaker.call(inner.call, lambda: clock.advance(2))
    assert breaker.state == "open"


def test_a_rate_limit_refuses_or_is_waited_for(policy, clock):
    bucket = seawall.TokenBucket(rate=1, capacity=1, clock=clock, name="quota")
    bucket.drain()
    with pytest.raises(seawall.RateLimited) as refused:
        policy(rate_limit=bucket).call(pytest.fail)
    assert refused.value.policy == "quota" and refused.value.retry_after == 1
    assert bucket.refusals() == {"rate_limited": 1}
    assert policy(rate_limit=bucket, max_wait=2).call(int) == 0 and clock.now() == 1001


def test_what_raises_in_the_middle_gives_everything_back(policy, clock):
    breaker = seawall.CircuitBreaker(failure_threshold=1, reset_after=1, clock=clock)
    breaker.trip()
    clock.advance(2)

    def interrupted():
        assert breaker.snapshot().trials_in_flight == 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        policy(breaker=breaker).call(interrupted)
    assert breaker.snapshot().trials_in_flight == 0 and breaker.state == "half-open"


def test_an_abandoned_coroutine_gives_everything_back(policy, clock):
    breaker = seawall.CircuitBreaker(failure_threshold=1, reset_after=1, clock=clock)
    breaker.trip()
    clock.advance(2)

    @policy(breaker=breaker)
    async def hang():
        await asyncio.sleep(3600)

    async def main():
        coroutine = hang()
        coroutine.send(None)
        assert breaker.snapshot().trials_in_flight == 1
        coroutine.close()

    asyncio.run(main())
    assert breaker.snapshot().trials_in_flight == 0


def test_parts_go_by_one_clock(policy):
    with pytest.raises(TypeError, match="one clock"):
        policy(breaker=seawall.CircuitBreaker(clock=ManualClock()))


def test_a_result_after_the_end_and_one_twice_change_nothing(policy):
    whole = policy()
    running = whole._begin()
    attempt = running.next()
    running.returned(attempt, "first")
    running.returned(attempt, "second")
    assert running.next() is None
    running.raised(attempt, ValueError())
    assert whole.endings() == {}


def test_an_endless_stream_of_failures_is_bounded_by_the_budget(policy, clock):
    budget = seawall.RetryBudget(clock=clock)
    whole = policy(retry=seawall.Retry(idempotent="yes", budget=budget))
    calls = []

    def count():
        calls.append(1)
        raise ConnectionError

    for _ in range(1000):
        with pytest.raises(ConnectionError):
            whole.call(count)
    # 1000 first attempts, the 10 that the budget began with, and a tenth of what was paid in.
    assert 1100 <= len(calls) <= 1111


# Helpers.


def test_a_thousand_reconnects_spread(clock):
    def waits(random):
        link = seawall.Reconnect(seawall.Backoff(cap=60), stable_after=60, clock=clock, random=random)
        return [link.lost() for _ in range(4)]

    drawn = [waits(seed)[3] for seed in range(1000)]
    assert len({round(wait, 6) for wait in drawn}) > 990 and max(drawn) <= 0.8
    buckets = [sum(edge <= wait < edge + 0.08 for wait in drawn) for edge in (0.08 * n for n in range(10))]
    assert all(60 <= bucket <= 145 for bucket in buckets)


def test_a_connection_that_held_begins_anew(clock):
    link = seawall.Reconnect(seawall.Backoff(), stable_after=60, clock=clock, random=ManualRandom())
    assert [link.lost(), link.lost(), link.lost()] == [0.1, 0.2, 0.4]
    link.connected()
    clock.advance(59)
    assert link.lost() == 0.8
    link.connected()
    clock.advance(60)
    assert link.lost() == 0.1


def test_a_thousand_lifetimes_spread_and_never_exceed_what_was_allowed():
    drawn = [seawall.ttl(3600, 0.1, random=seed) for seed in range(1000)]
    assert all(3240 <= span <= 3600 for span in drawn) and len(set(drawn)) == 1000
    assert seawall.ttl("1h", random=ManualRandom()) == 3600
    with pytest.raises(ValueError, match="spread"):
        seawall.ttl(1, 1.5)


def test_a_thousand_schedules_spread_and_each_stays(clock):
    hourly = [seawall.Schedule(3600, seed=seed, clock=clock) for seed in range(1000)]
    phases = [schedule.phase for schedule in hourly]
    assert [sum(n * 360 <= phase < n * 360 + 360 for phase in phases) > 60 for n in range(10)] == [True] * 10
    for schedule in hourly[:10]:
        assert 0 < schedule.wait() <= 3600
        assert schedule.next(schedule.next()) - schedule.next() == pytest.approx(3600)


def test_backoff_is_what_it_says():
    backoff = seawall.Backoff(jitter="none", base="100ms", cap=1)
    assert [backoff.delay(retry) for retry in range(5)] == [0.1, 0.2, 0.4, 0.8, 1.0]
    assert backoff.ceiling(40) == 1 and not backoff.is_jittered
    assert backoff.config == {"jitter": "none", "base": 0.1, "cap": 1.0}
    with pytest.raises(seawall.ConfigError) as refused:
        seawall.Backoff(base=2, cap=1)
    assert refused.value.field == "cap"
    assert seawall.Backoff(jitter="decorrelated", random=ManualRandom()).delay(1, 0.2) == pytest.approx(0.6)


def test_after_a_fork_the_child_jitters_anew():
    import os

    backoff = seawall.Backoff()
    backoff.delay(0)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, repr([backoff.delay_ns(9) for _ in range(4)]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 200).decode() != repr([backoff.delay_ns(9) for _ in range(4)])


def test_wire_reads_and_writes_retry_after():
    from seawall import wire

    now = 784_111_777
    assert wire.parse_retry_after("120") == 120
    for date in ("Sun, 06 Nov 1994 08:50:00 GMT", "Sunday, 06-Nov-94 08:50:00 GMT", "Sun Nov  6 08:50:00 1994"):
        assert wire.parse_retry_after(date, now) == 23
    assert wire.parse_retry_after("1" + "0" * 30) > 1e9
    assert [wire.parse_retry_after(text) for text in ("soon", "-1", "1.5", "", "1e3")] == [None] * 5
    assert wire.format_retry_after(1.001) == "2" and wire.format_retry_after(0) == "1"
    assert wire.format_retry_after_date(23, now) == "Sun, 06 Nov 1994 08:50:00 GMT"
    assert wire.parse_remaining("250") == 0.25 and wire.parse_remaining("x") is None
    assert wire.format_remaining(0.25) == "250" and wire.format_remaining("999us") is None


def test_threads_share_a_policy(policy):
    whole = policy()
    results = []

    def work():
        results.append(sum(whole.call(functools.partial(int, "1")) for _ in range(500)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [500] * 4
