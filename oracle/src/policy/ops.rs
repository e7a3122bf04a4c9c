//! What is told to calls, and what they say, as data.

use seawall::policy::{Attempt, Cut, End, Ending, Finish, Pause, Receipt, Step, Told};
use seawall::{Deadline, Evidence, Failure, Verdict};

use crate::breaker::{Change, No};

/// What happens; `call` is its place in the list of calls.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the inputs of `Call`")]
pub enum Op {
    /// A call is started.
    Start { call: usize, deadline: Deadline },
    /// It is polled until it rests.
    Poll { call: usize },
    /// An attempt of it has ended.
    Finish { call: usize, attempt: u32, result: Ended },
    /// Its pause need not last any longer.
    Wake { call: usize, ticket: u64 },
    /// Its caller wants no more of it.
    Cancel { call: usize },
    /// Another call, outside of any policy, has failed: the breaker hears of it.
    Fail,
}

/// How an attempt ended; [`Finish`] as a struct that can be looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How it failed; `None`: it worked.
    pub failure: Option<Failure>,
    /// Whether it may go away.
    pub retryable: bool,
    /// What the breaker makes of it.
    pub breaker: Evidence,
    /// What the dependency said about being asked again.
    pub told: Told,
}

impl Ended {
    /// It worked.
    pub const SUCCESS: Self = Self { failure: None, retryable: false, breaker: Evidence::Success, told: Told::Nothing };

    /// It took too long: its own timeout, or a deadline.
    #[must_use]
    pub const fn cut(own: bool) -> Self {
        let (failure, breaker) = match own {
            true => (Failure::Timeout, Evidence::Failure),
            false => (Failure::InheritedDeadline, Evidence::Ignored),
        };
        Self { failure: Some(failure), retryable: own, breaker, told: Told::Nothing }
    }

    /// In the engine's words.
    pub const fn finish(&self) -> Finish {
        match self.failure {
            None => Finish::success(),
            Some(failure) => {
                let verdict = Verdict { retryable: self.retryable, after_wait: false, breaker: self.breaker };
                Finish::judged(failure, verdict).told(self.told)
            }
        }
    }
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// To an input.
    Receipt(Receipt),
    /// To polls, up to and with `Wait` or `Done`.
    Steps(Vec<Say>),
    /// Nothing.
    Nothing,
}

/// A step; [`Step`] as an enum that a model can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields of `Step`")]
pub enum Say {
    Run { attempt: u32, until: u64, waited: u64, after: Option<Failure> },
    Cancel { attempt: u32, reason: Cut },
    Wait { until: u64, ticket: u64, pause: Pause },
    Changed(Change),
    Done(Over),
}

/// An ending; [`Ending`] as a struct that a model can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields of `Ending`")]
pub struct Over {
    pub end: End,
    pub attempt: u32,
    pub attempts: u32,
    pub no: Option<No>,
    pub failure: Option<Failure>,
    pub told: Option<u64>,
}

impl Say {
    /// Whether a call that was started says that it is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Done(over) if over.end != End::Unconfigured)
    }
}

impl From<Ending> for Over {
    fn from(ending: Ending) -> Self {
        Self {
            end: ending.end,
            attempt: ending.attempt,
            attempts: ending.attempts,
            no: ending.rejection.map(Into::into),
            failure: ending.failure,
            told: ending.told.map(|told| told.as_nanos()),
        }
    }
}

impl From<Step> for Say {
    fn from(step: Step) -> Self {
        match step {
            Step::Run(Attempt { attempt, until, waited, after, .. }) => {
                let waited = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
                Self::Run { attempt, until: until.as_nanos(), waited, after }
            }
            Step::Cancel { attempt, reason } => Self::Cancel { attempt, reason },
            Step::Wait { until, ticket, pause } => Self::Wait { until: until.as_nanos(), ticket, pause },
            Step::Changed(change) => Self::Changed(change.into()),
            Step::Done(ending) => Self::Done(ending.into()),
            other => unreachable!("a new step: {other:?}"),
        }
    }
}
