//! The policy: one call to a dependency, from the first attempt to the answer or to the reason why not.
//!
//! A [`Policy`] is wiring: which rules apply, which breaker, budget and rate limit are asked. A [`Call`] is
//! the state of one call, a plain value. The caller feeds it what happens and is told what to do:
//!
//! ```text
//! deadline → retry (budget) → for every attempt: breaker → rate limit → attempt timeout
//! ```
//!
//! # Inputs
//! | input | when | answered |
//! |---|---|---|
//! | [`start`](Call::start) | once, with the caller's own deadline | `stale` when it was started before |
//! | [`finished`](Call::finished) | an attempt has ended, with its class | `stale`: unknown, settled, cut off, or the call is over |
//! | [`woken`](Call::woken) | a pause need not last any longer | `stale`: that pause is over, or the dependency told it |
//! | [`cancelled`](Call::cancelled) | the caller wants no more | `stale` when the call is over |
//!
//! An input only notes what happened; a stale one changes nothing.
//!
//! # Steps
//! After every input, whenever an instant that [`Step::Wait`] stated has come, and after every other step, [`poll`](Call::poll)
//! until it says `Wait` or `Done`.
//!
//! | step | what the caller does |
//! |---|---|
//! | `Run` | sends this attempt, to be cut off at `until` |
//! | `Cancel` | cuts this attempt off; its result no longer matters |
//! | `Changed` | logs the breaker's transition, which nobody else is told |
//! | `Wait` | waits for its attempts, or until then |
//! | `Done` | returns the answer or raises, and says why |
//!
//! # What one poll does
//! Results first, then cut-offs, then the next attempt. *After a failure*, once no attempt is out, in this
//! order, and the first no is the ending: may this failure go away; may the operation be repeated; are
//! attempts left; is what was told short enough; would it still finish before the deadline; has the budget
//! a retry; is the breaker closed. Only then is the retry withdrawn from the budget, and the pause begins.
//! *When an attempt is due*: deadline, breaker, rate limit are peeked at; then the breaker's permit is taken,
//! which can be given back, then the rate limit's tokens, and it goes out.
//!
//! # Invariants
//! 1. Every permit is settled once: with the result, or as a failure when it used up a timeout of its own,
//!    or as no evidence: cancelled, superseded, cut off by a deadline that came sooner, refused by the rate limit.
//! 2. The budget gets one deposit per call whose first attempt is sent, and gives one retry per further attempt; a retry that
//!    is not sent after all is refunded.
//! 3. No attempt starts at or after the deadline, nor when less remains than is `expected`.
//! 4. Between polls a call that waits for a pause or for the rate limit holds no permit of the breaker.
//! 5. An ending stands: every further poll says it again, every further input is stale.
//! 6. Own refusals are final and no evidence. An open breaker is final too; only a wait that the dependency
//!    told, and that its breaker therefore keeps as well, is sat out.
//!
//! # A timeout of its own
//! An attempt may take the attempt timeout, or the total where that is shorter or the only one stated. Cut
//! off after that long, it is the dependency's failure; cut off sooner, since the total or the caller's
//! deadline left less, it says nothing. A success that arrives after its instant (a synchronous attempt
//! cannot be cut off) is a timeout like any other, unless `late` says otherwise.
//!
//! # Endings
//! | end | who decided | carries |
//! |---|---|---|
//! | `success` | an attempt | its number |
//! | `not_retryable` | classification | the failure's class |
//! | `not_idempotent` | the statement that it must not be done twice | the failure's class |
//! | `attempts_used_up` | `attempts` | the failure's class |
//! | `told_to_stop`, `told_too_long` | the dependency | the failure's class, and the instant told |
//! | `budget_empty` | the retry budget | its refusal, the failure's class |
//! | `breaker_refused`, `rate_limited` | breaker, rate limit | their refusal with its instant, the last failure's class if any |
//! | `deadline_exceeded` | the caller's deadline | a refusal, the last failure's class |
//! | `timed_out` | the total timeout | the same |
//! | `wont_finish` | either, looking ahead | the same |
//! | `cancelled` | the caller | |
//! | `unconfigured` | bytes that are no started call | |
//!
//! # A worked example
//! ```
//! use core::time::Duration;
//! use seawall::policy::{Attempt, End, Failed, Policy, PolicyConfig, blocking};
//! use seawall::{
//!     Backoff, BackoffConfig, Clock, Failure, Idempotent, Instant, ManualClock, Retry, RetryConfig, Timeouts,
//! };
//!
//! let retry = Retry::new(&RetryConfig::new().idempotent(Idempotent::Yes))?;
//! let backoff = Backoff::new(&BackoffConfig::new())?;
//! let policy = Policy::new(&PolicyConfig::new(), Timeouts::NONE)?.retry(retry, backoff);
//!
//! let clock = ManualClock::at(Instant::ZERO);
//! let sleep = |span| clock.advance(span);
//! let answer = blocking::run(&policy, &clock, sleep, |attempt: Attempt| match attempt.attempt {
//!     1 | 2 => Err(Failed::of(Failure::Connection, "refused")),
//!     _ => Ok("at last"),
//! });
//! assert_eq!(answer, Ok("at last"));
//! // Without randomness, the pauses are the longest: 100 ms and 200 ms.
//! assert_eq!(clock.now(), Instant::from_nanos(300_000_000));
//!
//! let ended = blocking::call(&policy, &clock, sleep, || Err::<(), _>("down")).unwrap_err();
//! assert_eq!((ended.ending.end, ended.error), (End::AttemptsUsedUp, Some("down")));
//! # Ok::<(), seawall::ConfigError>(())
//! ```
//!
//! Sources: gRPC's proposal A6 (one deadline over all attempts, pushback), Envoy (the route timeout includes
//! retries), *Site Reliability Engineering* (2016), chapters 21 and 22 (budgets, deadlines).

mod ask;
mod attempt;
pub mod blocking;
mod call;
mod config;
mod finish;
mod poll;
mod step;
mod wiring;

pub use blocking::{Blocking, Ended, Failed};
pub use call::Call;
pub use config::{Late, PolicyConfig};
pub use finish::{Finish, Told};
pub use step::{Attempt, Cut, End, Ending, Pause, Receipt, Step};
pub use wiring::Policy;
