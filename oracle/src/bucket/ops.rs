//! A token bucket's operations and answers as data.

use seawall::{Refund, TokenBucketConfig};

use crate::breaker::No;

/// One operation at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What is asked.
    pub op: Op,
    /// When, in nanoseconds.
    pub now: u64,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// So many tokens now.
    Take {
        /// How many.
        cost: u64,
    },
    /// What `Take` would answer.
    Peek {
        /// How many.
        cost: u64,
    },
    /// So many tokens, now or soon; it joins the list of reservations.
    Reserve {
        /// How many.
        cost: u64,
        /// The longest wait, in nanoseconds.
        max_wait: u64,
    },
    /// The reservation at that place is given back.
    Cancel {
        /// Its place in the list of reservations.
        reservation: usize,
    },
    /// All tokens go.
    Drain,
    /// All tokens come back.
    Reset,
    /// Change the configuration.
    Configure(TokenBucketConfig),
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The tokens were there.
    Granted {
        /// How many are left.
        remaining: u64,
        /// Until it is full, in nanoseconds.
        reset_after: u64,
    },
    /// They were not.
    Refused(No),
    /// They are good from then on.
    Reserved {
        /// From when on, in nanoseconds.
        at: u64,
    },
    /// How much came back.
    Refunded(Refund),
    /// Whether the configuration was accepted.
    Configured(bool),
    /// Done.
    Done,
}
