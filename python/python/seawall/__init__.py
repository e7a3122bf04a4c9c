"""Stability patterns: stop calling what is down, keep to a rate, and always know when to ask again.

    breaker = seawall.CircuitBreaker(failure_threshold=5, reset_after=30.0)
    bucket = seawall.TokenBucket(rate=5, capacity=20)

Every object serves threads and coroutines alike, without locks and without background threads.
"""

import os as _os

from ._errors import (
    BudgetEmpty,
    CircuitOpen,
    ConfigError,
    DeadlineExceeded,
    RateLimited,
    Refused,
    SeawallError,
    TimedOut,
    TransientError,
    WontFinish,
    ending_of,
)
from ._seawall import (
    Attempt,
    Backoff,
    CircuitBreaker,
    Deadline,
    Decision,
    Permit,
    Policy,
    Reconnect,
    Reservation,
    Retry,
    RetryBudget,
    Schedule,
    Snapshot,
    Timeouts,
    TokenBucket,
    Transition,
    __version__,
    _after_fork,
    current_attempt,
    current_deadline,
    ttl,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._classify import http_status
    from ._ending import Ending
    from ._retries import call_with_retries

_LATER = {"Ending": "_ending", "call_with_retries": "_retries", "http_status": "_classify"}
"""What is imported when it is first asked for, by the module that has it."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_after_fork)

__all__ = [
    "Attempt",
    "Backoff",
    "BudgetEmpty",
    "CircuitBreaker",
    "CircuitOpen",
    "ConfigError",
    "Deadline",
    "DeadlineExceeded",
    "Decision",
    "Ending",
    "Permit",
    "Policy",
    "RateLimited",
    "Reconnect",
    "Refused",
    "Reservation",
    "Retry",
    "RetryBudget",
    "Schedule",
    "SeawallError",
    "Snapshot",
    "TimedOut",
    "Timeouts",
    "TokenBucket",
    "TransientError",
    "Transition",
    "WontFinish",
    "__version__",
    "call_with_retries",
    "current_attempt",
    "current_deadline",
    "ending_of",
    "http_status",
    "ttl",
]
