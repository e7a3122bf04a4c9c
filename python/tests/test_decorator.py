"""`@breaker` keeps what a function is: signature, name, kind, binding, pickling."""

from __future__ import annotations

import functools
import inspect
import pickle

import pytest
from conftest import fail

import seawall

guard = seawall.CircuitBreaker(name="module")


@guard
def add(a: int, b: int = 2, *, c: int = 3) -> int:
    """Adds."""
    return a + b + c


@guard
async def add_async(a: int, b: int = 2) -> int:
    """Adds, in time."""
    return a + b


class Client:
    def __init__(self, base):
        self.base = base

    @guard
    def method(self, x):
        """A method."""
        return self.base + x

    @guard
    async def async_method(self, x):
        return self.base + x

    @guard
    @classmethod
    def below_class(cls, x):
        return cls, x

    @classmethod
    @guard
    def above_class(cls, x):
        return cls, x

    @guard
    @staticmethod
    def static(x):
        return x

    @property
    @guard
    def prop(self):
        return self.base


def test_a_function_keeps_its_facts():
    assert add(1) == 6 and add(1, b=1, c=1) == 3
    assert str(inspect.signature(add)) == "(a: 'int', b: 'int' = 2, *, c: 'int' = 3) -> 'int'"
    assert (add.__name__, add.__qualname__, add.__module__, add.__doc__) == ("add", "add", __name__, "Adds.")
    assert add.__wrapped__(1, 1, c=1) == 3
    assert add.__annotations__ == {"a": "int", "b": "int", "c": "int", "return": "int"}
    assert add.breaker is guard and add_async.breaker is guard
    assert not inspect.iscoroutinefunction(add)
    add.mark = 1
    assert add.mark == 1, "others may hang their attributes on it"


def test_a_coroutine_function_keeps_its_facts(run):
    assert run(add_async, 1) == 3
    assert str(inspect.signature(add_async)) == "(a: 'int', b: 'int' = 2) -> 'int'"
    assert inspect.iscoroutinefunction(add_async)
    assert add_async.__doc__ == "Adds, in time."


def test_methods_bind(run):
    client = Client(10)
    assert client.method(1) == 11 and Client.method(client, 2) == 12
    assert str(inspect.signature(client.method)) == "(x)" and client.method.__doc__ == "A method."
    assert client.method.__self__ is client
    assert run(client.async_method, 1) == 11
    assert client.below_class(1) == (Client, 1) == Client.below_class(1)
    assert client.above_class(1) == (Client, 1) == Client.above_class(1)
    assert client.static(1) == 1 == Client.static(1)
    assert client.prop == 10
    assert Client.method.__get__(None, Client) is Client.method


def test_arity_errors_are_those_of_the_function(make):
    breaker = make()
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        breaker(lambda x: x)()


def test_a_decorated_function_pickles_by_its_name():
    for function in (add, add_async, Client.method):
        assert pickle.loads(pickle.dumps(function)) is function
    assert pickle.loads(pickle.dumps(Client(1).method))(2) == 3


@pytest.mark.parametrize("wrong", [None, 5, "f"])
def test_what_cannot_be_called_cannot_be_decorated(make, wrong):
    with pytest.raises(TypeError, match="decorates callables"):
        make()(wrong)


def test_a_generator_is_one_call_from_its_first_item_to_its_last(make):
    breaker = make()

    @breaker
    def items(n, error=None):
        got = None
        for i in range(n):
            got = yield (i, got)
        if error:
            raise error
        return "done"

    assert inspect.isgeneratorfunction(items)
    assert list(items(3)) == [(0, None), (1, None), (2, None)]
    generator = items(2)
    assert (next(generator), generator.send("x")) == ((0, None), (1, "x"))
    with pytest.raises(StopIteration) as end:
        next(generator)
    assert end.value.value == "done"
    for _ in range(2):
        with pytest.raises(OSError):
            list(items(1, OSError()))
    assert breaker.state == "open"
    refused = items(1)
    with pytest.raises(seawall.CircuitOpen):
        next(refused)


def test_a_generator_left_early_is_no_verdict(make, clock):
    breaker = make()
    breaker.trip()
    clock.advance(10.1)

    @breaker
    def items():
        yield 1
        yield 2

    generator = items()
    next(generator)
    assert breaker.snapshot().trials_in_flight == 1
    generator.close()
    assert breaker.snapshot().trials_in_flight == 0 and breaker.state == "half-open"


def test_an_async_generator_passes_everything_on(make, run):
    breaker = make()

    @breaker
    async def items(error=None):
        try:
            got = yield 1
            yield got
        except KeyError:
            yield "caught"
        if error:
            raise error

    assert inspect.isasyncgenfunction(items)

    async def main():
        assert [item async for item in items()] == [1, None]
        generator = items()
        assert await generator.__anext__() == 1
        assert await generator.asend("sent") == "sent"
        with pytest.raises(StopAsyncIteration):
            await generator.__anext__()
        generator = items()
        await generator.__anext__()
        assert await generator.athrow(KeyError()) == "caught"
        await generator.aclose()
        assert breaker.snapshot().failed == 0
        for _ in range(2):
            with pytest.raises(OSError):
                [item async for item in items(OSError())]
        assert breaker.state == "open"
        with pytest.raises(seawall.CircuitOpen):
            await items().__anext__()

    run(main)


def test_an_async_generator_left_early_is_no_verdict(make, clock, run):
    breaker = make()
    breaker.trip()
    clock.advance(10.1)

    @breaker
    async def items():
        yield 1
        yield 2

    async def main():
        generator = items()
        await generator.__anext__()
        assert breaker.snapshot().trials_in_flight == 1
        await generator.aclose()

    run(main)
    assert breaker.snapshot().trials_in_flight == 0 and breaker.state == "half-open"


class AsyncCallable:
    async def __call__(self, x):
        if x < 0:
            raise OSError
        return x


@pytest.mark.parametrize(
    "function",
    [AsyncCallable(), functools.partial(AsyncCallable()), functools.partial(functools.partial(add_async.__wrapped__))],
    ids=["object", "partial of object", "partial of partial"],
)
def test_hidden_coroutine_functions_are_found(make, run, function):
    wrapped = make()(function)
    assert inspect.iscoroutinefunction(wrapped)
    assert run(wrapped, 3) in (3, 5)


def test_a_function_that_answers_with_a_coroutine_is_judged_by_it(make, run):
    breaker = make()

    async def work(x):
        if x < 0:
            raise OSError
        return x

    indirect = breaker(lambda x: work(x))

    async def main():
        assert await indirect(1) == 1
        assert await breaker.call(work, 2) == 2
        for _ in range(2):
            with pytest.raises(OSError):
                await indirect(-1)
        assert breaker.state == "open"
        with pytest.raises(seawall.CircuitOpen):
            indirect(1)

    run(main)


def test_recursion_and_nesting(make):
    breaker = make()

    @breaker
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    assert down(50) == 50
    twice = breaker(breaker(fail))
    with pytest.raises(ConnectionError):
        twice()
    assert breaker.state == "open"
