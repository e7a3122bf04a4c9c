"""Stability patterns: stop calling what is down, keep to a rate, and always know when to ask again.

    breaker = seawall.CircuitBreaker(failure_threshold=5, reset_after=30.0)
    bucket = seawall.TokenBucket(rate=5, capacity=20)

Every object serves threads and coroutines alike, without locks and without background threads.
"""

import os as _os

from ._errors import CircuitOpen, ConfigError, RateLimited, Refused, SeawallError
from ._seawall import (
    CircuitBreaker,
    Decision,
    Permit,
    Reservation,
    Snapshot,
    TokenBucket,
    Transition,
    __version__,
    _after_fork,
)

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_after_fork)

__all__ = [
    "CircuitBreaker",
    "CircuitOpen",
    "ConfigError",
    "Decision",
    "Permit",
    "RateLimited",
    "Refused",
    "Reservation",
    "SeawallError",
    "Snapshot",
    "TokenBucket",
    "Transition",
    "__version__",
]
