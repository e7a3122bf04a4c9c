"""The native module: what the engine decides, in Python's words.

Spans are a number of seconds, a `timedelta`, or text such as "250ms"; ratios are fractions of one;
instants are seconds on the object's clock, which is `time.monotonic()` unless a `ManualClock` is given.
"""

from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, final

from typing_extensions import Unpack

from ._errors import CircuitOpen
from ._options import (
    BackoffOptions,
    CircuitBreakerOptions,
    Fill,
    Idempotent,
    Late,
    Mode,
    OnRetryAfter,
    RetryBudgetOptions,
    Span,
)

_P = ParamSpec("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., Any] | staticmethod[..., Any] | classmethod[Any, ..., Any])
_C = TypeVar("_C", bound=Callable[[CircuitOpen], object])
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
    def on_refused(self, listener: _C) -> _C:
        """Has `listener(refusal)` called after every refusal, with the exception that is raised; what it
        raises is logged. Works as a decorator."""

    def off_refused(self, listener: Callable[[CircuitOpen], object]) -> None:
        """Ends what `on_refused` began; nothing when it had not."""

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
    """A plain function under a breaker or a policy."""

    def __new__(cls, by: CircuitBreaker | Policy, function: Callable[..., Any]) -> Guarded: ...
    @property
    def breaker(self) -> CircuitBreaker | None: ...
    @property
    def policy(self) -> Policy | None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any | None = None, /) -> Any: ...
    def __reduce__(self) -> Any: ...

_Failure: TypeAlias = Literal[
    "timeout", "connection", "status", "own_refusal", "cancelled", "inherited_deadline", "other", "transient"
]
_Classified: TypeAlias = _Failure | Literal["success"] | bool | int | None
"""What a classifier answers: the name of a failure, `success`, whether it may go away, an HTTP status, or
None, which leaves it to the table."""

@final
class Backoff:
    """How long to wait before trying again: a value, nothing in it changes. All options are in
    `BackoffOptions`. `random` is a seed, by which the waits repeat."""

    def __new__(cls, *, random: int | ManualRandom | None = None, **options: Unpack[BackoffOptions]) -> Backoff: ...
    def delay(self, retry: int, previous: Span = 0) -> float:
        """Seconds to wait before retry `retry`, counted from 0; `previous`, the wait before that, matters to
        decorrelated jitter alone."""

    def delay_ns(self, retry: int, previous_ns: int = 0) -> int: ...
    def ceiling(self, retry: int) -> float:
        """The longest wait before that retry."""

    def ceiling_ns(self, retry: int) -> int: ...
    @property
    def is_jittered(self) -> bool: ...
    @property
    def config(self) -> dict[str, Any]:
        """What was given."""

    def __getnewargs_ex__(self) -> Any: ...

@final
class Reconnect:
    """A connection that is made again whenever it is lost: a backoff that starts over once a connection held
    for `stable_after`."""

    def __new__(
        cls,
        backoff: Backoff,
        *,
        stable_after: Span,
        clock: ManualClock | None = None,
        random: int | ManualRandom | None = None,
    ) -> Reconnect: ...
    def connected(self) -> None:
        """It was made."""

    def lost(self) -> float:
        """It was lost, or could not be made: seconds to wait before the next try."""

@final
class Schedule:
    """Work that recurs every `period`, at a phase within the first `spread` of it that is this client's own
    and stays so. `seed` is something lasting: a hash of the host's name, say."""

    def __new__(cls, period: Span, *, seed: int, spread: float = 1.0, clock: ManualClock | None = None) -> Schedule: ...
    @property
    def phase(self) -> float: ...
    def wait(self, after: float | None = None) -> float:
        """Seconds until it is due next, after now or after that instant."""

    def next(self, after: float | None = None) -> float:
        """When it is due next, in seconds on its clock."""

    def next_ns(self, after_ns: int | None = None) -> int: ...

def ttl(span: Span, spread: float = 0.1, *, random: int | ManualRandom | None = None) -> float:
    """How long a cached value may live: `span` less up to the share `spread` of it, in seconds."""

