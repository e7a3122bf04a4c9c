//! The plain models answer the vectors as the engine did: an answer is not right because it was written
//! down.

use seawall_oracle::breaker::Model as BreakerModel;
use seawall_oracle::bucket::Model as BucketModel;
use seawall_oracle::vectors::format::{File, config};
use seawall_oracle::vectors::{breaker, bucket, files, policy};

#[test]
fn circuit_breaker() {
    let mut steps = 0;
    for (name, text) in files().iter().filter(|(name, _)| name.starts_with("circuit_breaker/")) {
        let file: File<breaker::Line> = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for scenario in &file.scenarios {
            let mut model = BreakerModel::new(&config(&scenario.config)).expect("a possible configuration");
            for (place, line) in scenario.steps.iter().enumerate() {
                let permit = model.permits();
                let answer = breaker::Expect::new(model.apply(&line.step()), permit, None);
                assert_eq!(answer, line.expect.clone().mute(), "{name}: {}, step {place}", scenario.name);
                steps += 1;
            }
        }
        for impossible in &file.config_errors {
            assert!(BreakerModel::new(&config(&impossible.config)).is_none(), "{name}: {}", impossible.error);
        }
    }
    assert!(steps > 500, "only {steps} steps");
}

#[test]
fn token_bucket() {
    let mut steps = 0;
    for (name, text) in files().iter().filter(|(name, _)| name.starts_with("token_bucket/")) {
        let file: File<bucket::Line> = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for scenario in &file.scenarios {
            let start = scenario.start_ns.0;
            let mut model = BucketModel::new(&config(&scenario.config), start).expect("a possible configuration");
            for (place, line) in scenario.steps.iter().enumerate() {
                let reservation = model.reservations();
                let answer = bucket::Expect::new(model.apply(&line.step()), reservation, None);
                assert_eq!(answer, line.expect.clone().mute(), "{name}: {}, step {place}", scenario.name);
                steps += 1;
            }
        }
        for impossible in &file.config_errors {
            let model = BucketModel::new(&config(&impossible.config), 0);
            assert!(model.is_none(), "{name}: {}", impossible.error);
        }
    }
    assert!(steps > 200, "only {steps} steps");
}

#[test]
fn whole_calls() {
    let mut steps = 0;
    for (name, text) in files().iter().filter(|(name, _)| name.starts_with("policy/")) {
        let file: File<policy::Line> = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for scenario in &file.scenarios {
            let answers = policy::model(scenario);
            for (place, (line, answer)) in scenario.steps.iter().zip(answers).enumerate() {
                assert_eq!(answer, line.expect, "{name}: {}, step {place}", scenario.name);
                steps += 1;
            }
        }
    }
    assert!(steps > 300, "only {steps} steps");
}
