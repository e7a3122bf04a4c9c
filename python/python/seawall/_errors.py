"""What seawall raises. All of it pickles, and carries who refused, why and when to ask again."""

from __future__ import annotations


class SeawallError(Exception):
    """The base of everything that seawall raises."""


class Refused(SeawallError):
    """A no of our own. It is never evidence against the dependency.

    policy: the name of the object that refused.
    reason: why, by a stable name.
    at: when to ask again, in seconds on the object's clock (`time.monotonic()` for the real one).
    at_ns: the same in nanoseconds.
    retry_after: seconds from the refusal until then, rounded up.
    The last three are None when there is no such instant.
    """

    def __init__(
        self, message: str, policy: str, reason: str, at_ns: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, policy, reason, at_ns, retry_after)
        self.policy = policy
        self.reason = reason
        self.at_ns = at_ns
        self.retry_after = retry_after

    @property
    def at(self) -> float | None:
        return None if self.at_ns is None else self.at_ns / 1e9

    def __str__(self) -> str:
        return str(self.args[0])


class CircuitOpen(Refused):
    """A circuit breaker let no call through. reason: `open`, `trials_busy` or `forced_open`."""


class RateLimited(Refused):
    """A rate limiter let no request through. reason: `rate_limited`, or `exceeds_capacity`, for ever."""


class ConfigError(SeawallError, ValueError):
    """A configuration that cannot be; the sentence is the same in every language.

    field: the option. value: what was given. allowed: what would have been, as text.
    """

    def __init__(self, message: str, field: str, value: object = None) -> None:
        super().__init__(message, field, value)
        self.field = field
        self.value = value

    @property
    def allowed(self) -> str:
        return str(self.args[0]).partition("; ")[2].removeprefix("allowed are ")

    def __str__(self) -> str:
        return str(self.args[0])
