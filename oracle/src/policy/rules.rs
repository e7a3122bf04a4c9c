//! The configurations of a policy and its parts together, and the rules as plain numbers.

use seawall::config::Config as Fields;
use seawall::policy::PolicyConfig;
use seawall::{
    Backoff, BackoffConfig, CircuitBreakerConfig, RetryBudgetConfig, RetryConfig, TimeoutsConfig, TokenBucketConfig,
};

/// A policy's own configuration, and those of the parts it has.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "one of each")]
pub struct Config {
    pub policy: PolicyConfig,
    pub timeouts: TimeoutsConfig,
    pub retry: Option<(RetryConfig, BackoffConfig)>,
    pub budget: Option<RetryBudgetConfig>,
    pub breaker: Option<CircuitBreakerConfig>,
    pub rate_limit: Option<TokenBucketConfig>,
}

/// The policy's rules in plain numbers. The backoff is the engine's: it has a model of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) expected: u64,
    pub(super) max_wait: u64,
    pub(super) cost: u64,
    pub(super) use_late: bool,
    pub(super) attempt: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) retry: Option<Retrying>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Retrying {
    pub(super) attempts: u64,
    pub(super) may_repeat: bool,
    /// 0 wait, 1 fail, 2 gRPC, 3 AWS.
    pub(super) on_told: u64,
    pub(super) max_told: u64,
    pub(super) backoff: Backoff,
}

fn given<C: Fields>(config: &C, name: &str) -> Option<u64> {
    let place = C::FIELDS.iter().position(|field| field.name == name);
    place.and_then(|place| config.get(place))
}

fn possible<C: Fields>(config: &C) -> bool {
    C::FIELDS
        .iter()
        .enumerate()
        .all(|(place, field)| config.get(place).is_none_or(|value| (field.min..=field.max).contains(&value)))
}

impl Rules {
    /// `None` when some configuration is impossible.
    pub(super) fn of(config: &Config) -> Option<Self> {
        let timeouts = ["connect", "attempt", "total"].map(|name| given(&config.timeouts, name));
        let [Some(connect), Some(attempt), Some(total)] = timeouts else { return None };
        let within = |part: u64, whole: u64| whole == 0 || part <= whole;
        let fits = within(attempt, total) && within(connect, if attempt == 0 { total } else { attempt });
        if !possible(&config.policy) || !possible(&config.timeouts) || !fits {
            return None;
        }
        let retry = match config.retry {
            None => None,
            Some((rules, backoff)) => {
                if !possible(&rules) {
                    return None;
                }
                Some(Retrying {
                    attempts: given(&rules, "attempts").unwrap_or(3),
                    may_repeat: given(&rules, "idempotent")? != 1,
                    on_told: given(&rules, "on_retry_after").unwrap_or(0),
                    max_told: given(&rules, "max_retry_after").unwrap_or(60_000_000_000),
                    backoff: Backoff::new(&backoff).ok()?,
                })
            }
        };
        Some(Self {
            expected: given(&config.policy, "expected").unwrap_or(0),
            max_wait: given(&config.policy, "max_wait").unwrap_or(0),
            cost: given(&config.policy, "cost").unwrap_or(1),
            use_late: given(&config.policy, "late") == Some(1),
            attempt: Some(attempt).filter(|&span| span > 0),
            total: Some(total).filter(|&span| span > 0),
            retry,
        })
    }
}

impl Retrying {
    /// The pause after what was told, given what was drawn; `None` when it is too long.
    pub(super) fn pause(&self, told: Option<u64>, drawn: u64, r: u64) -> Option<u64> {
        let Some(told) = told else { return Some(drawn) };
        match self.on_told {
            3 => Some(told.max(drawn).min(drawn.saturating_add(5_000_000_000))),
            1 => None,
            _ if told > self.max_told => None,
            2 => Some(told),
            _ if r != 0 && self.backoff.is_jittered() => Some(told.saturating_add(drawn)),
            _ => Some(told.max(drawn)),
        }
    }
}
