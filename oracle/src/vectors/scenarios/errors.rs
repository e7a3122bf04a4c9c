//! Configurations that are refused.

use seawall::{CircuitBreakerConfig, TokenBucketConfig};

pub(in crate::vectors) fn breaker() -> Vec<CircuitBreakerConfig> {
    let new = CircuitBreakerConfig::new;
    vec![new().trials(0), new().window(10).minimum_calls(11), new().trials(2).close_after(3)]
}

pub(in crate::vectors) fn bucket() -> Vec<TokenBucketConfig> {
    let new = TokenBucketConfig::new;
    vec![new(), new().rate(0).capacity(1), new().rate(1)]
}
