//! What nobody may configure.

use super::*;

/// What nobody may configure, and what is said about it.
#[test]
fn is_refused_with_field_value_and_range() {
    let new = Config::new;
    let table = [
        (new().trials(0), "circuit_breaker.trials: 0 is not allowed; allowed are 1 to 15"),
        (new().trials(16), "circuit_breaker.trials: 16 is not allowed; allowed are 1 to 15"),
        (new().failure_threshold(0), "circuit_breaker.failure_threshold: 0 is not allowed; allowed are 1 to 1000000"),
        (
            new().failure_rate(Ratio::ppm(0)),
            "circuit_breaker.failure_rate: 0 is not allowed; allowed are 0.000001 to 1",
        ),
        (
            new().failure_rate(Ratio::percent(101)),
            "circuit_breaker.failure_rate: 1.01 is not allowed; allowed are 0.000001 to 1",
        ),
        (new().window(1), "circuit_breaker.window: 1 is not allowed; allowed are 2 to 20"),
        (
            new().window(21),
            "circuit_breaker.window: 21 is not allowed; allowed are 2 to 20 (a longer one needs more storage)",
        ),
        (
            new().window(8).minimum_calls(9),
            "circuit_breaker.minimum_calls: 9 is not allowed; allowed are 1 to 8 (at most window)",
        ),
        (
            new().trials(2).close_after(3),
            "circuit_breaker.close_after: 3 is not allowed; allowed are 1 to 2 (at most trials)",
        ),
        (
            new().reset_after(Duration::ZERO),
            "circuit_breaker.reset_after: 0 ns is not allowed; allowed are 1 ms to 7 d",
        ),
        (
            new().reset_after(Duration::MAX),
            "circuit_breaker.reset_after: 213504 d is not allowed; allowed are 1 ms to 7 d",
        ),
        (
            new().reset_after(Duration::from_secs(60)).reset_cap(Duration::from_secs(30)),
            "circuit_breaker.reset_cap: 30 s is not allowed; allowed are 60 s to 7 d (at least reset_after)",
        ),
        (
            new().reset_factor(seawall::Factor::thousandths(999)),
            "circuit_breaker.reset_factor: 0.999 is not allowed; allowed are 1 to 32",
        ),
        (new().reset_jitter(Ratio::ONE), "circuit_breaker.reset_jitter: 1 is not allowed; allowed are 0 to 0.9"),
        (
            new().window(10).slow_rate(Ratio::percent(50)),
            "circuit_breaker.slow_rate: 0.5 is not allowed; it must be left out (slow_after is off)",
        ),
        (
            new().window(10).failure_threshold(11),
            "circuit_breaker.failure_threshold: 11 is not allowed; allowed are 1 to 10 (at most window)",
        ),
    ];
    for (config, text) in table {
        assert_eq!(CircuitBreaker::new(&config).expect_err(text).to_string(), text);
    }
}

#[test]
fn every_bound_of_every_field_is_possible_itself() {
    for (place, field) in Config::FIELDS.iter().enumerate() {
        for value in [field.min, field.max] {
            let mut config = Config::new().with(place, value);
            config = match field.name {
                "slow_rate" => config.slow_after(millis(5)),
                "close_after" => config.trials(15),
                "minimum_calls" => config.window_span(millis(10)),
                "buckets" => config.window_span(millis(10)),
                "reset_cap" => config.reset_after(millis(1)),
                _ => config,
            };
            assert!(config.check().is_ok(), "{} = {value}: {:?}", field.name, config.check());
        }
    }
}
