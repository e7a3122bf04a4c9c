//! A call made by one thread that waits for everything itself.
//!
//! The attempts run one after the other in the caller's thread, so one that takes too long cannot be cut
//! off: it is told how long it has ([`Attempt::remaining`]), should pass that on to its socket, and is
//! checked afterwards.

use core::time::Duration;

use super::call::Call;
use super::finish::Finish;
use super::step::{Attempt, Ending, Step};
use super::wiring::Policy;
use crate::deadline::Deadline;
use crate::random::Random;
use crate::retry::Failure;
use crate::time::Clock;

/// An error with what it means for the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed<E> {
    /// What it means.
    pub finish: Finish,
    /// The error itself, which comes back when it is the last.
    pub error: E,
}

impl<E> Failed<E> {
    /// An error of this class.
    pub fn of(failure: Failure, error: E) -> Self {
        Self { finish: Finish::failed(failure), error }
    }
}

/// Any error is one that may go away: `?` in an attempt retries it.
impl<E> From<E> for Failed<E> {
    fn from(error: E) -> Self {
        Self::of(Failure::Transient, error)
    }
}

/// A call that ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended<E> {
    /// Why.
    pub ending: Ending,
    /// The last error of an attempt, where there was one.
    pub error: Option<E>,
}

impl<E: core::fmt::Display> core::fmt::Display for Ended<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.ending.end.name())?;
        match (&self.error, self.ending.rejection) {
            (Some(error), _) => write!(f, ": {error}"),
            (None, Some(rejection)) => write!(f, ": {rejection}"),
            (None, None) => Ok(()),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for Ended<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.error.as_ref().map(|error| error as _)
    }
}

/// How a thread makes its calls: by which clock, how it sleeps, with which randomness.
#[derive(Clone, Copy, Debug)]
pub struct Blocking<'a, C, S, W = fn(&Step)> {
    clock: C,
    sleep: S,
    random: Option<&'a Random>,
    deadline: Deadline,
    watch: W,
}

impl<C: Clock, S: FnMut(Duration)> Blocking<'_, C, S> {
    /// By this clock, with this way to sleep; no jitter, no deadline, nobody watching.
    pub const fn new(clock: C, sleep: S) -> Self {
        Self { clock, sleep, random: None, deadline: Deadline::NEVER, watch: |_| {} }
    }
}

impl<'a, C: Clock, S: FnMut(Duration), W: FnMut(&Step)> Blocking<'a, C, S, W> {
    /// Jitter comes from here.
    #[must_use]
    pub fn random(self, random: &'a Random) -> Self {
        Self { random: Some(random), ..self }
    }

    /// The caller's own deadline.
    #[must_use]
    pub fn deadline(self, deadline: Deadline) -> Self {
        Self { deadline, ..self }
    }

    /// Sees every step before it is taken: for logs.
    #[must_use]
    pub fn watch<V: FnMut(&Step)>(self, watch: V) -> Blocking<'a, C, S, V> {
        let Self { clock, sleep, random, deadline, .. } = self;
        Blocking { clock, sleep, random, deadline, watch }
    }

    /// Makes the call.
    ///
    /// # Errors
    /// Why there is no answer, and the last error.
    pub fn run<T, E>(
        mut self,
        policy: &Policy<'_>,
        mut attempt: impl FnMut(Attempt) -> Result<T, Failed<E>>,
    ) -> Result<T, Ended<E>> {
        let mut running = Running { call: Call::new(), policy, clock: &self.clock, over: false };
        running.call.start(self.deadline);
        let (mut answer, mut error) = (None, None);
        loop {
            let now = self.clock.now();
            let step = running.call.poll(policy, now, self.random.map_or(0, Random::next));
            (self.watch)(&step);
            match step {
                Step::Run(this) => {
                    let finish = match attempt(this) {
                        Ok(value) => {
                            (answer, error) = (Some(value), None);
                            Finish::success()
                        }
                        Err(failed) => {
                            (answer, error) = (None, Some(failed.error));
                            failed.finish
                        }
                    };
                    running.call.finished(this.attempt, finish);
                }
                Step::Wait { until, .. } => (self.sleep)(until.since(now)),
                Step::Done(ending) => {
                    running.over = true;
                    return match answer {
                        Some(answer) if ending.is_success() => Ok(answer),
                        _ => Err(Ended { ending, error }),
                    };
                }
                Step::Changed(_) | Step::Cancel { .. } => {}
            }
        }
    }
}

/// Makes a call without jitter and without a deadline of the caller's; see [`Blocking`] for both.
///
/// # Errors
/// Why there is no answer, and the last error.
pub fn run<T, E>(
    policy: &Policy<'_>,
    clock: impl Clock,
    sleep: impl FnMut(Duration),
    attempt: impl FnMut(Attempt) -> Result<T, Failed<E>>,
) -> Result<T, Ended<E>> {
    Blocking::new(clock, sleep).run(policy, attempt)
}

/// [`run`] with a plain function: every error of it may go away, and counts as the dependency's failure.
///
/// # Errors
/// Why there is no answer, and the last error.
pub fn call<T, E>(
    policy: &Policy<'_>,
    clock: impl Clock,
    sleep: impl FnMut(Duration),
    mut function: impl FnMut() -> Result<T, E>,
) -> Result<T, Ended<E>> {
    run(policy, clock, sleep, |_| function().map_err(Failed::from))
}

/// A call under way. When the attempt panics, its permits go back all the same.
struct Running<'a, C: Clock> {
    call: Call,
    policy: &'a Policy<'a>,
    clock: &'a C,
    over: bool,
}

impl<C: Clock> Drop for Running<'_, C> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        self.call.cancelled();
        // What was taken is given back, what is out is settled: at most a step for each place and the end.
        for _ in 0..=2 * Call::AT_ONCE {
            if let Step::Done(_) = self.call.poll(self.policy, self.clock.now(), 0) {
                break;
            }
        }
    }
}
