"""`with breaker:`, `async with breaker:` and permits settled by hand."""

from __future__ import annotations

import asyncio
import threading

import pytest

import seawall


def test_a_block_is_judged_by_how_it_ends(make):
    breaker = make()
    with breaker as permit:
        assert isinstance(permit, seawall.Permit) and not permit.settled
    assert permit.settled
    for _ in range(2):
        with pytest.raises(OSError), breaker:
            raise OSError
    assert breaker.state == "open"
    with pytest.raises(seawall.CircuitOpen), breaker:
        pytest.fail("not entered")


def test_an_async_block_likewise(make, run):
    breaker = make()

    async def main():
        async with breaker as permit:
            assert isinstance(permit, seawall.Permit)
        async with breaker.admit() as permit:
            pass
        assert permit.settled
        for _ in range(2):
            with pytest.raises(OSError):
                async with breaker:
                    raise OSError
        with pytest.raises(seawall.CircuitOpen):
            async with breaker:
                pytest.fail("not entered")

    run(main)
    assert breaker.state == "open"


def test_a_block_may_settle_its_permit_itself(make):
    breaker = make()
    with breaker as permit:
        permit.failure()
    with pytest.raises(OSError), breaker.admit() as permit:
        permit.success()
        raise OSError
    assert breaker.snapshot().failed == 0


def test_blocks_nest(make, clock):
    outer, inner = make(name="outer"), make(name="inner")
    with outer, inner, outer:
        pass
    with pytest.raises(OSError), outer, inner:
        raise OSError
    assert (outer.snapshot().failed, inner.snapshot().failed) == (1, 1)


def test_blocks_may_end_in_another_order_than_they_began(make):
    """As those of interleaved generators do."""
    first, second = make(name="first"), make(name="second")
    one, two = first.__enter__(), second.__enter__()
    assert first.__exit__(None, None, None) is False
    assert one.settled and not two.settled
    assert second.__exit__(OSError, OSError(), None) is False
    assert two.settled and second.snapshot().failed == 1


def test_blocks_of_tasks_do_not_mix(make, clock):
    breaker = make(window=20)

    async def one(first, second, fails):
        async with breaker as permit:
            first.set()
            await second.wait()
            if fails:
                raise OSError
        return permit

    async def main():
        a, b = asyncio.Event(), asyncio.Event()
        good, bad = await asyncio.gather(one(a, b, False), one(b, a, True), return_exceptions=True)
        assert good.settled and isinstance(bad, OSError)

    asyncio.run(main())
    assert (breaker.snapshot().calls, breaker.snapshot().failed) == (2, 1)


def test_blocks_of_threads_do_not_mix(make):
    breaker = make(failure_threshold=10)
    permits, meet = [], threading.Barrier(2)

    def one():
        with breaker as permit:
            meet.wait()
            permits.append(permit)
            meet.wait()
            assert not permit.settled
            meet.wait()
        assert permit.settled

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert permits[0] is not permits[1]


def test_a_task_started_inside_a_block_has_blocks_of_its_own(make):
    breaker = make()

    async def child():
        async with breaker as permit:
            await asyncio.sleep(0)
        return permit

    async def main():
        async with breaker as outer:
            task = asyncio.create_task(child())
            inner = await task
            assert inner.settled and not outer.settled
        assert outer.settled

    asyncio.run(main())


def test_cancelling_an_async_block_is_no_verdict_and_is_not_swallowed(make, clock):
    breaker = make()
    breaker.trip()
    clock.advance(10.1)

    async def main():
        async def work():
            async with breaker:
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        assert breaker.snapshot().trials_in_flight == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    asyncio.run(main())
    assert breaker.snapshot().trials_in_flight == 0 and breaker.state == "half-open"


def test_cancelling_under_trio_likewise(make, clock):
    import trio

    breaker = make()
    breaker.trip()
    clock.advance(10.1)

    @breaker
    async def work():
        await trio.sleep_forever()

    async def main():
        with trio.CancelScope() as scope:
            scope.cancel()
            await work()
        assert scope.cancelled_caught

    trio.run(main)
    assert breaker.snapshot().trials_in_flight == 0 and breaker.state == "half-open"


