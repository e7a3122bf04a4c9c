//! What the smaller primitives are asked in the files, and what they answer: one operation, one answer, as JSON.

use std::time::Duration;

use seawall::config::{Config, Ratio};
use seawall::retry::{Reconnect, Schedule, classify_status, ttl};
use seawall::wire::{deadline, grpc, http_date, retry_after};
use seawall::{
    Backoff, BackoffConfig, Deadline, Evidence, Failure, Instant, Rejection, Retry, RetryBudget, RetryBudgetConfig,
    RetryConfig, Timeouts, TimeoutsConfig, Verdict,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::format::{Decimal, Given, Impossible, Refusal, Scenario, config, given};
use crate::budget::{Answer, Engine, Op};

/// A step in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Line {
    #[serde(flatten)]
    pub ask: Ask,
    pub expect: Value,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[allow(missing_docs, reason = "core/vectors/README.md describes the operations")]
pub enum Ask {
    // backoff
    Ceiling { retry: u32 },
    Delay { retry: u32, previous_ns: Decimal, r: Decimal },
    Ttl { span_ns: Decimal, spread_ppm: u32, r: Decimal },
    Schedule { period_ns: Decimal, spread_ppm: u32, seed: Decimal, now_ns: Decimal },
    Reconnect { stable_after_ns: Decimal },
    Connected { now_ns: Decimal },
    Lost { now_ns: Decimal, r: Decimal },
    // retry_budget
    Deposit { now_ns: Decimal },
    Withdraw { now_ns: Decimal },
    Peek { now_ns: Decimal },
    Refund { now_ns: Decimal },
    Reset { now_ns: Decimal },
    Balance { now_ns: Decimal },
    Configure { config: Given, now_ns: Decimal },
    // retry
    Status { status: u16 },
    Failure { failure: String },
    Pause { told_ns: Option<Decimal>, drawn_ns: Decimal, jittered: bool },
    MayRepeat {},
    // deadline
    Check { deadline_ns: Option<Decimal>, expected_ns: Decimal, now_ns: Decimal },
    Shrunk { deadline_ns: Option<Decimal>, margin_ns: Decimal },
    Timeouts {},
    // wire
    ParseRetryAfter { value: String, now_unix: i64 },
    WriteRetryAfter { wait_ns: Decimal },
    ParseDate { value: String, now_unix: i64 },
    WriteDate { unix: i64 },
    ParseGrpcTimeout { value: String },
    WriteGrpcTimeout { wait_ns: Decimal },
    ParsePushback { value: String },
    ParseDeadlineMs { value: String },
    WriteDeadlineMs { wait_ns: Decimal },
}

/// The primitives that a scenario's configuration makes, and what answers its steps.
#[derive(Debug)]
pub struct Answers {
    backoff: Option<Backoff>,
    link: Option<Reconnect>,
    budget: Option<RetryBudget>,
    retry: Option<Retry>,
    timeouts: Option<Timeouts>,
}

fn nanos(span: Duration) -> Value {
    json!(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX).to_string())
}

fn wait(span: Option<Duration>) -> Value {
    json!({ "wait_ns": span.map(nanos) })
}

fn verdict(verdict: Verdict) -> Value {
    let Verdict { retryable, after_wait, breaker } = verdict;
    json!({ "retryable": retryable, "after_wait": after_wait, "breaker": Evidence::name(breaker) })
}

fn refused(no: &Rejection, now: Instant) -> Value {
    let sentence = no.explain(now).as_str().to_owned();
    json!({ "refused": Refusal::new(&(*no).into(), Some(&sentence)) })
}

fn until(deadline: Option<Decimal>) -> Deadline {
    deadline.map_or(Deadline::NEVER, |at| Deadline::at(Instant::from_nanos(at.0)))
}

impl Answers {
    /// What the configuration of `primitive` makes at `start`.
    ///
    /// # Errors
    /// The sentence with which it is refused.
    pub fn new(primitive: &str, config: &Given, start: u64) -> Result<Self, String> {
        use super::format::config as parsed;
        let mut answers = Self { backoff: None, link: None, budget: None, retry: None, timeouts: None };
        let said = |error: seawall::ConfigError| error.to_string();
        match primitive {
            "backoff" => answers.backoff = Some(Backoff::new(&parsed(config)).map_err(said)?),
            "retry_budget" => {
                let start = Instant::from_nanos(start);
                answers.budget = Some(RetryBudget::new(&parsed(config), start).map_err(said)?);
            }
            "retry" => answers.retry = Some(Retry::new(&parsed(config)).map_err(said)?),
            "deadline" => answers.timeouts = Some(Timeouts::new(&parsed(config)).map_err(said)?),
            _ => {}
        }
        Ok(answers)
    }

