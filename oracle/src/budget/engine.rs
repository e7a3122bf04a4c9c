//! The engine's retry budget, asked in the same words as the model.

use seawall::{ChangeError, Instant, Rejection, RetryBudget};

use super::ops::{Answer, Op};

/// Does what is asked; the sentence of a refusal or an error stands beside the answer.
#[derive(Debug)]
pub struct Engine<'a>(pub &'a RetryBudget);

impl Engine<'_> {
    /// Does what is asked.
    ///
    /// # Panics
    /// When a running budget says that it was never configured.
    pub fn apply(&self, op: Op, now: u64) -> (Answer, Option<String>) {
        let now = Instant::from_nanos(now);
        let done = (Answer::Done, None);
        match op {
            Op::Deposit => self.0.deposit(now),
            Op::Refund => self.0.refund(now),
            Op::Reset => self.0.reset(now),
            Op::Withdraw => return said(self.0.withdraw(now), now),
            Op::Peek => return said(self.0.peek(now), now),
            Op::Balance => return (Answer::Balance(self.0.balance_ppm(now)), None),
            Op::Configure(config) => match self.0.configure(&config, now) {
                Ok(()) => return (Answer::Configured(true), None),
                Err(ChangeError::Config(error)) => return (Answer::Configured(false), Some(error.to_string())),
                Err(other) => panic!("{other}"),
            },
        }
        done
    }
}

fn said(verdict: Result<(), Rejection>, now: Instant) -> (Answer, Option<String>) {
    match verdict {
        Ok(()) => (Answer::Done, None),
        Err(no) => (Answer::Refused(no.into()), Some(no.explain(now).as_str().to_owned())),
    }
}
