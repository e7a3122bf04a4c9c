//! The engine's token bucket, asked in the same words as the model.

use std::time::Duration;

use seawall::{ChangeError, Grant, Instant, Rejection, Reservation, TokenBucket};

use super::ops::{Answer, Op, Step};

/// The engine's token bucket with the reservations that it made.
#[derive(Debug)]
pub struct Engine<'a> {
    /// The bucket.
    pub bucket: &'a TokenBucket,
    /// Its reservations as plain words, in the order in which they were made: a copy may be cancelled twice.
    pub reservations: Vec<[u64; Reservation::WORDS]>,
    /// What the last answer says as a sentence: a refusal or an error.
    pub sentence: Option<String>,
    /// Whether sentences are wanted.
    pub sentences: bool,
}

impl<'a> Engine<'a> {
    /// The engine's bucket, with no reservations made yet.
    #[must_use]
    pub fn new(bucket: &'a TokenBucket) -> Self {
        Self { bucket, reservations: Vec::new(), sentence: None, sentences: false }
    }

    /// Does what is asked.
    ///
    /// # Panics
    /// When a cancellation names a reservation that was never made, or a running bucket says that it
    /// was never configured.
    pub fn apply(&mut self, step: &Step) -> Answer {
        let now = Instant::from_nanos(step.now);
        self.sentence = None;
        match step.op {
            Op::Take { cost } => self.granted(self.bucket.try_acquire(cost, now), now),
            Op::Peek { cost } => self.granted(self.bucket.peek(cost, now), now),
            Op::Reserve { cost, max_wait } => match self.bucket.reserve(cost, Duration::from_nanos(max_wait), now) {
                Ok(reservation) => {
                    let at = reservation.at().as_nanos();
                    self.reservations.push(reservation.to_words());
                    Answer::Reserved { at }
                }
                Err(no) => self.refused(no, now),
            },
            Op::Cancel { reservation } => {
                Answer::Refunded(self.bucket.cancel(Reservation::from_words(self.reservations[reservation]), now))
            }
            Op::Drain => {
                self.bucket.drain(now);
                Answer::Done
            }
            Op::Reset => {
                self.bucket.reset(now);
                Answer::Done
            }
            Op::Configure(config) => {
                let result = self.bucket.configure(&config, now);
                if let (true, Err(error)) = (self.sentences, result) {
                    self.sentence = Some(error.to_string());
                }
                match result {
                    Ok(()) => Answer::Configured(true),
                    Err(ChangeError::Config(_)) => Answer::Configured(false),
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }

    fn granted(&mut self, result: Result<Grant, Rejection>, now: Instant) -> Answer {
        match result {
            Ok(grant) => Answer::Granted {
                remaining: grant.remaining(),
                reset_after: u64::try_from(grant.reset_after().as_nanos()).unwrap_or(u64::MAX),
            },
            Err(no) => self.refused(no, now),
        }
    }

    fn refused(&mut self, no: Rejection, now: Instant) -> Answer {
        if self.sentences {
            self.sentence = Some(no.explain(now).as_str().to_owned());
        }
        Answer::Refused(no.into())
    }
}
