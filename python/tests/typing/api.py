"""The public interface as a type checker sees it: run by tests/test_typing.py, never imported.

Each `assert_type` must hold, and each line with `type: ignore` must be an error (mypy says so of
those that are not).
"""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Iterator

from typing_extensions import assert_type

import seawall
from seawall.testing import ManualClock, mode

clock = ManualClock(5.0)
breaker = seawall.CircuitBreaker(
    name="payments",
    clock=clock,
    failure_rate=0.5,
    window=20,
    reset_after=datetime.timedelta(seconds=30),
    slow_after="250ms",
    mode="shadow",
    ignore=(KeyError, ValueError),
    is_failure=lambda error: isinstance(error, OSError),
    retry_after_of=lambda end: getattr(end, "retry_after", None),
)
seawall.CircuitBreaker(trials="3")  # type: ignore[arg-type]
seawall.CircuitBreaker(trails=3)  # type: ignore[call-arg]
seawall.CircuitBreaker(mode="ajar")  # type: ignore[arg-type]


@breaker
def add(a: int, b: int = 2) -> int:
    return a + b


@breaker
async def fetch(url: str) -> bytes:
    return url.encode()


@breaker
def items(n: int) -> Iterator[int]:
    yield from range(n)


@breaker
async def ticks() -> AsyncIterator[float]:
    yield 1.0


class Client:
    @breaker
    def pay(self, amount: int) -> str:
        return str(amount)

    @classmethod
    @breaker
    def build(cls) -> Client:
        return cls()


assert_type(add(1, b=2), int)
add("1")  # type: ignore[arg-type]
assert_type(Client().pay(3), str)
assert_type(Client.build(), Client)
assert_type(items(3), Iterator[int])
assert_type(breaker.call(add, 1, b=2), int)
breaker.call(add, "1")  # type: ignore[arg-type]


async def main() -> None:
    assert_type(await fetch("x"), bytes)
    assert_type(await breaker.call(fetch, "x"), bytes)
    async with breaker as permit:
        assert_type(permit, seawall.Permit)
    async for tick in ticks():
        assert_type(tick, float)


with breaker as permit:
    permit.failure(retry_after="2s")
with breaker.admit() as permit:
    assert_type(permit.trial, bool)
with mode(breaker, "disabled"):
    pass


@breaker.on_transition
def changed(change: seawall.Transition) -> None:
    print(change.policy, change.from_state, change.until)


def unreachable_after_with() -> int:
    # A block never swallows an exception, so that this function needs no further return.
    with breaker:
        return 1


breaker.mode = "forced-open"
breaker.state = "open"  # type: ignore[misc]

bucket = seawall.TokenBucket(rate="100/s", capacity=20)
seawall.TokenBucket(5, 20, period="1min", start="empty")
seawall.TokenBucket(rate=5)  # type: ignore[call-arg]
assert_type(bucket.try_acquire(), bool)
assert_type(bucket.allow(cost=3), tuple[bool, int | None])
assert_type(bucket.decide().retry_after, float | None)
bucket.try_acquire(1.5)  # type: ignore[arg-type]
assert_type(bucket.reserve(3, max_wait=10).wait, float)

try:
    bucket.acquire()
except seawall.RateLimited as refused:
    assert_type(refused.retry_after, float | None)
    assert_type(refused.at, float | None)
    assert_type(refused.reason, str)
except seawall.ConfigError as error:
    assert_type(error.field, str)
