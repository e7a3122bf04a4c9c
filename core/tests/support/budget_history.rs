//! The retry budget's operations as data, so that they can be recorded and run again.

use seawall::{ChangeError, Instant, Rejection, RetryBudget, RetryBudgetConfig};

use super::linearizability::Model;
use super::sequential::Sequential;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    Deposit { now: Instant },
    Withdraw { now: Instant },
    Peek { now: Instant },
    Refund { now: Instant },
    Reset { now: Instant },
    Balance { now: Instant },
    Configure { config: RetryBudgetConfig, now: Instant },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answered {
    Verdict(Result<(), Rejection>),
    Balance(u64),
    Configured(Result<(), ChangeError>),
    Done,
}

impl Asked {
    pub(crate) fn of(&self, budget: &RetryBudget) -> Answered {
        match *self {
            Self::Deposit { now } => budget.deposit(now),
            Self::Refund { now } => budget.refund(now),
            Self::Reset { now } => budget.reset(now),
            Self::Withdraw { now } => return Answered::Verdict(budget.withdraw(now)),
            Self::Peek { now } => return Answered::Verdict(budget.peek(now)),
            Self::Balance { now } => return Answered::Balance(budget.balance_ppm(now)),
            Self::Configure { config, now } => return Answered::Configured(budget.configure(&config, now)),
        }
        Answered::Done
    }
}

impl Model for Sequential<RetryBudget> {
    type Operation = Asked;
    type Answer = Answered;

    fn apply(&mut self, asked: &Asked) -> Answered {
        self.run(|budget| asked.of(budget))
    }
}