@final
class RetryBudget:
    """Retries only while they are few: every request pays a share of one in. One budget serves all calls to
    one dependency. All options are in `RetryBudgetOptions`."""

    def __new__(
        cls, *, name: str | None = None, clock: ManualClock | None = None, **options: Unpack[RetryBudgetOptions]
    ) -> RetryBudget: ...
    @property
    def name(self) -> str: ...
    def deposit(self) -> None:
        """A request pays in, once however many attempts it takes."""

    def try_withdraw(self) -> bool:
        """Pays for a retry; whether there was enough."""

    def withdraw(self) -> None:
        """Pays for a retry, or raises BudgetEmpty."""

    def refund(self) -> None:
        """The retry that was paid for was not sent after all."""

    @property
    def balance(self) -> float: ...
    @property
    def balance_ppm(self) -> int: ...
    def reset(self) -> None:
        """Fills it."""

    def configure(self, **options: Unpack[RetryBudgetOptions]) -> None:
        """Changes the configuration while it runs: options not named go back to their defaults."""

    def refusals(self) -> dict[str, int]: ...
    def _configure_fields(self, fields: dict[str, int]) -> None: ...
    def __getnewargs_ex__(self) -> Any: ...

@final
class Timeouts:
    """How long a call may take. Each is stated; None states that there is none."""

    def __new__(cls, *, connect: Span | None, attempt: Span | None, total: Span | None) -> Timeouts: ...
    @property
    def connect(self) -> float | None:
        """Making the connection. The transport keeps it."""

    @property
    def attempt(self) -> float | None:
        """One attempt. An asynchronous one is cancelled then; a synchronous one is told how long it has
        (`current_attempt().remaining()`), and what comes later is no answer."""

    @property
    def total(self) -> float | None:
        """The whole call, with every pause."""

    def __getnewargs_ex__(self) -> Any: ...

