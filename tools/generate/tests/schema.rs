//! The schemas and the engine agree: what one refuses at the edge of a range, so does the other.

use jsonschema::Validator;
use seawall::config::{Field, Unit};
use seawall::{CircuitBreakerConfig, TokenBucketConfig, config};
use seawall_generate::CONFIGS;
use serde_json::{Value, json};

fn validator(id: &str) -> Validator {
    let path = format!("{}/../../schema/{id}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::meta::validate(&schema).expect("a schema of the draft that it names");
    jsonschema::validator_for(&schema).unwrap()
}

/// Whether the engine takes this field with this value, the others being as `base` has them.
fn engine_takes<C: config::Config>(base: C, place: usize, value: u64) -> bool {
    base.with(place, value).check().is_ok()
}

/// Values at both edges of a field's range, as a policy file writes them, and whether they are inside.
fn edges(field: &Field) -> Vec<(u64, Value, bool)> {
    let write = |value: u64| match field.unit {
        Unit::Ratio => json!(value as f64 / 1e6),
        Unit::Factor => json!(value as f64 / 1e3),
        _ => json!(value),
    };
    let mut edges = vec![(field.min, write(field.min), true), (field.max, write(field.max), true)];
    edges.push((field.max + 1, write(field.max + 1), false));
    if field.min > 0 {
        edges.push((field.min - 1, write(field.min - 1), false));
    }
    edges
}

/// A configuration in which only the range of `field` itself matters.
fn alone(field: &Field, value: Value) -> Value {
    let mut config = json!({ field.name: value });
    match field.name {
        "slow_rate" => config["slow_after"] = json!("1s"),
        "close_after" => config["trials"] = json!(15),
        "minimum_calls" | "buckets" => config["window_span"] = json!("10ms"),
        _ => {}
    }
    config
}

#[test]
fn the_breakers_schema_and_the_engine_draw_the_same_lines() {
    let schema = validator("circuit_breaker");
    for (place, field) in CircuitBreakerConfig::FIELDS.iter().enumerate() {
        if matches!(field.unit, Unit::Span | Unit::Choice(_)) {
            continue;
        }
        for (value, written, inside) in edges(field) {
            let base = match field.name {
                "slow_rate" => CircuitBreakerConfig::new().slow_after(core::time::Duration::from_secs(1)),
                "close_after" => CircuitBreakerConfig::new().trials(15),
                "minimum_calls" | "buckets" => {
                    CircuitBreakerConfig::new().window_span(core::time::Duration::from_millis(10))
                }
                _ => CircuitBreakerConfig::new(),
            };
            let config = alone(field, written);
            assert_eq!(engine_takes(base, place, value), inside, "engine: {config}");
            assert_eq!(schema.is_valid(&config), inside, "schema: {config}");
        }
    }
}

#[test]
fn the_buckets_schema_and_the_engine_draw_the_same_lines() {
    let schema = validator("token_bucket");
    for (rate, capacity, inside) in [(1, 1, true), (0, 1, false), (1, 0, false), (1_000_000, 1_000_000, true)] {
        let config = json!({ "rate": rate, "capacity": capacity });
        let engine = TokenBucketConfig::new().rate(rate).capacity(capacity).check().is_ok();
        assert_eq!((schema.is_valid(&config), engine), (inside, inside), "{config}");
    }
    assert!(!schema.is_valid(&json!({ "capacity": 1 })) && TokenBucketConfig::new().capacity(1).check().is_err());
    assert!(!schema.is_valid(&json!({ "rate": 1 })) && TokenBucketConfig::new().rate(1).check().is_err());
}

#[test]
fn spans_are_text_with_a_unit_and_read_as_the_engine_reads_them() {
    let schema = validator("circuit_breaker");
    for text in [
        "250ms",
        "30s",
        "1.5 h",
        " 2 d ",
        "0.5s",
        ".5s",
        "5.s",
        "1s ",
        "",
        "s",
        "1",
        "-1s",
        "1e3s",
        ".s",
        "1 fortnight",
    ] {
        let read = config::parse_span(text).is_ok();
        assert_eq!(schema.is_valid(&json!({ "reset_after": text })), read, "{text:?}");
    }
    assert!(!schema.is_valid(&json!({ "reset_after": 30 })), "30 of what?");
    assert!(schema.is_valid(&json!({ "slow_after": 0 })));
    assert!(!schema.is_valid(&json!({ "reset_after": 0 })));
}

#[test]
fn rates_are_counts_or_text_and_read_as_the_engine_reads_them() {
    let schema = validator("token_bucket");
    for text in ["100/s", "5000/h", "1 / 250ms", "3/min", "", "5", "/s", "5/", "-1/s", "1.5/s", "5/fortnight"] {
        let read = config::parse_rate(text).is_ok();
        assert_eq!(schema.is_valid(&json!({ "rate": text, "capacity": 1 })), read, "{text:?}");
    }
}

#[test]
fn names_are_closed_lists() {
    let breaker = validator("circuit_breaker");
    for name in ["normal", "forced-open", "disabled", "shadow"] {
        assert!(breaker.is_valid(&json!({ "mode": name })), "{name}");
    }
    assert!(!breaker.is_valid(&json!({ "mode": "ajar" })));
    assert!(!breaker.is_valid(&json!({ "retries": 3 })), "an unknown key");
}

#[test]
fn every_default_is_valid_where_it_stands() {
    for config in CONFIGS {
        let schema = validator(config.id);
        let path = format!("{}/../../schema/{}.schema.json", env!("CARGO_MANIFEST_DIR"), config.id);
        let text: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut seen = 0;
        for (name, property) in text["properties"].as_object().unwrap() {
            let Some(default) = property.get("default") else { continue };
            let mut whole = match config.id {
                "token_bucket" => json!({ "rate": 1, "capacity": 1 }),
                "retry" => json!({ "idempotent": "yes" }),
                _ => json!({}),
            };
            whole[name] = default.clone();
            assert!(schema.is_valid(&whole), "{whole}");
            seen += 1;
        }
        // Every timeout must be stated.
        assert_eq!(seen >= 2, config.id != "timeouts", "{} has defaults", config.id);
    }
}
