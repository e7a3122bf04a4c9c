"""How a call ended that has no answer; imported when the first one does."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple


class Ending(NamedTuple):
    """How a call ended that has no answer: `seawall.ending_of(exception)`.

    end: why, by a stable name. attempts: how many were made. failure: the last one's class. reason: of the
    refusal, where a layer of our own refused. at_ns, retry_after: when it is worth asking again, where
    somebody told.
    """

    end: str
    attempts: int
    failure: str | None
    reason: str | None
    at_ns: int | None
    retry_after: float | None


def tell(error: BaseException, *ending: Any) -> None:
    with contextlib.suppress(Exception):
        error.__seawall_ending__ = Ending(*ending)  # type: ignore[attr-defined]
