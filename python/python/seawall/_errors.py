"""What seawall raises. All of it pickles, and carries who refused, why and when to ask again."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._ending import Ending


class SeawallError(Exception):
    """The base of everything that seawall raises."""


class _Told(SeawallError):
    """What carries who, why and when."""

    def __init__(
        self, message: str, policy: str, reason: str, at_ns: int | None = None, retry_after: float | None = None
    ) -> None:
        # Not `super()`: what is a TimeoutError is an OSError, which would take the arguments for its own.
        BaseException.__init__(self, message, policy, reason, at_ns, retry_after)
        self.policy = policy
        self.reason = reason
        self.at_ns = at_ns
        self.retry_after = retry_after

    @property
    def at(self) -> float | None:
        return None if self.at_ns is None else self.at_ns / 1e9

    def __str__(self) -> str:
        return str(self.args[0])


class Refused(_Told):
    """A no of our own. It is never evidence against the dependency.

    policy: the name of the object that refused.
    reason: why, by a stable name.
    at: when to ask again, in seconds on the object's clock (`time.monotonic()` for the real one).
    at_ns: the same in nanoseconds.
    retry_after: seconds from the refusal until then, rounded up.
    The last three are None when there is no such instant.
    """


class CircuitOpen(Refused):
    """A circuit breaker let no call through. reason: `open`, `trials_busy` or `forced_open`."""


class RateLimited(Refused):
    """A rate limiter let no request through. reason: `rate_limited`, or `exceeds_capacity`, for ever."""


class BudgetEmpty(Refused):
    """A retry budget had no retry left. reason: `budget_empty`."""


class DeadlineExceeded(Refused, TimeoutError):
    """The deadline that the call was made under has passed. reason: `deadline_exceeded`."""


class WontFinish(DeadlineExceeded):
    """Less time remains than the work is expected to take, so it was not begun. reason: `wont_finish`."""


class TimedOut(_Told, TimeoutError):
    """A call used its own timeout up: the dependency's failure, and no refusal. reason: `timed_out`.

    It carries what Refused carries."""


class TransientError(SeawallError):
    """Raised by you: it failed, and may go away, so it is worth another attempt."""


def ending_of(error: BaseException) -> Ending | None:
    """How the call ended that `error` came from; None when it came from no policy."""
    return getattr(error, "__seawall_ending__", None)


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
