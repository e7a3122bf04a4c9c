//! The conformance vectors, replayed by the engine: `core/vectors`, as its README describes them.

use std::fs;
use std::path::Path;

use seawall::{CircuitBreaker, Instant, TokenBucket, WindowWord, window_words};
use seawall_oracle::vectors::format::{FORMAT, File, config};
use seawall_oracle::vectors::{asked, breaker, bucket, files, policy};
use serde_json::from_str;

/// The texts of all files of a primitive.
fn texts(primitive: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(primitive);
    let mut texts: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a file").path())
        .map(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            (name, fs::read_to_string(&path).expect("a text"))
        })
        .collect();
    texts.sort();
    assert!(texts.len() > 2, "{primitive} has hardly any vectors");
    texts
}

/// Primitives of one operation each, and how many steps their files have at least.
const ASKED: [(&str, usize); 5] =
    [("backoff", 400), ("retry_budget", 200), ("retry", 150), ("deadline", 70), ("wire", 120)];

/// With room for every window, as the faces have it.
type Widest = CircuitBreaker<[WindowWord; window_words(u64::MAX)]>;

#[test]
fn circuit_breaker() {
    let (mut scenarios, mut errors) = (0, 0);
    for (name, text) in texts("circuit_breaker") {
        let file: File<breaker::Line> = from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((file.format, file.primitive.as_str()), (FORMAT, "circuit_breaker"), "{name}");
        for scenario in &file.scenarios {
            let got = breaker::replay(scenario);
            for (place, (line, got)) in scenario.steps.iter().zip(got).enumerate() {
                assert_eq!(got, line.expect, "{name}: {}, step {place}", scenario.name);
            }
            scenarios += 1;
        }
        for impossible in &file.config_errors {
            let error = Widest::with_words(&config(&impossible.config)).expect_err("an impossible configuration");
            assert_eq!(error.to_string(), impossible.error, "{name}: {:?}", impossible.config);
            errors += 1;
        }
    }
    assert!(scenarios >= 50 && errors >= 30, "{scenarios} scenarios, {errors} errors");
}

#[test]
fn token_bucket() {
    let (mut scenarios, mut errors) = (0, 0);
    for (name, text) in texts("token_bucket") {
        let file: File<bucket::Line> = from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((file.format, file.primitive.as_str()), (FORMAT, "token_bucket"), "{name}");
        for scenario in &file.scenarios {
            let got = bucket::replay(scenario);
            for (place, (line, got)) in scenario.steps.iter().zip(got).enumerate() {
                assert_eq!(got, line.expect, "{name}: {}, step {place}", scenario.name);
            }
            scenarios += 1;
        }
        for impossible in &file.config_errors {
            let error = TokenBucket::new(&config(&impossible.config), Instant::ZERO);
            let error = error.expect_err("an impossible configuration");
            assert_eq!(error.to_string(), impossible.error, "{name}: {:?}", impossible.config);
            errors += 1;
        }
    }
    assert!(scenarios >= 30 && errors >= 10, "{scenarios} scenarios, {errors} errors");
}

#[test]
fn whole_calls() {
    let (mut scenarios, mut errors) = (0, 0);
    for (name, text) in texts("policy") {
        let file: File<policy::Line> = from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((file.format, file.primitive.as_str()), (FORMAT, "policy"), "{name}");
        for scenario in &file.scenarios {
            let got = policy::replay(scenario);
            for (place, (line, got)) in scenario.steps.iter().zip(got).enumerate() {
                assert_eq!(got, line.expect, "{name}: {}, step {place}", scenario.name);
            }
            scenarios += 1;
        }
        for impossible in &file.config_errors {
            let error = policy::refused(&policy::configs(&impossible.config));
            assert_eq!(error, impossible.error, "{name}: {:?}", impossible.config);
            errors += 1;
        }
    }
    assert!(scenarios >= 50 && errors >= 15, "{scenarios} scenarios, {errors} errors");
}

/// Backoff, retry budget, rules of retrying, deadlines and header text.
#[test]
fn what_is_asked_in_one_operation() {
    for (primitive, least) in ASKED {
        let (mut steps, mut errors) = (0, 0);
        for (name, text) in texts(primitive) {
            let file: File<asked::Line> = from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((file.format, file.primitive.as_str()), (FORMAT, primitive), "{name}");
            for scenario in &file.scenarios {
                let got = asked::replay(primitive, scenario);
                for (place, (line, got)) in scenario.steps.iter().zip(got).enumerate() {
                    assert_eq!(got, line.expect, "{name}: {}, step {place}", scenario.name);
                    steps += 1;
                }
            }
            for impossible in &file.config_errors {
                let error =
                    asked::Answers::new(primitive, &impossible.config, 0).expect_err("an impossible configuration");
                assert_eq!(error, impossible.error, "{name}: {:?}", impossible.config);
                errors += 1;
            }
        }
        assert!(steps >= least && (errors > 3 || primitive == "wire"), "{primitive}: {steps} steps, {errors} errors");
    }
}

#[test]
fn no_file_is_stale_and_none_is_left_over() {
    let mut written = files();
    written.sort();
    let present: Vec<_> =
        ["backoff", "circuit_breaker", "deadline", "policy", "retry", "retry_budget", "token_bucket", "wire"]
            .iter()
            .flat_map(|primitive| {
                texts(primitive).into_iter().map(move |(name, text)| (format!("{primitive}/{name}"), text))
            })
            .collect();
    let names = |files: &[(String, String)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&written), names(&present));
    for ((name, want), (_, text)) in written.iter().zip(&present) {
        assert!(want == text, "{name} is stale; run `cargo run -p seawall-oracle --bin vectors`");
    }
}