    /// What is answered.
    ///
    /// # Panics
    /// When the scenario asks a part that its configuration does not make.
    pub fn answer(&mut self, ask: &Ask) -> Value {
        match ask {
            Ask::Ceiling { .. } | Ask::Delay { .. } | Ask::Reconnect { .. } => self.of_backoff(ask),
            Ask::Connected { now_ns } => {
                self.link.as_mut().expect("a connection").connected(Instant::from_nanos(now_ns.0));
                json!({})
            }
            Ask::Lost { now_ns, r } => {
                wait(Some(self.link.as_mut().expect("a connection").lost(Instant::from_nanos(now_ns.0), r.0)))
            }
            Ask::Ttl { span_ns, spread_ppm, r } => {
                wait(Some(ttl(Duration::from_nanos(span_ns.0), Ratio::ppm(*spread_ppm), r.0)))
            }
            Ask::Schedule { period_ns, spread_ppm, seed, now_ns } => {
                let schedule = Schedule::new(Duration::from_nanos(period_ns.0), Ratio::ppm(*spread_ppm), seed.0);
                let next = schedule.next(Instant::from_nanos(now_ns.0)).as_nanos();
                json!({ "phase_ns": nanos(schedule.phase()), "at_ns": next.to_string() })
            }
            Ask::Deposit { now_ns } => self.of_budget(Op::Deposit, now_ns),
            Ask::Withdraw { now_ns } => self.of_budget(Op::Withdraw, now_ns),
            Ask::Peek { now_ns } => self.of_budget(Op::Peek, now_ns),
            Ask::Refund { now_ns } => self.of_budget(Op::Refund, now_ns),
            Ask::Reset { now_ns } => self.of_budget(Op::Reset, now_ns),
            Ask::Balance { now_ns } => self.of_budget(Op::Balance, now_ns),
            Ask::Configure { config: given, now_ns } => self.of_budget(Op::Configure(config(given)), now_ns),
            Ask::Status { status } => verdict(classify_status(*status)),
            Ask::Failure { failure } => {
                let named = Failure::ALL.iter().find(|one| one.name() == failure);
                verdict(named.unwrap_or_else(|| panic!("no failure {failure}")).verdict())
            }
            Ask::Pause { .. } | Ask::MayRepeat {} => self.of_retry(ask),
            Ask::Check { deadline_ns, expected_ns, now_ns } => {
                let now = Instant::from_nanos(now_ns.0);
                match until(*deadline_ns).check(now, Duration::from_nanos(expected_ns.0)) {
                    Ok(left) => json!({ "remaining_ns": (left != Duration::MAX).then(|| nanos(left)) }),
                    Err(no) => refused(&no, now),
                }
            }
            Ask::Shrunk { deadline_ns, margin_ns } => {
                let shrunk = until(*deadline_ns).shrunk_by(Duration::from_nanos(margin_ns.0));
                let at = (!shrunk.is_never()).then(|| shrunk.instant().as_nanos().to_string());
                json!({ "deadline_ns": at })
            }
            Ask::Timeouts {} => {
                let timeouts = self.timeouts.expect("timeouts");
                let [connect, attempt, total] = [timeouts.connect(), timeouts.attempt(), timeouts.total()];
                json!({
                    "connect_ns": connect.map(nanos),
                    "attempt_ns": attempt.map(nanos),
                    "total_ns": total.map(nanos),
                })
            }
            _ => of_text(ask),
        }
    }

    fn of_backoff(&mut self, ask: &Ask) -> Value {
        let backoff = self.backoff.expect("a backoff");
        match ask {
            Ask::Ceiling { retry } => wait(Some(backoff.ceiling(*retry))),
            Ask::Delay { retry, previous_ns, r } => {
                wait(Some(backoff.delay(*retry, Duration::from_nanos(previous_ns.0), r.0)))
            }
            Ask::Reconnect { stable_after_ns } => {
                self.link = Some(Reconnect::new(backoff, Duration::from_nanos(stable_after_ns.0)));
                json!({})
            }
            other => panic!("{other:?} is not asked of a backoff"),
        }
    }

