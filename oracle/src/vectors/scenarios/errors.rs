//! Configurations that are refused: every bound of every field, and every relation between fields.

use core::time::Duration;

use seawall::config::Config;
use seawall::{CircuitBreakerConfig, TokenBucketConfig};

/// Each field just below and just above what it allows.
pub(super) fn out_of_bounds<C: Config>(base: C) -> Vec<C> {
    let fields = C::FIELDS.iter().enumerate();
    fields
        .flat_map(|(place, field)| [field.min.checked_sub(1), field.max.checked_add(1)].map(|value| (place, value)))
        .filter_map(|(place, value)| Some(base.with(place, value?)))
        .collect()
}

pub(in crate::vectors) fn breaker() -> Vec<CircuitBreakerConfig> {
    let new = CircuitBreakerConfig::new;
    let second = Duration::from_secs(1);
    let mut errors = out_of_bounds(new().slow_after(second));
    let span = new().window_span(second);
    errors.extend([
        span.buckets(9),
        span.buckets(61),
        span.minimum_calls(0),
        span.minimum_calls(100_001),
        span.failure_threshold(1_000_001),
    ]);
    errors.extend([
        new().window(10).minimum_calls(11),
        new().window(100).minimum_calls(101),
        new().window(100).window_span(second),
        new().buckets(10),
        new().window(100).buckets(10),
        new().trials(2).close_after(3),
        new().close_after(2),
        new().window(10).close_after(4),
        new().failure_threshold(11).window(10),
        new().window(10).slow_rate(seawall::Ratio::percent(50)),
        new().reset_after(Duration::from_secs(10)).reset_cap(second),
    ]);
    errors
}

pub(in crate::vectors) fn bucket() -> Vec<TokenBucketConfig> {
    let new = TokenBucketConfig::new;
    let day = Duration::from_secs(86_400);
    let mut errors = out_of_bounds(new().rate(5).capacity(20));
    errors.extend([
        new(),
        new().rate(1),
        new().capacity(1),
        new().rate(10_000_000_001).capacity(1),
        new().rate(1).capacity(1).period(day + Duration::from_nanos(1)),
        new().rate(1).capacity(418).period(day),
        // governor: a period of 20e9 s, longer than its clock can count.
        new().rate(1).capacity(1).period(Duration::from_secs(20_000_000_000)),
    ]);
    errors
}
