"""Transitions and broken predicates, told through `logging`; imported when the first one happens."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._errors import Refused
    from ._seawall import Transition

logger = logging.getLogger("seawall")


def dispatch(transition: Transition, listeners: tuple[Callable[[Transition], object], ...]) -> None:
    """Logs the transition, then calls each listener with it."""
    level = logging.WARNING if transition.to_state == "open" else logging.INFO
    _log(
        level,
        "%s: %s -> %s (%s), %d of %d calls failed",
        transition.policy,
        transition.from_state,
        transition.to_state,
        transition.cause,
        transition.failed,
        transition.calls,
    )
    if transition.unseeded:
        _log(logging.WARNING, "%s: no randomness, so the open period has no jitter", transition.policy)
    for listener in listeners:
        try:
            listener(transition)
        except Exception:
            _log(logging.ERROR, "%s: a listener raised", transition.policy, exc_info=True)


def refused(policy: str, refusal: Refused, listeners: tuple[Callable[[Refused], object], ...]) -> None:
    """Calls each listener with a refusal."""
    for listener in listeners:
        try:
            listener(refusal)
        except Exception:
            _log(logging.ERROR, "%s: a listener raised", policy, exc_info=True)


def predicate_raised(policy: str, error: Exception) -> None:
    """A predicate raised; the call is judged as if there were none."""
    _log(logging.ERROR, "%s: a predicate raised", policy, exc_info=error)


def retrying(policy: str, attempt: int, after: str | None, waited: float) -> None:
    """An attempt is made again."""
    _log(logging.INFO, "%s: attempt %d, after a failure (%s) and %.3f s", policy, attempt, after, waited)


def _log(level: int, text: str, *args: object, exc_info: bool | BaseException = False) -> None:
    # A filter or handler that raises must not hurt the call that changed the state.
    try:
        logger.log(level, text, *args, exc_info=exc_info)
    except Exception:
        if logging.raiseExceptions:
            traceback.print_exc()
