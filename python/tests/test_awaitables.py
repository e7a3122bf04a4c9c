"""A call that answers with an awaitable is judged by what comes of it, whatever kind it is."""

from __future__ import annotations

import asyncio
import sys

import pytest

import seawall


class Awaitable:
    """What clients return that are not written as coroutines."""

    def __init__(self, work):
        self.work = work

    def __await__(self):
        return self.work.__await__()


class Ready:
    def __await__(self):
        return 5
        yield


async def work(x):
    await asyncio.sleep(0)
    if x < 0:
        raise OSError(x)
    return x


def plain(x):
    if x < 0:
        raise OSError(x)
    return x


def task(x):
    return asyncio.ensure_future(work(x))


def in_executor(x):
    return asyncio.get_running_loop().run_in_executor(None, plain, x)


def finished(x):
    future = asyncio.get_running_loop().create_future()
    if x < 0:
        future.set_exception(OSError(x))
    else:
        future.set_result(x)
    return future


def awaitable(x):
    return Awaitable(work(x))


KINDS = [work, task, in_executor, finished, awaitable]


def called(breaker, kind):
    return lambda x: breaker.call(kind, x)


def decorated(breaker, kind):
    return breaker(lambda x: kind(x))


@pytest.mark.parametrize("under", [called, decorated])
@pytest.mark.parametrize("kind", KINDS)
def test_an_awaitable_is_judged_by_its_outcome(make, kind, under):
    breaker = make()
    function = under(breaker, kind)

    async def main():
        with pytest.raises(OSError):
            await function(-1)
        assert breaker.snapshot().failed == 1
        assert await function(2) == 2
        assert breaker.snapshot().failed == 0, "a success ends the row"
        for x in (-3, -4):
            with pytest.raises(OSError) as raised:
                await function(x)
            assert raised.value.args == (x,)
        assert breaker.state == "open"
        with pytest.raises(seawall.CircuitOpen):
            function(1)

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_the_predicate_about_results_is_asked_about_what_was_awaited(make, kind):
    breaker = make(is_failure_result=lambda status: status >= 500)

    async def main():
        for status in (503, 200, 503, 503):
            assert await breaker.call(kind, status) == status

    asyncio.run(main())
    assert breaker.state == "open"


@pytest.mark.parametrize("kind", [task, awaitable])
def test_cancelling_it_is_no_verdict_and_gives_the_trial_back(make, clock, kind):
    breaker = make()
    breaker.trip()
    clock.advance(10.1)

    async def main():
        waiting = asyncio.ensure_future(breaker.call(kind, -1))
        await asyncio.sleep(0)
        assert breaker.snapshot().trials_in_flight == 1
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert breaker.snapshot().trials_in_flight == 0 and breaker.state == "half-open"


def test_a_future_stays_what_it_is_and_is_judged_without_being_awaited(make):
    breaker = make()

    async def main():
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        assert breaker.call(lambda: future) is future
        asked = []
        future.add_done_callback(asked.append)
        future.set_exception(OSError())
        await asyncio.sleep(0)
        assert asked == [future] and breaker.snapshot().failed == 1
        assert isinstance(future.exception(), OSError)

    asyncio.run(main())


def test_an_exception_that_nobody_retrieved_is_still_reported(make):
    breaker = make()
    reported = []

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reported.append(context["message"]))
        future = loop.create_future()
        breaker.call(lambda: future)
        future.set_exception(OSError())
        await asyncio.sleep(0)

    asyncio.run(main())
    assert breaker.snapshot().failed == 1
    assert any("never retrieved" in message for message in reported)


def test_slowness_counts_until_it_is_done(make, clock):
    breaker = make(slow_after="200ms", failure_threshold=1)

    async def main():
        future = asyncio.get_running_loop().create_future()
        breaker.call(lambda: future)
        clock.advance(0.3)
        future.set_result(None)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert breaker.state == "open"


def test_a_coroutine_that_is_never_awaited_counts_for_nothing(make, clock):
    breaker = make()
    breaker.trip()
    clock.advance(10.1)
    breaker.call(Ready).close()
    assert breaker.snapshot().trials_in_flight == 0 and breaker.state == "half-open"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_it_needs_no_asyncio(make, run, monkeypatch):
    monkeypatch.delitem(sys.modules, "asyncio")
    breaker = make()

    async def main():
        return await breaker.call(Ready)

    assert run(main) == 5
