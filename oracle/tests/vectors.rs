//! The plain models answer the vectors as the engine did: an answer is not right because it was written
//! down.

use seawall_oracle::backoff::Formulas;
use seawall_oracle::breaker::Model as BreakerModel;
use seawall_oracle::bucket::Model as BucketModel;
use seawall_oracle::budget::{Answer as BudgetAnswer, Model as BudgetModel, Op as BudgetOp};
use seawall_oracle::vectors::asked::{Ask, Line as Asked};
use seawall_oracle::vectors::format::{File, config};
use seawall_oracle::vectors::{breaker, bucket, files, policy};

/// Room for every window, as the faces have it.
const WIDEST: u64 = seawall::window_words(u64::MAX) as u64;

#[test]
fn circuit_breaker() {
    let mut steps = 0;
    for (name, text) in files().iter().filter(|(name, _)| name.starts_with("circuit_breaker/")) {
        let file: File<breaker::Line> = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for scenario in &file.scenarios {
            let mut model =
                BreakerModel::with_words(&config(&scenario.config), WIDEST).expect("a possible configuration");
            for (place, line) in scenario.steps.iter().enumerate() {
                let permit = model.permits();
                let answer = breaker::Expect::new(model.apply(&line.step()), permit, None);
                assert_eq!(answer, line.expect.clone().mute(), "{name}: {}, step {place}", scenario.name);
                steps += 1;
            }
        }
        for impossible in &file.config_errors {
            assert!(
                BreakerModel::with_words(&config(&impossible.config), WIDEST).is_none(),
                "{name}: {}",
                impossible.error
            );
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

/// The scenarios of a primitive of one operation each.
fn asked(primitive: &str) -> Vec<(String, File<Asked>)> {
    let files = files().into_iter().filter(|(name, _)| name.starts_with(&format!("{primitive}/")));
    files
        .map(|(name, text)| (name.clone(), serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"))))
        .collect()
}

#[test]
fn retry_budget() {
    let mut steps = 0;
    for (name, file) in asked("retry_budget") {
        for scenario in &file.scenarios {
            let start = scenario.start_ns.0;
            let mut model = BudgetModel::new(&config(&scenario.config), start).expect("a possible configuration");
            for (place, line) in scenario.steps.iter().enumerate() {
                let (op, now) = match &line.ask {
                    Ask::Deposit { now_ns } => (BudgetOp::Deposit, now_ns),
                    Ask::Withdraw { now_ns } => (BudgetOp::Withdraw, now_ns),
                    Ask::Peek { now_ns } => (BudgetOp::Peek, now_ns),
                    Ask::Refund { now_ns } => (BudgetOp::Refund, now_ns),
                    Ask::Reset { now_ns } => (BudgetOp::Reset, now_ns),
                    Ask::Balance { now_ns } => (BudgetOp::Balance, now_ns),
                    Ask::Configure { config: given, now_ns } => (BudgetOp::Configure(config(given)), now_ns),
                    other => panic!("{other:?} is not asked of a budget"),
                };
                let at = |key: &str| line.expect.get("refused").and_then(|no| no.get(key)).cloned();
                let said = match model.apply(op, now.0) {
                    BudgetAnswer::Done => line.expect == serde_json::json!({}),
                    BudgetAnswer::Balance(there) => {
                        line.expect["balance_ppm"].as_str().and_then(|text| text.parse().ok()) == Some(there)
                    }
                    BudgetAnswer::Configured(yes) => line.expect["error"].is_null() == yes,
                    BudgetAnswer::Refused(no) => {
                        let seawall::When::Depends { estimate } = no.when else { panic!("{no:?}") };
                        at("reason") == Some(no.reason.name().into())
                            && at("at_ns") == Some(estimate.map(|at| at.as_nanos().to_string()).into())
                    }
                };
                assert!(said, "{name}: {}, step {place}: {line:?}", scenario.name);
                steps += 1;
            }
        }
        for impossible in &file.config_errors {
            assert!(BudgetModel::new(&config(&impossible.config), 0).is_none(), "{name}: {}", impossible.error);
        }
    }
    assert!(steps > 200, "only {steps} steps");
}

#[test]
fn backoff() {
    let mut draws = 0;
    for (name, file) in asked("backoff") {
        for scenario in &file.scenarios {
            let formulas = Formulas::of(&config(&scenario.config)).expect("a possible configuration");
            for line in &scenario.steps {
                let wait =
                    || line.expect["wait_ns"].as_str().and_then(|text| text.parse::<u64>().ok()).expect("a wait");
                match &line.ask {
                    Ask::Ceiling { retry } => {
                        let (ceiling, off) = formulas.ceiling(*retry);
                        assert!(wait().abs_diff(ceiling) <= off, "{name}: {}, {line:?}", scenario.name);
                    }
                    Ask::Delay { retry, previous_ns, r } => {
                        let (low, high) = formulas.range(formulas.ceiling(*retry).0, previous_ns.0);
                        let drawn = low + ((u128::from(r.0) * (u128::from(high - low) + 1)) >> 64) as u64;
                        let undrawn = formulas.undrawn(formulas.ceiling(*retry).0, previous_ns.0);
                        let want = if r.0 == 0 { undrawn } else { drawn };
                        assert_eq!(wait(), want, "{name}: {}, {line:?}", scenario.name);
                    }
                    _ => continue,
                }
                draws += 1;
            }
        }
        for impossible in &file.config_errors {
            assert!(Formulas::of(&config(&impossible.config)).is_none(), "{name}: {}", impossible.error);
        }
    }
    assert!(draws > 300, "only {draws} draws");
}
