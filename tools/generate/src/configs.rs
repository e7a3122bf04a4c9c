//! What the core declares.

use seawall::config::{Field, Unit};
use seawall::policy::{Late, PolicyConfig};
use seawall::{
    BackoffConfig, CircuitBreakerConfig, ExpiredTrials, Fill, Growth, Idempotent, Jitter, Mode, OnRetryAfter,
    RetryBudgetConfig, RetryConfig, TimeoutsConfig, TokenBucketConfig,
};

/// A configuration.
#[derive(Debug)]
pub struct Config {
    /// `circuit_breaker`.
    pub id: &'static str,
    /// `CircuitBreaker`.
    pub name: &'static str,
    /// What it configures, in a sentence.
    pub about: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// All configurations.
pub const CONFIGS: &[Config] = &[
    Config {
        id: "circuit_breaker",
        name: "CircuitBreaker",
        about: "How a circuit breaker judges. Consecutive mode unless one of failure_rate, window, window_span, \
                minimum_calls and slow_rate is given, which make it rate mode.",
        fields: CircuitBreakerConfig::FIELDS,
    },
    Config {
        id: "token_bucket",
        name: "TokenBucket",
        about: "How fast, and how much at once. rate and capacity must be stated.",
        fields: TokenBucketConfig::FIELDS,
    },
    Config {
        id: "backoff",
        name: "Backoff",
        about: "How long to wait before trying again.",
        fields: BackoffConfig::FIELDS,
    },
    Config {
        id: "retry_budget",
        name: "RetryBudget",
        about: "How many retries a client may afford.",
        fields: RetryBudgetConfig::FIELDS,
    },
    Config {
        id: "retry",
        name: "Retry",
        about: "How a call is tried again. idempotent must be stated.",
        fields: RetryConfig::FIELDS,
    },
    Config {
        id: "timeouts",
        name: "Timeouts",
        about: "How long a call may take. Each must be stated; 0 states that there is none.",
        fields: TimeoutsConfig::FIELDS,
    },
    Config {
        id: "policy",
        name: "Policy",
        about: "What no part of a policy has to itself.",
        fields: PolicyConfig::FIELDS,
    },
];

/// The enums that fields choose from: name, names of the choices.
pub(crate) const CHOICES: &[(&str, &[&str])] = &[
    ("Mode", Mode::NAMES),
    ("ExpiredTrials", ExpiredTrials::NAMES),
    ("Fill", Fill::NAMES),
    ("Growth", Growth::NAMES),
    ("Jitter", Jitter::NAMES),
    ("Idempotent", Idempotent::NAMES),
    ("OnRetryAfter", OnRetryAfter::NAMES),
    ("Late", Late::NAMES),
];

/// Whether a field must be stated: it has no default, and no other field decides one.
pub(crate) fn is_required(field: &Field) -> bool {
    field.default.is_none() && field.default_text.is_empty()
}

/// The name of the enum that a field chooses from.
pub(crate) fn choice_name(names: &[&str]) -> &'static str {
    let found = CHOICES.iter().find(|(_, known)| *known == names);
    found.expect("every enum that a field chooses from is listed in CHOICES").0
}

/// Whether a field is a rate, which may be written with a period of its own.
pub(crate) fn is_rate(config: &Config, field: &Field) -> bool {
    field.unit == Unit::Count && field.name == "rate" && config.fields.iter().any(|other| other.name == "period")
}

/// Whether a count may also be written as a span of time, which states the field beside it.
pub(crate) fn is_or_span(config: &Config, field: &Field) -> bool {
    let place = config.fields.iter().position(|other| other.name == field.name);
    place.is_some_and(|place| seawall::config::spanning(config.fields, place).is_some())
}

/// The default as people write it, or which fields decide it; `None` when it must be stated.
pub(crate) fn default_text(field: &Field) -> Option<String> {
    match field.default {
        Some(0) if field.unit == Unit::Span => Some("off".into()),
        Some(value) => Some(field.show(value).to_string()),
        None if is_required(field) => None,
        None => Some(field.default_text.into()),
    }
}

/// The range as people write it.
pub(crate) fn range_text(field: &Field) -> String {
    match field.unit {
        Unit::Choice(names) => names.join(", "),
        _ => format!("{} to {}", field.show(field.min), field.show(field.max)),
    }
}
