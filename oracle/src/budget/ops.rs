//! A retry budget's operations and answers as data.

use seawall::RetryBudgetConfig;

use crate::breaker::No;

/// What is asked; the instant stands beside it.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A request pays in.
    Deposit,
    /// A retry is paid for.
    Withdraw,
    /// What `Withdraw` would answer.
    Peek,
    /// A retry that was paid for is not sent.
    Refund,
    /// It is filled.
    Reset,
    /// How much is there?
    Balance,
    /// Change the configuration.
    Configure(RetryBudgetConfig),
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done, or yes.
    Done,
    /// No.
    Refused(No),
    /// So many millionths of a retry.
    Balance(u64),
    /// Whether the configuration was accepted.
    Configured(bool),
}