@final
class Retry:
    """How a call is tried again: a part of a Policy, or by itself a decorator.

    `idempotent` is stated: "yes", "no" or "by_key". What goes away by itself: TransientError, timeouts,
    connection errors (also those of httpx, requests, aiohttp and urllib3), the statuses 502, 503, 504, and 429
    after the wait it told. An exception with a `status_code` or `response.status_code` goes by that.
    `classify(exception)` and `classify_result(result)` overrule the table; one that raises is logged and has
    no opinion. Cancellation, interrupts, exits and the end of an iteration are never retried and never
    swallowed.

    When no attempt is left, the last exception comes back as it is (or the last result, if a result was the
    failure); `seawall.ending_of` tells why there was no other.
    """

    def __new__(
        cls,
        *,
        idempotent: Idempotent,
        attempts: int | None = None,
        on_retry_after: OnRetryAfter | None = None,
        max_retry_after: Span | None = None,
        backoff: Backoff | None = None,
        budget: RetryBudget | None = None,
        name: str | None = None,
        clock: ManualClock | None = None,
        random: int | ManualRandom | None = None,
        sleep: Callable[[float], object] | None = None,
        async_sleep: Callable[[float], Awaitable[object]] | None = None,
        classify: Callable[[Exception], _Classified] | None = None,
        classify_result: Callable[[Any], _Classified] | None = None,
    ) -> Retry: ...
    @property
    def attempts(self) -> int: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def policy(self) -> Policy:
        """The policy that it is by itself."""

    def call(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Calls the function, again if need be. When it answers with an awaitable, so does this."""

    def __call__(self, function: _F, /) -> _F:
        """Decorates a function, method, generator, coroutine or asynchronous generator. A generator begins
        anew until its first item is there; a failure after that is passed on."""

    def __getnewargs_ex__(self) -> Any: ...

@final
class Policy:
    """One call to a dependency, with everything that protects both sides of it.

    deadline, then retry (with its budget), then for every attempt: breaker, rate limit, attempt timeout.
    Every part counts refusals by itself; a refusal of one's own is raised at once and is no evidence. With a
    ManualClock nobody sleeps and no timer runs: the clock moves on.
    """

    def __new__(
        cls,
        *,
        timeouts: Timeouts,
        retry: Retry | None = None,
        breaker: CircuitBreaker | None = None,
        rate_limit: TokenBucket | None = None,
        expected: Span | None = None,
        max_wait: Span | None = None,
        cost: int | None = None,
        late: Late | None = None,
        name: str | None = None,
        clock: ManualClock | None = None,
        random: int | ManualRandom | None = None,
        sleep: Callable[[float], object] | None = None,
        async_sleep: Callable[[float], Awaitable[object]] | None = None,
        classify: Callable[[Exception], _Classified] | None = None,
        classify_result: Callable[[Any], _Classified] | None = None,
    ) -> Policy: ...
    @property
    def name(self) -> str: ...
    @property
    def timeouts(self) -> Timeouts: ...
    @property
    def retry(self) -> Retry | None: ...
    @property
    def breaker(self) -> CircuitBreaker | None: ...
    @property
    def config(self) -> dict[str, Any]: ...
    def call(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Calls the function under the policy. When it answers with an awaitable, so does this."""

    def __call__(self, function: _F, /) -> _F:
        """Decorates, as Retry does."""

    def endings(self) -> dict[str, int]:
        """How many calls ended without an answer, by why."""

    def _begin(self) -> Running: ...
    @property
    def _async_sleep(self) -> Callable[[float], Awaitable[object]] | None: ...
    def __getnewargs_ex__(self) -> Any: ...

@final
class Running:
    """The state of one call, for the drivers written in Python."""

    @property
    def is_virtual(self) -> bool: ...
    def next(self) -> Attempt | tuple[float, int, int] | None: ...
    def sleep(self, until_ns: int, ticket: int) -> None: ...
    def skip(self, until_ns: int) -> bool: ...
    def woken(self, ticket: int) -> None: ...
    def returned(self, attempt: Attempt, result: Any) -> None: ...
    def raised(self, attempt: Attempt, error: BaseException) -> None: ...
    def end(self) -> Any: ...
    def abandon(self) -> None: ...

@final
class _RawCall:
    """One call whose driver is a test."""

    def __new__(cls, policy: Policy) -> _RawCall: ...
    def start(self, deadline_ns: int) -> str: ...
    def poll(self, now_ns: int, r: int) -> list[dict[str, Any]]: ...
    def finished(
        self, attempt: int, failure: str | None, retryable: bool, breaker: str, told_ns: int | None, stop: bool
    ) -> str: ...
    def woken(self, ticket: int) -> str: ...
    def cancelled(self) -> str: ...

@final
class Attempt:
    """One attempt of a call: what the function that is called may ask about it."""

    @property
    def policy(self) -> str | None: ...
    @property
    def attempt(self) -> int:
        """Its number, from 1."""

    @property
    def until(self) -> float | None:
        """When it is cut off, in seconds on the policy's clock; None: never."""

    @property
    def until_ns(self) -> int | None: ...
    def remaining(self) -> float | None:
        """Seconds until it is cut off: pass it to the socket."""

    @property
    def waited(self) -> float:
        """Seconds waited since the failure before."""

    @property
    def after(self) -> _Failure | None:
        """The failure that it is a retry after."""

@final
class Deadline:
    """The instant by which a whole request must be done. `with deadline:` hands it to every call inside,
    nested ones too; the earlier of two binds."""

    def __new__(cls, at: float, *, clock: ManualClock | None = None) -> Deadline: ...
    @staticmethod
    def after(span: Span, *, clock: ManualClock | None = None) -> Deadline:
        """So long from now."""

    @property
    def at(self) -> float: ...
    @property
    def at_ns(self) -> int: ...
    def remaining(self) -> float: ...
    def check(self, expected: Span = 0) -> float:
        """Seconds that remain; raises DeadlineExceeded, or WontFinish when less than `expected` remains."""

    def earlier(self, other: Deadline) -> Deadline: ...
    def shrunk_by(self, margin: Span) -> Deadline:
        """So much earlier, for what the way back takes."""

    def __enter__(self) -> Deadline: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Literal[False]: ...
    def __getnewargs_ex__(self) -> Any: ...

def current_attempt() -> Attempt | None:
    """The attempt that this code is part of."""

def current_deadline() -> Deadline | None:
    """The deadline that calls made here inherit."""

def parse_retry_after(value: str, now: int | None = None) -> float | None:
    """Reads a `Retry-After` field, seconds or a date: seconds to wait. `now`: the response's time (its `Date`
    field) in seconds since 1970; this host's own unless given."""

def format_retry_after(wait: Span) -> str:
    """Writes a `Retry-After` field in whole seconds, rounded up, at least 1."""

def format_retry_after_date(wait: Span, now: int | None = None) -> str:
    """Writes a `Retry-After` field as a date."""

def parse_remaining(value: str) -> float | None:
    """Reads a `seawall-deadline-ms` field: seconds that remain."""

def format_remaining(remaining: Span) -> str | None:
    """Writes a `seawall-deadline-ms` field; None when less than a millisecond remains: send nothing."""

def _enter_scope(scope: Attempt) -> Any: ...
def _leave_scope(token: Any) -> None: ...
def _backoff_from_fields(fields: dict[str, int], random: int | ManualRandom | None = None) -> Backoff: ...
def _budget_from_fields(
    fields: dict[str, int], name: str | None = None, clock: ManualClock | None = None
) -> RetryBudget: ...

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
