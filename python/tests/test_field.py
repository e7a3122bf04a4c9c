"""What broke in other people's libraries and must be impossible here: one test per public report.

The names say which: library, issue, and what happens here instead.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import inspect
import pickle
import sys
import threading
import weakref
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from conftest import fail, trip

import seawall

# --- found by running the published packages ---


def test_pybreaker_3_no_lock_is_held_across_the_users_call(make):
    breaker = make()
    meet = threading.Barrier(5)
    threads = [threading.Thread(target=breaker.call, args=(meet.wait, 10)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not meet.broken and breaker.snapshot().failed == 0


def test_pybreaker_7_a_failing_coroutine_function_opens_it(make, run):
    breaker = make()

    @breaker
    async def failing():
        raise OSError

    async def main():
        for _ in range(2):
            with pytest.raises(OSError):
                await failing()
        with pytest.raises(seawall.CircuitOpen):
            await failing()

    run(main)


def test_pybreaker_keyboard_interrupt_neither_opens_nor_is_replaced(make):
    breaker = make(failure_threshold=1)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            breaker.call(fail, KeyboardInterrupt())
    assert breaker.state == "closed"


@pytest.mark.parametrize("trials", [1, 3])
def test_circuitbreaker_purgatory_hyx_fifty_calls_after_the_reset_period_are_not_all_let_through(make, clock, trials):
    breaker = make(trials=trials)
    trip(breaker)
    clock.advance(10.1)
    started = []

    async def work():
        started.append(1)
        await asyncio.sleep(0)

    async def main():
        return await asyncio.gather(*(breaker(work)() for _ in range(50)), return_exceptions=True)

    results = asyncio.run(main())
    assert len(started) == trials
    assert sum(isinstance(result, seawall.CircuitOpen) for result in results) == 50 - trials


def test_circuitbreaker_no_registry_keeps_breakers_alive(make):
    references = [weakref.ref(make(name=str(number))) for number in range(1000)]
    gc.collect()
    assert not any(reference() for reference in references)


def test_hyx_limiters_are_usable_at_module_level_without_an_event_loop():
    assert seawall.TokenBucket(rate=1, capacity=1).try_acquire()
    assert seawall.CircuitBreaker().call(int) == 0


def test_pyrate_limiter_156_fifty_limiters_start_no_threads():
    before = threading.active_count()
    limiters = [seawall.TokenBucket(rate=1, capacity=1) for _ in range(300)]
    assert all(limiter.try_acquire() for limiter in limiters)
    assert threading.active_count() == before


def test_opossum_a_call_from_before_the_trip_does_not_close_a_half_open_breaker(make, clock):
    breaker = make()
    early = breaker.admit()
    trip(breaker)
    clock.advance(10.1)
    assert breaker.state == "half-open"
    assert early.success() == "stale"
    assert breaker.state == "half-open" and breaker.snapshot().trials_succeeded == 0


def test_opossum_own_refusals_never_feed_the_statistics(make):
    bucket = seawall.TokenBucket(rate=1, capacity=1)
    breaker = make(failure_threshold=1)
    guarded = breaker(bucket.acquire)
    guarded()
    for _ in range(4):
        with pytest.raises(seawall.RateLimited):
            guarded()
    assert breaker.state == "closed"


def test_opossum_the_instant_of_opening_is_exact_and_exportable(make, clock):
    breaker = make()
    clock.advance(123.456)
    trip(breaker)
    assert breaker.snapshot().changed_at == pytest.approx(1123.456, abs=1e-5)


# --- what people ask for and complain of ---


def test_tenacity_529_a_predicate_that_says_yes_to_everything_never_sees_cancellation(make):
    seen = []
    breaker = make(is_failure=lambda error: seen.append(error) or True)

    async def main():
        task = asyncio.create_task(breaker(asyncio.sleep)(60))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task

    assert asyncio.run(main()).cancelled() and not seen


def test_tenacity_63_64_66_138_generators_and_async_generators_are_guarded(make, run):
    breaker = make(failure_threshold=100)

    @breaker
    def numbers():
        yield 1
        raise OSError

    @breaker
    async def ticks():
        yield 1
        raise OSError

    async def main():
        with pytest.raises(OSError):
            [tick async for tick in ticks()]

    with pytest.raises(OSError):
        list(numbers())
    run(main)
    assert breaker.snapshot().failed == 2


class AsyncClient:
    async def __call__(self):
        raise OSError


def test_tenacity_pr657_a_partial_over_an_async_callable_leaks_no_coroutine(make, run, recwarn):
    breaker = make()
    call = breaker(functools.partial(AsyncClient()))
    assert inspect.iscoroutinefunction(call)
    for _ in range(2):
        with pytest.raises(OSError):
            run(call)
    assert breaker.state == "open"
    with pytest.raises(seawall.CircuitOpen):
        run(call)
    gc.collect()
    assert not [warning for warning in recwarn if "never awaited" in str(warning.message)]


@pytest.mark.skipif(not hasattr(inspect, "markcoroutinefunction"), reason="an interpreter before 3.12")
def test_tenacity_pr657_a_function_marked_as_a_coroutine_function_is_one(make, run):
    async def failing():
        raise OSError

    @make(failure_threshold=1)
    @inspect.markcoroutinefunction
    def marked():
        return failing()

    assert inspect.iscoroutinefunction(marked)
    with pytest.raises(OSError):
        run(marked)
    with pytest.raises(seawall.CircuitOpen):
        run(marked)


def test_tenacity_288_names_and_signatures_survive(make):
    @make()
    async def fetch(url: str, *, retries: int = 3) -> bytes:
        """Fetches."""

    assert fetch.__name__ == "fetch" and fetch.__doc__ == "Fetches."
    assert list(inspect.signature(fetch).parameters) == ["url", "retries"]
    assert inspect.iscoroutinefunction(fetch)


guard = seawall.CircuitBreaker(name="workers")


class Worker:
    breaker = guard

    @guard
    def work(self, x):
        return x * 2


def test_tenacity_147_429_a_decorated_method_goes_through_a_process_pool():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(Worker().work, 21).result() == 42


def test_tenacity_182_every_exception_pickles():
    for error in (
        seawall.SeawallError("x"),
        seawall.Refused("m", "p", "r", 5, 0.5),
        seawall.CircuitOpen("m", "p", "open", 5, 0.5),
        seawall.RateLimited("m", "p", "rate_limited"),
        seawall.ConfigError("a.b: 0 is not allowed; allowed are 1 to 2", "b", 0),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and again.args == error.args and vars(again) == vars(error)
        assert str(copy.copy(error)) == str(error)


def test_stamina_54_the_disabled_mode_is_identity(make):
    breaker = make(mode="disabled")
    calls = []
    assert breaker.call(lambda: calls.append(1) or "ok") == "ok" and calls == [1]


def test_pybreaker_7_103_104_one_breaker_for_sync_and_async(make, run):
    breaker = make()

    async def main():
        with pytest.raises(OSError):
            async with breaker:
                raise OSError

    run(main)
    with pytest.raises(ConnectionError):
        breaker.call(fail)
    assert breaker.state == "open"


def test_pybreaker_96_one_lucky_success_does_not_close_it_when_more_are_asked_for(make, clock):
    breaker = make(trials=3, close_after=3)
    trip(breaker)
    clock.advance(10.1)
    for _ in range(2):
        breaker.call(int)
        assert breaker.state == "half-open"
    breaker.call(int)
    assert breaker.state == "closed"


def test_pybreaker_24_26_a_new_object_disturbs_no_other(make):
    breaker = make(name="shared")
    trip(breaker)
    until = breaker.snapshot().until
    make(name="shared")
    pickle.loads(pickle.dumps(breaker))
    assert (breaker.state, breaker.snapshot().until) == ("open", until)


def test_aiobreaker_the_clock_is_monotonic_and_has_no_time_zone(monkeypatch):
    """The open period is measured on the clock of `time.monotonic`, whatever the wall clock shows."""
    import time

    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    breaker = seawall.CircuitBreaker(reset_after=30)
    before = time.monotonic()
    change = breaker.trip()
    assert before <= change.at <= time.monotonic()
    assert 30 <= change.until - change.at < 30.01
    monkeypatch.undo()
    time.tzset()


def test_circuitbreaker_4_an_async_function_is_not_taken_for_a_success(make, run):
    breaker = make(failure_threshold=1)

    async def failing():
        raise OSError

    async def main():
        with pytest.raises(OSError):
            await breaker.call(failing)

    run(main)
    assert breaker.state == "open"


def test_pyo3_576_a_subinterpreter_is_refused_with_a_clear_error():
    interpreters = pytest.importorskip("_xxsubinterpreters")
    name = interpreters.create()
    code = f"""
