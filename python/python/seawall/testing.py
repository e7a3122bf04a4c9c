"""Helpers for tests: virtual time, chosen randomness, a mode for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ._seawall import CircuitBreaker, ManualClock, ManualRandom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._options import Mode

__all__ = ["ManualClock", "ManualRandom", "mode"]


@contextmanager
def mode(breaker: CircuitBreaker, mode: Mode) -> Iterator[CircuitBreaker]:
    """Has `breaker` in `mode` inside the block: `forced-open` to see what callers do about a refusal,
    `disabled` to take it out of a test. What it had learnt is there again afterwards."""
    before = breaker.mode
    breaker.mode = mode
    try:
        yield breaker
    finally:
        breaker.mode = before