    fn of_budget(&self, op: Op, now: &Decimal) -> Value {
        let (answer, sentence) = Engine(self.budget.as_ref().expect("a budget")).apply(op, now.0);
        match answer {
            Answer::Done => json!({}),
            Answer::Refused(no) => json!({ "refused": Refusal::new(&no, sentence.as_ref()) }),
            Answer::Balance(millionths) => json!({ "balance_ppm": millionths.to_string() }),
            Answer::Configured(_) => json!({ "error": sentence }),
        }
    }

    fn of_retry(&self, ask: &Ask) -> Value {
        let retry = self.retry.expect("rules");
        match ask {
            Ask::Pause { told_ns, drawn_ns, jittered } => {
                let told = told_ns.map(|told| Duration::from_nanos(told.0));
                wait(retry.pause(told, Duration::from_nanos(drawn_ns.0), *jittered))
            }
            _ => json!({ "may_repeat": retry.may_repeat() }),
        }
    }
}

fn of_text(ask: &Ask) -> Value {
    let span = |nanos: &Decimal| Duration::from_nanos(nanos.0);
    match ask {
        Ask::ParseRetryAfter { value, now_unix } => wait(retry_after::parse(value.as_bytes(), *now_unix)),
        Ask::WriteRetryAfter { wait_ns } => json!({ "text": retry_after::write(span(wait_ns)).as_str() }),
        Ask::ParseDate { value, now_unix } => json!({ "unix": http_date::parse(value.as_bytes(), *now_unix) }),
        Ask::WriteDate { unix } => json!({ "text": http_date::write(*unix).as_str() }),
        Ask::ParseGrpcTimeout { value } => wait(grpc::parse_timeout(value.as_bytes())),
        Ask::WriteGrpcTimeout { wait_ns } => json!({ "text": grpc::write_timeout(span(wait_ns)).as_deref() }),
        Ask::ParsePushback { value } => match grpc::parse_pushback(value.as_bytes()) {
            grpc::Pushback::After(span) => wait(Some(span)),
            _ => wait(None),
        },
        Ask::ParseDeadlineMs { value } => wait(deadline::parse_remaining(value.as_bytes())),
        Ask::WriteDeadlineMs { wait_ns } => json!({ "text": deadline::write_remaining(span(wait_ns)).as_deref() }),
        other => panic!("{other:?} is not about text"),
    }
}

/// What the engine answers to a scenario's steps.
///
/// # Panics
/// When the scenario's configuration is impossible.
#[must_use]
pub fn replay(primitive: &str, scenario: &Scenario<Line>) -> Vec<Value> {
    let mut answers = Answers::new(primitive, &scenario.config, scenario.start_ns.0).expect("a possible configuration");
    scenario.steps.iter().map(|line| answers.answer(&line.ask)).collect()
}

/// The error that a configuration is refused with.
fn impossible<C: Config>(primitive: &str, config: &C) -> Impossible {
    let config = given(config);
    let error = Answers::new(primitive, &config, 0).expect_err("an impossible configuration");
    Impossible { config, error }
}

pub(super) fn backoff_error(config: &BackoffConfig) -> Impossible {
    impossible("backoff", config)
}

pub(super) fn budget_error(config: &RetryBudgetConfig) -> Impossible {
    impossible("retry_budget", config)
}

pub(super) fn retry_error(config: &RetryConfig) -> Impossible {
    impossible("retry", config)
}

pub(super) fn timeouts_error(config: &TimeoutsConfig) -> Impossible {
    impossible("deadline", config)
}

/// A scenario of these questions, with the engine's answers.
pub(super) fn played<C: Config>(
    primitive: &str,
    name: &str,
    about: &str,
    config: Option<&C>,
    start: u64,
    asks: Vec<Ask>,
) -> Scenario<Line> {
    let config = config.map(given).unwrap_or_default();
    let mut answers = Answers::new(primitive, &config, start).unwrap_or_else(|error| panic!("{name}: {error}"));
    let steps = asks.into_iter().map(|ask| Line { expect: answers.answer(&ask), ask }).collect();
    let (name, about) = (name.to_owned(), about.to_owned());
    Scenario { name, about, misuse: false, config, start_ns: Decimal(start), steps }
}
