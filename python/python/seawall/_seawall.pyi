"""The native module: what the engine decides, in Python's words.

Spans are a number of seconds, a `timedelta`, or text such as "250ms"; ratios are fractions of one;
instants are seconds on the object's clock, which is `time.monotonic()` unless a `ManualClock` is given.
"""

from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, final

from typing_extensions import Unpack

from ._options import CircuitBreakerOptions, Fill, Mode, Span

_P = ParamSpec("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., Any] | staticmethod[..., Any] | classmethod[Any, ..., Any])
_L = TypeVar("_L", bound=Callable[["Transition"], object])

_State: TypeAlias = Literal["closed", "open", "half-open"]
_Settlement: TypeAlias = Literal["counted", "neutral", "stale"]
_Cause: TypeAlias = Literal[
    "failure_threshold",
    "failure_rate",
    "slow_rate",
    "retry_after",
    "trial_failed",
    "trials_succeeded",
    "trials_expired",
    "due",
    "tripped",
    "reset",
    "half_opened",
]

__version__: str

@final
class CircuitBreaker:
    """Stops calling what is down, and finds out when it is up again.

    Consecutive mode by default: `failure_threshold` (5) failures in a row open it. Rate mode as soon as
    one of `failure_rate` (0.5), `window` (20 calls), `minimum_calls` (10) and `slow_rate` is given. It
    stays open for `reset_after` (30 s), then lets `trials` calls out (1; 3 in rate mode), of which
    `close_after` (all) must succeed. All options, with ranges and reasons, are in
    `CircuitBreakerOptions`.

    What counts: every `Exception` is a failure, except those in `ignore`, which count for nothing. One
    of which `is_failure(exception)` says no is an answer of the dependency, and counts as a success.
    `is_failure_result(result)` makes a failure of a call that came back. Of a failure,
    `retry_after_of(exception or result)` may say how long the server said to wait: seconds, a
    `timedelta`, text such as "30s" or "120" (digits alone are seconds), or None; anything else leaves it
    a plain failure. A predicate that raises is logged, and counts as if it were not
    there. Cancellation, interrupts, exits, the end of an iteration and refusals of seawall's own never
    count and are never swallowed; nor does an exception group of nothing else. With any other exception
    in it, a group is judged as one exception.

    Raises ConfigError for an impossible value and TypeError for an unknown option.
    """

    def __new__(
        cls,
        *,
        name: str | None = None,
        clock: ManualClock | None = None,
        random: int | ManualRandom | None = None,
        ignore: type[BaseException] | Iterable[type[BaseException]] | None = None,
        is_failure: Callable[[Exception], object] | None = None,
        is_failure_result: Callable[[Any], object] | None = None,
        retry_after_of: Callable[[Any], object] | None = None,
        **options: Unpack[CircuitBreakerOptions],
    ) -> CircuitBreaker: ...
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> _State:
        """What is measured; a breaker whose open period is over reads half-open."""

    @property
    def mode(self) -> Mode:
        """What is chosen."""

    @mode.setter
    def mode(self, value: Mode) -> None: ...
    def admit(self) -> Permit:
        """A permit for one call; raises CircuitOpen."""

    def call(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Calls the function under a permit; raises CircuitOpen without calling it.

        When it answers with an awaitable, the verdict is what comes of that. A future or task of asyncio
        is handed on as it is and judged when it is done, awaited or not. Any other awaitable comes back
        as a coroutine: where you need the object itself, use a block. A decorated function likewise."""

    def __call__(self, function: _F, /) -> _F:
        """Decorates a function, method, generator, coroutine or asynchronous generator."""

    def __enter__(self) -> Permit: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Literal[False]: ...
    def __aenter__(self) -> Awaitable[Permit]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[None]: ...
    def trip(self, *, until: float | None = None, retry_after: Span | None = None) -> Transition | None:
        """Opens it by hand, until an instant, for a span, or for the configured period; ValueError for what
        is none."""

    def trip_until_ns(self, until: int) -> Transition | None: ...
    def half_open(self) -> Transition | None:
        """Half-opens it by hand; None when it was half-open already."""

    def reset(self) -> Transition | None:
        """Closes it by hand and forgets everything learnt; what is in flight becomes stale."""

    def configure(self, **options: Unpack[CircuitBreakerOptions]) -> None:
        """Changes the configuration while it runs: options not named go back to their defaults, except the
        mode, which stays unless it is named. What was learnt is kept."""

    def snapshot(self) -> Snapshot:
        """All figures at one instant."""

    def explain(self) -> str:
        """State and figures as a sentence."""

    def refusals(self) -> dict[str, int]:
        """How many calls it refused, by reason."""

    def bypasses(self) -> dict[str, int]:
        """How many calls it would have refused in shadow mode, by reason."""

    def on_transition(self, listener: _L) -> _L:
        """Has `listener(transition)` called after every change of state, once, by whoever made it. What
        a listener raises is logged. It is called in the thread or task of the call: keep it short."""

    def off_transition(self, listener: Callable[[Transition], object]) -> None: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def _configure_fields(self, fields: dict[str, int]) -> None: ...
    def _enter(self) -> int | Permit: ...
    def _returned(self, grant: int | Permit, result: Any, /) -> None: ...
    def _raised(self, grant: int | Permit, error: BaseException, /) -> None: ...

@final
class Permit:
    """The right to make one call. Settle it once; what comes after is `stale` and changes nothing.
    As a context manager it is settled by how the block ends, unless the block settled it. One that is
    dropped unsettled counts for nothing and gives its place back."""

    @property
    def trial(self) -> bool: ...
    @property
    def bypassed(self) -> str | None:
        """In shadow mode: the reason for which it would have been refused."""

    @property
    def unrecorded(self) -> bool:
        """Whether nothing will be recorded: disabled, or bypassed."""

    @property
    def settled(self) -> bool: ...
    def success(self) -> _Settlement: ...
    def failure(self, *, until: float | None = None, retry_after: Span | None = None) -> _Settlement:
        """The dependency failed. When it said when it will be back, the breaker opens at once until then
        (text of digits alone, as the HTTP header has it, is whole seconds);
        a number or text that says nothing of the kind makes it an ordinary failure."""

    def failure_until_ns(self, until: int) -> _Settlement: ...
    def ignore(self) -> _Settlement:
        """No verdict: cancelled, the caller's own mistake, refused by another layer of our own."""

    def __enter__(self) -> Permit: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Literal[False]: ...
    def __aenter__(self) -> Awaitable[Permit]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[None]: ...

@final
class Transition:
    """A change of a breaker's state."""

    @property
    def policy(self) -> str: ...
    @property
    def from_state(self) -> _State: ...
    @property
    def to_state(self) -> _State: ...
    @property
    def cause(self) -> _Cause: ...
    @property
    def at(self) -> float: ...
    @property
    def at_ns(self) -> int: ...
    @property
    def until(self) -> float | None: ...
    @property
    def until_ns(self) -> int | None: ...
    @property
    def generation(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def slow(self) -> int: ...
    @property
    def reopened(self) -> int: ...
    @property
    def unseeded(self) -> bool: ...

@final
class Snapshot:
    """A breaker's figures at one instant."""

    @property
    def state(self) -> _State: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def generation(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def slow(self) -> int: ...
    @property
    def failure_rate(self) -> float | None: ...
    @property
    def slow_rate(self) -> float | None: ...
    @property
    def trials(self) -> int: ...
    @property
    def trials_in_flight(self) -> int: ...
    @property
    def trials_succeeded(self) -> int: ...
    @property
    def reopened(self) -> int: ...
    @property
    def until(self) -> float | None: ...
    @property
    def until_ns(self) -> int | None: ...
    @property
    def cause(self) -> _Cause | None: ...
    @property
    def changed_at(self) -> float | None: ...
    @property
    def changed_at_ns(self) -> int | None: ...

@final
class TokenBucket:
    """An average rate, and a burst after a pause.

    `capacity` tokens fit, and are there at the start unless `start="empty"`; `rate` of them flow in per
    `period` (a second), or write "100/s", "5000/h" and leave `period` out. In any span T it admits at most
    `capacity + rate * T`.

    Raises ConfigError for an impossible value and TypeError for an unknown option.
    """

    def __new__(
        cls,
        rate: float | str,
        capacity: int,
        *,
        name: str | None = None,
        clock: ManualClock | None = None,
        period: Span | None = None,
        start: Fill | None = None,
    ) -> TokenBucket: ...
    @property
    def name(self) -> str: ...
    def try_acquire(self, cost: int = 1) -> bool:
        """Takes `cost` tokens, or none: whether it did."""

    def allow(self, cost: int = 1) -> tuple[bool, int | None]:
        """`(True, 0)`, or `(False, seconds)` with whole seconds for a Retry-After header, rounded up;
        `(False, None)` when it can never succeed."""

    def decide(self, cost: int = 1) -> Decision:
        """Takes `cost` tokens, or none: the whole answer."""

    def acquire(self, cost: int = 1) -> None:
        """Takes `cost` tokens, or raises RateLimited."""

    def peek(self, cost: int = 1) -> Decision:
        """What `decide` would answer, taking nothing."""

    def reserve(self, cost: int, max_wait: Span) -> Reservation:
        """Takes `cost` tokens now, to be used at `reservation.at`, at most `max_wait` from now; raises
        RateLimited when that would be later."""

    def drain(self) -> None:
        """Takes all tokens that are there."""

    def reset(self) -> None:
        """Fills the bucket."""

    def configure(self, *, rate: float | str, capacity: int, period: Span | None = None) -> None:
        """Changes the configuration while it runs; `rate` and `capacity` must be stated again. What has
        flowed in until now did so at the old rate."""

    def refusals(self) -> dict[str, int]:
        """How many requests it refused, by reason."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def _configure_fields(self, fields: dict[str, int]) -> None: ...

@final
class Decision:
    """A limiter's answer; true when the request was admitted."""

    @property
    def allowed(self) -> bool: ...
    @property
    def remaining(self) -> int | None: ...
    @property
    def reset_after(self) -> float | None: ...
    @property
    def reset_after_ns(self) -> int | None: ...
    @property
    def retry_after(self) -> float | None:
        """0 when it was admitted, None when it never will be."""

    @property
    def at_ns(self) -> int | None: ...
    @property
    def reason(self) -> str | None: ...
    def explain(self) -> str: ...
    def __bool__(self) -> bool: ...

@final
class Reservation:
    """Tokens that are taken already, good from `at` on."""

    @property
    def at(self) -> float: ...
    @property
    def at_ns(self) -> int: ...
    @property
    def cost(self) -> int: ...
    @property
    def wait(self) -> float:
        """Seconds until then, from now."""

    def cancel(self) -> Literal["full", "part", "nothing"]:
        """Gives it back unused, once: how much came back."""

@final
class Guarded:
    """A plain function under a breaker."""

    def __new__(cls, breaker: CircuitBreaker, function: Callable[..., Any]) -> Guarded: ...
    @property
    def breaker(self) -> CircuitBreaker: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any | None = None, /) -> Any: ...
    def __reduce__(self) -> Any: ...

@final
class ManualClock:
    """A clock that stands still until it is told otherwise."""

    def __new__(cls, start: float = 0.0) -> ManualClock: ...
    def advance(self, span: Span) -> None: ...
    def advance_ns(self, nanoseconds: int) -> None: ...
    def set(self, now: float) -> None: ...
    def set_ns(self, now: int) -> None: ...
    def now(self) -> float: ...
    def now_ns(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class ManualRandom:
    """Randomness that is whatever it was told to be; 0 is "none"."""

    def __new__(cls, value: int = 0) -> ManualRandom: ...
    def set(self, value: int) -> None: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

def _after_fork() -> None: ...
def _clock_at_ns(now: int) -> ManualClock: ...
def _fields() -> dict[str, list[str]]: ...
def _breaker_from_fields(
    fields: dict[str, int],
    name: str | None = None,
    clock: ManualClock | None = None,
    random: int | ManualRandom | None = None,
    ignore: Iterable[type[BaseException]] | None = None,
    is_failure: Callable[[Exception], object] | None = None,
    is_failure_result: Callable[[Any], object] | None = None,
    retry_after_of: Callable[[Any], object] | None = None,
) -> CircuitBreaker: ...
def _bucket_from_fields(
    fields: dict[str, int], name: str | None = None, clock: ManualClock | None = None
) -> TokenBucket: ...
