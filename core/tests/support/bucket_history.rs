//! The token bucket's operations as data, so that they can be recorded and run again.

use std::time::Duration;

use seawall::{ChangeError, Grant, Instant, Refund, Rejection, Reservation, TokenBucket, TokenBucketConfig};

use super::linearizability::Model;
use super::sequential::Sequential;

/// A reservation as plain words, which can be recorded and run again.
type Words = [u64; Reservation::WORDS];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    Take { cost: u64, now: Instant },
    Peek { cost: u64, now: Instant },
    Reserve { cost: u64, max_wait: Duration, now: Instant },
    Cancel { reservation: Words, now: Instant },
    Drain { now: Instant },
    Reset { now: Instant },
    Configure { config: TokenBucketConfig, now: Instant },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answered {
    Taken(Result<Grant, Rejection>),
    Reserved(Result<Words, Rejection>),
    Refunded(Refund),
    Configured(Result<(), ChangeError>),
    Done,
}

impl Asked {
    pub(crate) fn of(&self, bucket: &TokenBucket) -> Answered {
        match *self {
            Self::Take { cost, now } => Answered::Taken(bucket.try_acquire(cost, now)),
            Self::Peek { cost, now } => Answered::Taken(bucket.peek(cost, now)),
            Self::Reserve { cost, max_wait, now } => {
                Answered::Reserved(bucket.reserve(cost, max_wait, now).map(|reservation| reservation.to_words()))
            }
            Self::Cancel { reservation, now } => {
                Answered::Refunded(bucket.cancel(Reservation::from_words(reservation), now))
            }
            Self::Drain { now } => {
                bucket.drain(now);
                Answered::Done
            }
            Self::Reset { now } => {
                bucket.reset(now);
                Answered::Done
            }
            Self::Configure { config, now } => Answered::Configured(bucket.configure(&config, now)),
        }
    }
}

impl Answered {
    /// The tokens were there, or will be.
    pub(crate) fn is_yes(&self) -> bool {
        matches!(self, Self::Taken(Ok(_)) | Self::Reserved(Ok(_)))
    }

    /// The reservation, if this made one.
    pub(crate) fn reservation(&self) -> Option<Words> {
        match self {
            Self::Reserved(reservation) => reservation.ok(),
            _ => None,
        }
    }
}

impl Model for Sequential<TokenBucket> {
    type Operation = Asked;
    type Answer = Answered;

    fn apply(&mut self, asked: &Asked) -> Answered {
        self.run(|bucket| asked.of(bucket))
    }
}