import sys
sys.path = {sys.path!r}
try:
    import seawall
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("imported")
"""
    try:
        interpreters.run_string(name, code)
    finally:
        interpreters.destroy(name)


def test_napi_and_tokenizers_no_threads_to_deadlock_after_a_fork(make):
    """See test_fork.py for what the child finds; there is no thread that it could miss."""
    before = threading.active_count()
    make().trip()
    assert threading.active_count() == before


# --- rate limits ---


def test_aiolimiter_90_two_per_ten_seconds_and_their_burst_are_what_they_say(clock):
    """A bucket admits its capacity at once, and in any span T at most `capacity + rate * T`."""
    bucket = seawall.TokenBucket(rate="2/10s", capacity=2, clock=clock)
    admitted = 0
    for _ in range(50):
        admitted += bucket.try_acquire()
        clock.advance(0.1)
    assert admitted == 2, "in five seconds: the two at once, and the third only after five"
    assert bucket.try_acquire()


def test_slowapi_2_no_double_burst_at_a_boundary(clock):
    bucket = seawall.TokenBucket(rate=10, capacity=10, clock=clock)
    clock.advance(0.999)
    first = sum(bucket.try_acquire() for _ in range(100))
    clock.advance(0.002)
    assert (first, sum(bucket.try_acquire() for _ in range(100))) == (10, 0)


def test_redis_cell_56_seconds_are_rounded_up(clock):
    bucket = seawall.TokenBucket(rate="10/s", capacity=1, clock=clock)
    bucket.acquire()
    assert bucket.allow() == (False, 1)
    clock.advance(1)
    assert bucket.allow() == (True, 0)


def test_kumomta_pr282_never_is_not_zero(clock):
    bucket = seawall.TokenBucket(rate=1, capacity=1, clock=clock)
    assert bucket.allow(2) == (False, None) and bucket.decide(2).retry_after is None


def test_urllib3_pr3743_a_huge_retry_after_is_capped(make):
    breaker = make()
    breaker.admit().failure(retry_after=9_999_999_999)
    assert breaker.snapshot().until <= 1000 + 3600.01


def test_pydantic_ai_7065_a_negative_retry_after_is_an_ordinary_failure(make):
    breaker = make()
    assert breaker.admit().failure(retry_after=-5) == "counted" and breaker.state == "closed"


def test_express_rate_limit_648_a_wrong_option_is_refused_at_construction():
    with pytest.raises(seawall.ConfigError):
        seawall.TokenBucket(rate=float("nan"), capacity=1)


def test_limits_a_bucket_has_one_size_however_much_it_is_used(clock):
    bucket = seawall.TokenBucket(rate=1000, capacity=1000, clock=clock)
    before = sys.getsizeof(bucket)
    for _ in range(1000):
        bucket.try_acquire()
    assert sys.getsizeof(bucket) == before < 1024


# --- from elsewhere, as Python sees it ---


def test_resilience4j_2209_a_predicate_that_throws_loses_no_call(make, clock):
    def broken(_):
        raise RuntimeError

    breaker = make(is_failure=broken, is_failure_result=broken)
    trip(breaker)
    clock.advance(10.1)
    assert breaker.call(int) == 0
    assert breaker.state == "closed"


def test_resilience4j_544_polly_1979_an_ignored_trial_gives_its_place_back(make, clock):
    breaker = make(ignore=KeyError)
    trip(breaker)
    for _ in range(3):
        clock.advance(10.1)
        with pytest.raises(KeyError):
            breaker.call(fail, KeyError())
        assert breaker.snapshot().trials_in_flight == 0
    breaker.call(int)
    assert breaker.state == "closed"


def test_gobreaker_49_a_refusal_of_a_half_open_breaker_says_why_and_when(make, clock):
    breaker = make(trial_timeout=5)
    trip(breaker)
    clock.advance(10.1)
    trial = breaker.admit()
    with pytest.raises(seawall.CircuitOpen) as refused:
        breaker.admit()
    assert refused.value.reason == "trials_busy" and 5 <= refused.value.retry_after < 5.01
    assert "all its trials are out" in str(refused.value)
    del trial


def test_resilience4j_2243_a_listener_that_was_removed_is_kept_by_nobody(make):
    class Listener:
        def __call__(self, change): ...

    breaker, listener = make(), Listener()
    gone = weakref.ref(listener)
    breaker.on_transition(listener)
    breaker.off_transition(listener)
    del listener
    gc.collect()
    assert gone() is None
