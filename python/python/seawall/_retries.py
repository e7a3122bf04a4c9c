"""The shortest way to retry."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from ._seawall import Backoff, ManualClock, ManualRandom, Retry

_R = TypeVar("_R")


def call_with_retries(
    fn: Callable[[], _R],
    attempts: int = 3,
    base: float = 0.1,
    cap: float = 2.0,
    *,
    sleep: Callable[[float], object] | None = None,
    clock: ManualClock | None = None,
    random: int | ManualRandom | None = None,
) -> _R:
    """`fn()`, up to `attempts` times in all while it raises TransientError.

    Before retry n, counted from 0, it sleeps anything from 0 to min(cap, base * 2**n) seconds. The last
    error comes back as it is, without a sleep after it; any other error at once. `random` is a seed, by
    which the sleeps repeat; with a ManualClock nobody sleeps, the clock moves on.
    """
    return _retry(attempts, base, cap, sleep, clock, random).call(fn)


def _make(attempts: int, base: Any, cap: Any, sleep: Any, clock: Any, random: Any) -> Retry:
    return Retry(
        attempts=attempts,
        idempotent="yes",
        backoff=Backoff(base=base, cap=cap),
        classify=_only_transient,
        name="call_with_retries",
        sleep=sleep,
        clock=clock,
        random=random,
    )


_usual = functools.lru_cache(maxsize=64)(_make)


def _retry(attempts: int, base: Any, cap: Any, sleep: Any, clock: Any, random: Any) -> Retry:
    if sleep is clock is random is None:
        return _usual(attempts, base, cap, None, None, None)
    return _make(attempts, base, cap, sleep, clock, random)


def _only_transient(error: Exception) -> Literal["transient", "other"]:
    from ._errors import TransientError

    return "transient" if isinstance(error, TransientError) else "other"
