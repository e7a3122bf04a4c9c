"""What `@breaker` makes of each kind of callable; imported when the first one is decorated."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from typing import Any

from ._seawall import CircuitBreaker, Guarded, Permit


def decorate(breaker: CircuitBreaker, function: Any) -> Any:
    """`function` under `breaker`, as the same kind of thing."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(breaker, function.__func__))
    if not callable(function):
        raise TypeError(f"a circuit breaker decorates callables, not {type(function).__name__}")
    kinds = {"coroutine": _coroutine, "async generator": _async_generator, "generator": _generator}
    make = kinds.get(kind_of(function))
    if make is None:
        return functools.update_wrapper(Guarded(breaker, function), function)
    wrapper: Any = make(breaker, function)
    wrapper = functools.wraps(function)(wrapper)
    wrapper.breaker = breaker
    return wrapper


def kind_of(function: Any) -> str:
    """What calling `function` makes: `coroutine`, `async generator`, `generator`, or `plain`."""
    if _is(inspect.iscoroutinefunction, function):
        return "coroutine"
    if _is(inspect.isasyncgenfunction, function):
        return "async generator"
    return "generator" if _is(inspect.isgeneratorfunction, function) else "plain"


def _is(kind: Callable[[Any], bool], function: Any) -> bool:
    """Whether calling `function` makes that kind: partials and objects with `__call__` are looked into."""
    while isinstance(function, functools.partial):
        function = function.func
    return kind(function) or (not inspect.isroutine(function) and kind(type(function).__call__))


def _coroutine(breaker: CircuitBreaker, function: Any) -> Callable[..., Coroutine[Any, Any, Any]]:
    enter, returned, raised = breaker._enter, breaker._returned, breaker._raised

    async def guarded(*args: Any, **kwargs: Any) -> Any:
        grant = enter()
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            raised(grant, error)
            raise
        returned(grant, result)
        return result

    return guarded


def _generator(breaker: CircuitBreaker, function: Any) -> Callable[..., Generator[Any, Any, Any]]:
    """The call lasts from the first item to the last; a consumer that stops early is no verdict."""
    enter, returned, raised = breaker._enter, breaker._returned, breaker._raised

    def guarded(*args: Any, **kwargs: Any) -> Any:
        grant = enter()
        try:
            result = yield from function(*args, **kwargs)
        except BaseException as error:
            raised(grant, error)
            raise
        returned(grant, result)
        return result

    return guarded


def _async_generator(breaker: CircuitBreaker, function: Any) -> Callable[..., AsyncGenerator[Any, Any]]:
    enter, returned, raised = breaker._enter, breaker._returned, breaker._raised

    async def guarded(*args: Any, **kwargs: Any) -> Any:
        grant = enter()
        try:
            source = function(*args, **kwargs)
            step = source.__anext__()
            while True:
                try:
                    item = await step
                except StopAsyncIteration:
                    break
                try:
                    step = source.asend((yield item))
                except GeneratorExit:
                    await source.aclose()
                    raise
                except BaseException as error:
                    step = source.athrow(error)
        except BaseException as error:
            raised(grant, error)
            raise
        returned(grant, None)

    return guarded


def awaited(breaker: CircuitBreaker, permit: Permit, result: Any) -> Any:
    """The rest of a call that answered with an awaitable. A future of asyncio stays what it is, since its
    holder may cancel it or ask it for more; anything else becomes a coroutine."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or not asyncio.isfuture(result):
        return _awaited(breaker, permit, result)
    if result.done():
        _done(breaker, permit, result)
    else:
        result.add_done_callback(functools.partial(_done, breaker, permit))
    return result


async def _awaited(breaker: CircuitBreaker, permit: Permit, awaitable: Awaitable[Any]) -> Any:
    try:
        result = await awaitable
    except BaseException as error:
        breaker._raised(permit, error)
        raise
    breaker._returned(permit, result)
    return result


def _done(breaker: CircuitBreaker, permit: Permit, future: Any) -> None:
    if future.cancelled():
        permit.ignore()
        return
    # Asking with `exception()` would silence asyncio's warning of an exception that nobody retrieved.
    error = future._exception if hasattr(future, "_exception") else future.exception()
    if error is None:
        breaker._returned(permit, future.result())
    else:
        breaker._raised(permit, error)
