//! The engine's calls, asked in the same words as the model.

use seawall::policy::{Call, Policy, Step};
use seawall::{Backoff, CircuitBreaker, Instant, Outcome, Retry, RetryBudget, Timeouts, TokenBucket};

use super::ops::{Op, Said, Say};
use super::rules::Config;

/// The parts that calls share.
#[derive(Debug)]
#[allow(missing_docs, reason = "one of each")]
pub struct Parts {
    pub breaker: Option<CircuitBreaker>,
    pub rate_limit: Option<TokenBucket>,
    pub budget: Option<RetryBudget>,
}

impl Parts {
    /// New ones, or the text of what is impossible.
    ///
    /// # Errors
    /// The first error's text.
    pub fn new(config: &Config, now: Instant) -> Result<Self, String> {
        let text = |error: seawall::ConfigError| error.to_string();
        Ok(Self {
            breaker: config.breaker.as_ref().map(CircuitBreaker::new).transpose().map_err(text)?,
            rate_limit: config.rate_limit.map(|config| TokenBucket::new(&config, now)).transpose().map_err(text)?,
            budget: config.budget.map(|config| RetryBudget::new(&config, now)).transpose().map_err(text)?,
        })
    }

    /// The policy that joins them.
    ///
    /// # Errors
    /// The first error's text.
    pub fn policy(&self, config: &Config) -> Result<Policy<'_>, String> {
        let text = |error: seawall::ConfigError| error.to_string();
        let timeouts = Timeouts::new(&config.timeouts).map_err(text)?;
        let mut policy = Policy::new(&config.policy, timeouts).map_err(text)?;
        if let Some((rules, backoff)) = &config.retry {
            let rules = Retry::new(rules).map_err(text)?;
            policy = policy.retry(rules, Backoff::new(backoff).map_err(text)?);
        }
        if let Some(breaker) = &self.breaker {
            policy = policy.breaker(breaker);
        }
        if let Some(limit) = &self.rate_limit {
            policy = policy.rate_limit(limit);
        }
        if let Some(budget) = &self.budget {
            policy = policy.budget(budget);
        }
        Ok(policy)
    }
}

/// Calls by one policy.
#[derive(Debug)]
pub struct Engine<'a> {
    policy: Policy<'a>,
    breaker: Option<&'a CircuitBreaker>,
    calls: Vec<Call>,
    over: Vec<bool>,
}

impl<'a> Engine<'a> {
    /// So many calls, none of them started.
    #[must_use]
    pub fn new(parts: &'a Parts, policy: Policy<'a>, calls: usize) -> Self {
        Self {
            policy,
            breaker: parts.breaker.as_ref(),
            calls: (0..calls).map(|_| Call::new()).collect(),
            over: vec![false; calls],
        }
    }

    /// Does what is asked.
    ///
    /// # Panics
    /// When a call does not come to rest.
    pub fn apply(&mut self, op: &Op, now: u64, r: u64) -> Said {
        let now = Instant::from_nanos(now);
        match *op {
            Op::Start { call, deadline } => {
                // The place of a call that is over is used again.
                if std::mem::take(&mut self.over[call]) {
                    self.calls[call] = Call::new();
                }
                Said::Receipt(self.calls[call].start(deadline))
            }
            Op::Finish { call, attempt, result } => Said::Receipt(self.calls[call].finished(attempt, result.finish())),
            Op::Wake { call, ticket } => Said::Receipt(self.calls[call].woken(ticket)),
            Op::Cancel { call } => Said::Receipt(self.calls[call].cancelled()),
            Op::Poll { call } => {
                let steps = rest(&mut self.calls[call], &self.policy, now, r);
                self.over[call] |= steps.last().is_some_and(Say::is_over);
                Said::Steps(steps)
            }
            Op::Fail => {
                if let Some(breaker) = self.breaker
                    && let Ok(token) = breaker.try_admit(now, r).verdict
                {
                    breaker.settle(token, Outcome::Failure, now, now, r);
                }
                Said::Nothing
            }
        }
    }
}

/// Everything that a call says until it rests.
///
/// # Panics
/// When it does not.
pub(crate) fn rest(call: &mut Call, policy: &Policy<'_>, now: Instant, r: u64) -> Vec<Say> {
    let mut said = Vec::new();
    loop {
        let step = call.poll(policy, now, r);
        said.push(step.into());
        if matches!(step, Step::Wait { .. } | Step::Done(_)) {
            return said;
        }
        assert!(said.len() < 32, "it does not come to rest: {said:?}");
    }
}
