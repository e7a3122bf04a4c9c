"""What `@breaker` makes of each kind of callable; imported when the first one is decorated."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any

from ._seawall import CircuitBreaker, Guarded, Permit


def decorate(breaker: CircuitBreaker, function: Any) -> Any:
    """`function` under `breaker`, as the same kind of thing."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(breaker, function.__func__))
    if not callable(function):
        raise TypeError(f"a circuit breaker decorates callables, not {type(function).__name__}")
    wrapper: Any
    if _is(inspect.iscoroutinefunction, function):
        wrapper = _coroutine(breaker, function)
    elif _is(inspect.isasyncgenfunction, function):
        wrapper = _async_generator(breaker, function)
    elif _is(inspect.isgeneratorfunction, function):
        wrapper = _generator(breaker, function)
    else:
        return functools.update_wrapper(Guarded(breaker, function), function)
    wrapper = functools.wraps(function)(wrapper)
    wrapper.breaker = breaker
    return wrapper


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


async def awaited(breaker: CircuitBreaker, permit: Permit, coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The rest of a call that answered with a coroutine."""
    try:
        result = await coroutine
    except BaseException as error:
        breaker._raised(permit, error)
        raise
    breaker._returned(permit, result)
    return result
