//! What a failure means: whether it may go away, and what the circuit breaker makes of it.
//!
//! The one table, for every language:
//!
//! | what came | retried | the breaker counts |
//! |---|---|---|
//! | status 100 to 399 | | a success |
//! | 429 | after the wait it told, or the usual pause | nothing: this client was too fast |
//! | other 4xx | no: it will recur | nothing: the caller's own mistake |
//! | 500, 501 and every other 5xx | no | a failure |
//! | 502, 503, 504 | yes | a failure |
//! | timeout, connection error, what the caller declares transient | yes | a failure |
//! | any other error | no | a failure |
//! | a refusal by a layer of our own | no | nothing |
//! | cancelled, or cut off by a deadline that came from above | no | nothing |
//!
//! Statuses outside 100 to 599 are treated as 500 is.
//!
//! Source: RFC 9110 and RFC 6585 for the meanings; the list of what is transient as in *Site Reliability
//! Engineering* (2016), chapters 21 and 22.

use crate::decision::stable_enum;

stable_enum! {
    /// How an attempt failed.
    pub enum Failure {
        /// It took longer than its timeout allows.
        Timeout = 1 "timeout",
        /// The connection could not be made, or broke.
        Connection = 2 "connection",
        /// The answer was a status that means failure.
        Status = 3 "status",
        /// A layer of our own refused (a breaker, a limit), so the dependency was not asked.
        OwnRefusal = 4 "own_refusal",
        /// It was cancelled.
        Cancelled = 5 "cancelled",
        /// A deadline from above came before its own timeout.
        InheritedDeadline = 6 "inherited_deadline",
        /// Something else.
        Other = 7 "other",
        /// The caller says that it may go away.
        Transient = 8 "transient",
    }
}

stable_enum! {
    /// What a circuit breaker makes of the end of a call.
    pub enum Evidence {
        /// The dependency works.
        Success = 1 "success",
        /// The dependency fails.
        Failure = 2 "failure",
        /// It says nothing about the dependency.
        Ignored = 3 "ignored",
    }
}

/// What the end of an attempt means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may go away, so that another attempt makes sense.
    pub retryable: bool,
    /// Whether another attempt makes sense only after the wait that was told, if one was.
    pub after_wait: bool,
    /// What the circuit breaker makes of it.
    pub breaker: Evidence,
}

impl Verdict {
    /// It worked.
    pub const SUCCESS: Self = Self { retryable: false, after_wait: false, breaker: Evidence::Success };
    /// The dependency failed, and it may go away.
    pub const TRANSIENT: Self = Self { retryable: true, after_wait: false, breaker: Evidence::Failure };
    /// The dependency failed, and the same will fail again.
    pub const LASTING: Self = Self { retryable: false, after_wait: false, breaker: Evidence::Failure };
    /// It will recur, and is not the dependency's fault.
    pub const NOT_ITS_FAULT: Self = Self { retryable: false, after_wait: false, breaker: Evidence::Ignored };
    /// The dependency works, and this client asked too often.
    pub const TOO_FAST: Self = Self { retryable: true, after_wait: true, breaker: Evidence::Ignored };
}

/// What an HTTP status means.
#[must_use]
pub const fn classify_status(status: u16) -> Verdict {
    match status {
        100..=399 => Verdict::SUCCESS,
        429 => Verdict::TOO_FAST,
        400..=499 => Verdict::NOT_ITS_FAULT,
        502..=504 => Verdict::TRANSIENT,
        _ => Verdict::LASTING,
    }
}

impl Failure {
    /// What it means. A status says more by itself: [`classify_status`].
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::Timeout | Self::Connection | Self::Transient => Verdict::TRANSIENT,
            Self::Status | Self::Other => Verdict::LASTING,
            Self::OwnRefusal | Self::Cancelled | Self::InheritedDeadline => Verdict::NOT_ITS_FAULT,
        }
    }
}
