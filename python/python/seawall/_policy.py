"""How a policy drives what is not a plain function; imported when the first such thing is called."""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from ._decorate import kind_of
from ._seawall import Attempt, Guarded, Policy, Running, _enter_scope, _leave_scope


def decorate(policy: Policy, function: Any) -> Any:
    """`function` under `policy`, as the same kind of thing."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(policy, function.__func__))
    if not callable(function):
        raise TypeError(f"a policy decorates callables, not {type(function).__name__}")
    wrapper: Any
    match kind_of(function):
        case "coroutine":

            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                return await drive(policy, function, args, kwargs)

        case "generator":

            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return (yield from _generator(policy, function, args, kwargs))

        case "async generator":

            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                async for item in _async_generator(policy, function, args, kwargs):
                    yield item

        case _:
            return functools.update_wrapper(Guarded(policy, function), function)
    wrapper = functools.wraps(function)(wrapper)
    wrapper.policy = policy
    return wrapper


@contextmanager
def _scope(attempt: Attempt) -> Iterator[None]:
    token = _enter_scope(attempt)
    try:
        yield
    finally:
        _leave_scope(token)


async def drive(
    policy: Policy,
    function: Callable[..., Any],
    args: Any,
    kwargs: Any,
    running: Running | None = None,
    attempt: Attempt | None = None,
    awaitable: Any = None,
) -> Any:
    """The whole of an asynchronous call, or what is left of it after its first `awaitable` was made."""
    if running is None:
        running = policy._begin()
    try:
        step: Any = attempt or running.next()
        while step is not None:
            if isinstance(step, Attempt):
                await _attempt(running, step, awaitable, function, args, kwargs)
                awaitable = None
            else:
                await _pause(policy, running, *step)
            step = running.next()
        return running.end()
    finally:
        running.abandon()


async def _attempt(
    running: Running, attempt: Attempt, awaitable: Any, function: Callable[..., Any], args: Any, kwargs: Any
) -> None:
    remaining = None if attempt.until_ns is None or running.is_virtual else attempt.remaining()
    token = _enter_scope(attempt)
    try:
        try:
            if awaitable is None:
                awaitable = function(*args, **kwargs)
            if remaining is None:
                result = await awaitable
            else:
                async with _cut_off(remaining) as cut:
                    result = await awaitable
                if cut():
                    return  # The engine sees that its time is over.
        finally:
            _leave_scope(token)
    except BaseException as error:
        running.raised(attempt, error)
    else:
        running.returned(attempt, result)


async def _pause(policy: Policy, running: Running, seconds: float, until_ns: int, ticket: int) -> None:
    if policy._async_sleep is not None:
        await policy._async_sleep(seconds)
    elif not running.skip(until_ns):
        await _sleep(seconds)
    running.woken(ticket)


def _in_trio() -> bool:
    """Whether this code runs in a task of trio's; where nobody says, it is asyncio."""
    trio = sys.modules.get("trio")
    if trio is None:
        return False
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return False
    return True


async def _sleep(seconds: float) -> None:
    if _in_trio():
        import trio

        await trio.sleep(seconds)
    else:
        import asyncio

        await asyncio.sleep(seconds)


@asynccontextmanager
async def _cut_off(seconds: float) -> AsyncIterator[Callable[[], bool]]:
    """Cancels the block after `seconds`; what is yielded says afterwards whether that is why it ended. A
    cancellation from outside passes."""
    if _in_trio():
        import trio

        with trio.move_on_after(seconds) as scope:
            yield lambda: scope.cancelled_caught
        return
    cut = _AsyncioCut(seconds)
    try:
        yield lambda: cut.happened
        cut.absorbs(None)
    except BaseException as error:
        if not cut.absorbs(error):
            raise
    finally:
        cut.handle.cancel()


class _AsyncioCut:
    def __init__(self, seconds: float) -> None:
        import asyncio

        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an attempt with a timeout runs in a task")
        self.task = task
        self.happened = False
        self.sent = False
        # Cancellations that were asked for before are not ours to take back (3.11 and later count them).
        self.before = task.cancelling() if hasattr(task, "cancelling") else 0
        self.handle = asyncio.get_running_loop().call_later(seconds, self.cancel)

    def cancel(self) -> None:
        self.sent = True
        self.task.cancel()

    def absorbs(self, error: BaseException | None) -> bool:
        import asyncio

        if not self.sent:
            return False
        self.sent = False
        pending = self.task.uncancel() if hasattr(self.task, "uncancel") else 0
        self.happened = isinstance(error, asyncio.CancelledError) and pending <= self.before
        return self.happened


def _wait(running: Running) -> Attempt | None:
    """The next attempt, after the wait for it in this thread."""
    step: Any = running.next()
    while step is not None and not isinstance(step, Attempt):
        _, until_ns, ticket = step
        running.sleep(until_ns, ticket)
        step = running.next()
    return step


def _generator(policy: Policy, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Begins anew until the first item is there; what was handed out cannot be taken back, so a failure
    after it is passed on."""
    running = policy._begin()
    try:
        while (attempt := _wait(running)) is not None:
            try:
                with _scope(attempt):
                    source = function(*args, **kwargs)
                    item = next(source)
            except StopIteration as end:
                running.returned(attempt, end.value)
            except BaseException as error:
                running.raised(attempt, error)
            else:
                return (yield from _rest(running, attempt, source, item))
        return running.end()
    finally:
        running.abandon()


def _rest(running: Running, attempt: Attempt, source: Any, item: Any) -> Any:
    try:
        while True:
            try:
                sent = yield item
            except GeneratorExit:
                source.close()
                raise
            except BaseException as error:
                item = source.throw(error)
            else:
                item = next(source) if sent is None else source.send(sent)
    except StopIteration as end:
        running.returned(attempt, end.value)
        return end.value
    except BaseException as error:
        running.raised(attempt, error)
        raise


async def _async_generator(policy: Policy, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    running = policy._begin()
    try:
        step: Any = running.next()
        while step is not None:
            if not isinstance(step, Attempt):
                await _pause(policy, running, *step)
                step = running.next()
                continue
            attempt = step
            try:
                with _scope(attempt):
                    source = function(*args, **kwargs)
                    item = await source.__anext__()
            except StopAsyncIteration:
                running.returned(attempt, None)
            except BaseException as error:
                running.raised(attempt, error)
            else:
                try:
                    yield item
                    async for item in source:
                        yield item
                except BaseException as error:
                    await source.aclose()
                    running.raised(attempt, error)
                    raise
                running.returned(attempt, None)
                return
            step = running.next()
        running.end()
    finally:
        running.abandon()
