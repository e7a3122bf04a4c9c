//! What a call says to do, and how it ended.

use core::time::Duration;

use crate::breaker::Transition;
use crate::decision::{Rejection, stable_enum};
use crate::retry::Failure;
use crate::time::Instant;

/// What to do next. After anything but [`Wait`](Self::Wait) and [`Done`](Self::Done), poll again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a step that is not taken leaves the call where it is"]
pub enum Step {
    /// Send this attempt now.
    Run(Attempt),
    /// Cut this attempt off; what becomes of it is no longer looked at.
    Cancel {
        /// Which.
        attempt: u32,
        /// Why.
        reason: Cut,
    },
    /// Nothing to do until then, or until an input comes. [`Instant::MAX`]: only an input ends it.
    Wait {
        /// When to poll again; never in the past.
        until: Instant,
        /// What somebody else will name when the wait is over sooner; 0: it is for time or attempts alone.
        ticket: u64,
        /// What for.
        pause: Pause,
    },
    /// The circuit breaker has changed its state through this call: log it. Exactly one poll says so.
    Changed(Transition),
    /// The call is over. Every further poll says the same.
    Done(Ending),
}

/// An attempt to be sent, and what there is to log about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// Its number, from 1: what [`Call::finished`](super::Call::finished) wants back.
    pub attempt: u32,
    /// When it is cut off; [`Instant::MAX`]: never.
    pub until: Instant,
    /// How long was waited since the failure before (or since the start), as decided then.
    pub waited: Duration,
    /// The failure that it is a retry after.
    pub after: Option<Failure>,
}

impl Attempt {
    /// How much time it has from `now`; `None` when it is never cut off.
    #[must_use]
    pub fn remaining(&self, now: Instant) -> Option<Duration> {
        (self.until != Instant::MAX).then(|| self.until.since(now))
    }
}

stable_enum! {
    /// What a call waits for.
    pub enum Pause {
        /// The attempts that are out.
        Attempts = 1 "attempts",
        /// The pause before a retry.
        Backoff = 2 "backoff",
        /// Its place in the rate limit.
        RateLimit = 3 "rate_limit",
    }
}

stable_enum! {
    /// Why an attempt is cut off.
    pub enum Cut {
        /// It has used its own timeout up.
        TimedOut = 1 "timed_out",
        /// The deadline of the whole call is here.
        Deadline = 2 "deadline",
        /// The caller no longer wants the call.
        Cancelled = 3 "cancelled",
        /// Another attempt has answered.
        Superseded = 4 "superseded",
    }
}

stable_enum! {
    /// What became of an input.
    pub enum Receipt {
        /// It was taken; poll.
        Taken = 1 "taken",
        /// It came twice, too late, or from nowhere, and changed nothing.
        Stale = 2 "stale",
    }
}

stable_enum! {
    /// Why a call ended.
    pub enum End {
        /// An attempt succeeded.
        Success = 1 "success",
        /// The last failure is not one that goes away.
        NotRetryable = 2 "not_retryable",
        /// The operation must not be done twice, so a failure is not retried.
        NotIdempotent = 3 "not_idempotent",
        /// All attempts failed.
        AttemptsUsedUp = 4 "attempts_used_up",
        /// The retry budget is empty.
        BudgetEmpty = 5 "budget_empty",
        /// The dependency said not to retry.
        ToldToStop = 6 "told_to_stop",
        /// The dependency told a wait that is longer than allowed.
        ToldTooLong = 7 "told_too_long",
        /// The circuit breaker refused.
        BreakerRefused = 8 "breaker_refused",
        /// The rate limit refused.
        RateLimited = 9 "rate_limited",
        /// The deadline of the caller has passed.
        DeadlineExceeded = 10 "deadline_exceeded",
        /// The call's own total timeout has passed.
        TimedOut = 11 "timed_out",
        /// What would come next cannot be done before the deadline.
        WontFinish = 12 "wont_finish",
        /// The caller cancelled it.
        Cancelled = 13 "cancelled",
        /// It was never started, or its bytes are no call.
        Unconfigured = 14 "unconfigured",
    }
}

/// How a call ended, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ending {
    /// Why.
    pub end: End,
    /// The attempt whose success is the answer; or, when it is a failure, the last that failed. 0: none.
    pub attempt: u32,
    /// How many attempts were sent.
    pub attempts: u32,
    /// Who refused, where one of our own layers did.
    pub rejection: Option<Rejection>,
    /// The last failure's class, also where a refusal kept it from being retried.
    pub failure: Option<Failure>,
    /// When the dependency said it would be back, where its last failure told.
    pub told: Option<Instant>,
}

impl Ending {
    pub(super) const UNCONFIGURED: Self =
        Self { end: End::Unconfigured, attempt: 0, attempts: 0, rejection: None, failure: None, told: None };

    /// Whether there is an answer.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self.end, End::Success)
    }

    /// When it is worth asking again, where somebody knows: the dependency itself, or who refused.
    #[must_use]
    pub fn retry_at(&self) -> Option<Instant> {
        self.told.max(self.rejection.and_then(|rejection| rejection.at()))
    }
}