def test_a_timeout_inside_is_a_failure_and_one_outside_is_not(make):
    breaker = make()

    async def slow():
        await asyncio.sleep(60)

    async def main():
        async def with_timeout():
            await asyncio.wait_for(slow(), 0.001)

        with pytest.raises(asyncio.TimeoutError):
            await breaker(with_timeout)()
        assert breaker.snapshot().failed == 1
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(breaker(slow)(), 0.001)
        assert breaker.snapshot().failed == 1

    asyncio.run(main())


def test_a_permit_is_settled_once(make):
    breaker = make()
    permit = breaker.admit()
    assert permit.failure() == "counted"
    assert permit.failure() == "stale" and permit.success() == "stale" and permit.ignore() == "stale"
    assert breaker.snapshot().failed == 1


def test_a_dropped_permit_gives_its_place_back_and_counts_for_nothing(make, clock):
    breaker = make()
    breaker.trip()
    clock.advance(10.1)
    permit = breaker.admit()
    with pytest.raises(seawall.CircuitOpen):
        breaker.admit()
    del permit
    assert breaker.admit().trial


def test_a_server_that_says_when_opens_it_until_then(make, clock):
    for told in (120, "2min", 120.0, "120", " 120 "):
        breaker = make()
        assert breaker.admit().failure(retry_after=told) == "counted"
        with pytest.raises(seawall.CircuitOpen) as refused:
            breaker.admit()
        assert 120 <= refused.value.retry_after < 120.01
        assert breaker.snapshot().cause == "retry_after"
    breaker = make()
    breaker.admit().failure(until=clock.now() + 60)
    with pytest.raises(seawall.CircuitOpen) as refused:
        breaker.admit()
    assert 60 <= refused.value.retry_after < 60.01


def test_two_hours_are_cut_to_the_cap(make):
    breaker = make(max_retry_after="5min")
    breaker.admit().failure(retry_after=9_999_999_999)
    with pytest.raises(seawall.CircuitOpen) as refused:
        breaker.admit()
    assert refused.value.retry_after < 300.01


@pytest.mark.parametrize("told", [0, -3, -0.0, float("nan"), "soon", ""])
def test_a_retry_after_that_makes_no_sense_is_an_ordinary_failure(make, told):
    breaker = make()
    assert breaker.admit().failure(retry_after=told) == "counted"
    assert breaker.state == "closed" and breaker.snapshot().failed == 1


@pytest.mark.parametrize("told", [-3, float("nan"), float("inf"), float("-inf"), 10**400, "soon", "5s", ""])
def test_an_until_that_makes_no_sense_is_an_ordinary_failure(make, told):
    breaker = make()
    permit = breaker.admit()
    assert permit.failure(until=told) == "counted" and permit.settled
    assert breaker.state == "closed" and breaker.snapshot().failed == 1


def test_a_retry_after_of_the_wrong_type_is_an_error_and_still_a_failure(make):
    for told in ({"retry_after": []}, {"until": []}):
        breaker = make()
        permit = breaker.admit()
        with pytest.raises(TypeError):
            permit.failure(**told)
        assert permit.settled and breaker.snapshot().failed == 1


@pytest.mark.parametrize("seconds", [-1, -1e-9, float("nan"), float("inf"), float("-inf")])
def test_what_is_no_instant_is_refused(make, clock, seconds):
    breaker = make()
    with pytest.raises(ValueError, match="is no instant"):
        breaker.trip(until=seconds)
    assert breaker.state == "closed"
    with pytest.raises(ValueError, match="is no instant"):
        clock.set(seconds)
    with pytest.raises(ValueError, match="is no instant"):
        type(clock)(seconds)
    assert clock.now() == 1000.0


def test_a_block_left_in_another_context_breaks_nothing(make):
    import contextvars

    breaker = make()
    context = contextvars.copy_context()
    context.run(breaker.__enter__)
    assert breaker.__exit__(None, None, None) is False
    assert context.run(breaker.__exit__, None, None, None) is False
