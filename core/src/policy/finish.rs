//! How an attempt ended, as the caller classifies it.

use core::time::Duration;

use crate::decision::Outcome;
use crate::retry::{Evidence, Failure, Verdict, classify_status};
use crate::time::{Instant, saturating_nanos};
use crate::word::bits::Bits;

/// How an attempt ended.
///
/// [`status`](Self::status) classifies an HTTP answer and [`failed`](Self::failed) an error by the
/// engine's one table; every part of that may be overruled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "hand it to `Call::finished`"]
pub struct Finish {
    failure: Option<Failure>,
    verdict: Verdict,
    told: Told,
}

/// What the dependency said about being asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Told {
    /// Nothing, or nothing that could be read.
    Nothing,
    /// Not before so long from now (`Retry-After`, `grpc-retry-pushback-ms`).
    Wait(Duration),
    /// Not at all (a negative pushback, `seawall-retry: no`).
    Stop,
}

/// | word | what |
/// |---|---|
/// | 0 | failure 8, success 1 (bit 8), retryable 1 (bit 9), after a wait 1 (bit 10), breaker 2 (bits 11..), told 2 (bits 13..) |
/// | 1 | the told wait, ns |
const FAILURE: Bits = Bits::new(0, 8);
const SUCCESS: Bits = Bits::new(8, 1);
const RETRYABLE: Bits = Bits::new(9, 1);
const AFTER_WAIT: Bits = Bits::new(10, 1);
const BREAKER: Bits = Bits::new(11, 2);
const TOLD: Bits = Bits::new(13, 2);

impl Finish {
    /// It worked.
    pub const fn success() -> Self {
        Self { failure: None, verdict: Verdict::SUCCESS, told: Told::Nothing }
    }

    /// It failed like this.
    pub const fn failed(failure: Failure) -> Self {
        Self::judged(failure, failure.verdict())
    }

    /// An HTTP answer with this status: a success or a failure by the engine's table.
    pub const fn status(status: u16) -> Self {
        match classify_status(status) {
            Verdict { breaker: Evidence::Success, .. } => Self::success(),
            verdict => Self::judged(Failure::Status, verdict),
        }
    }

    /// It failed, with a verdict of the caller's own.
    pub const fn judged(failure: Failure, verdict: Verdict) -> Self {
        Self { failure: Some(failure), verdict, told: Told::Nothing }
    }

    /// What the dependency said about being asked again.
    pub const fn told(self, told: Told) -> Self {
        Self { told, ..self }
    }

    /// Whether it worked.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.failure.is_none()
    }

    /// How it failed.
    #[must_use]
    pub const fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// What it means.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    pub(super) const fn what_was_told(&self) -> Told {
        self.told
    }

    /// The wait that was told.
    pub(super) const fn told_wait(&self) -> Option<Duration> {
        match self.told {
            Told::Wait(wait) => Some(wait),
            _ => None,
        }
    }

    /// What the breaker is told at `now`. A told wait is evidence only where the failure is: a 503 says
    /// that the dependency is away until then, a 429 that this client was too fast.
    pub(super) fn outcome(&self, now: Instant) -> Outcome {
        match (self.verdict.breaker, self.told_wait()) {
            (Evidence::Failure, Some(wait)) => Outcome::FailureUntil(now.after(wait)),
            (Evidence::Failure, None) => Outcome::Failure,
            (Evidence::Success, _) => Outcome::Success,
            (Evidence::Ignored, _) => Outcome::Ignored,
        }
    }

    pub(super) fn to_words(self) -> [u64; 2] {
        let (told, wait) = match self.told {
            Told::Nothing => (0, 0),
            Told::Wait(wait) => (1, saturating_nanos(wait)),
            Told::Stop => (2, 0),
        };
        let head = FAILURE.of(self.failure.map_or(0, |failure| u64::from(failure.number())))
            | SUCCESS.of(u64::from(self.is_success()))
            | RETRYABLE.of(u64::from(self.verdict.retryable))
            | AFTER_WAIT.of(u64::from(self.verdict.after_wait))
            | BREAKER.of(u64::from(self.verdict.breaker.number()))
            | TOLD.of(told);
        [head, wait]
    }

    /// Any words are some ending; those that no call wrote are at worst a failure without a name.
    pub(super) fn from_words([head, wait]: [u64; 2]) -> Self {
        if SUCCESS.get(head) == 1 {
            return Self::success();
        }
        let failure = Failure::from_number(FAILURE.get(head) as u8).unwrap_or(Failure::Other);
        let breaker = Evidence::from_number(BREAKER.get(head) as u8).unwrap_or(Evidence::Ignored);
        let told = match TOLD.get(head) {
            1 => Told::Wait(Duration::from_nanos(wait)),
            2 => Told::Stop,
            _ => Told::Nothing,
        };
        let verdict = Verdict { retryable: RETRYABLE.get(head) == 1, after_wait: AFTER_WAIT.get(head) == 1, breaker };
        Self::judged(failure, verdict).told(told)
    }
}
