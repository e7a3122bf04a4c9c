//! The steps of whole calls as the files write them.

use std::time::Duration;

use seawall::config::Config as Fields;
use seawall::policy::{End, Told};
use seawall::{Deadline, Evidence, Failure, Instant, Rejection};
use serde::{Deserialize, Serialize};

use super::breaker::Moved;
use super::format::{Decimal, Given, Impossible, Refusal, Scenario, config, given};
use crate::breaker::No;
use crate::policy::{Config, Ended, Engine, Op, Over, Parts, Said, Say};

/// How many calls a scenario may have.
const CALLS: usize = 4;

/// A step in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Line {
    pub op: String,
    #[serde(default, skip_serializing_if = "is_first")]
    pub call: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<Decimal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Result_>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<u64>,
    pub now_ns: Decimal,
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub r: Decimal,
    pub expect: Expect,
}

fn is_first(call: &usize) -> bool {
    *call == 0
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Result_ {
    pub failure: Option<String>,
    pub retryable: bool,
    pub breaker: String,
    pub told_ns: Option<Decimal>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

/// An answer in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub enum Expect {
    Receipt { receipt: String },
    Steps { steps: Vec<Told_> },
    Nothing {},
}

/// A step of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub enum Told_ {
    Run { attempt: u32, until_ns: Option<Decimal>, waited_ns: Decimal, after: Option<String> },
    Cancel { attempt: u32, reason: String },
    Wait { until_ns: Option<Decimal>, ticket: u64, pause: String },
    Changed(Moved),
    Done(Closed),
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Closed {
    pub end: String,
    pub attempt: u32,
    pub attempts: u32,
    pub refused: Option<Refusal>,
    pub failure: Option<String>,
    pub told_ns: Option<Decimal>,
}

/// An instant, or none at the end of time.
fn instant(nanos: u64) -> Option<Decimal> {
    (nanos != u64::MAX).then_some(Decimal(nanos))
}

fn name(failure: Option<Failure>) -> Option<String> {
    failure.map(|failure| failure.name().to_owned())
}

fn named<T: Copy>(all: &[T], of: impl Fn(T) -> &'static str, name: &str) -> T {
    *all.iter().find(|one| of(**one) == name).unwrap_or_else(|| panic!("no {name}"))
}

impl Told_ {
    fn new(say: &Say, now: u64) -> Self {
        match *say {
            Say::Run { attempt, until, waited, after } => {
                Self::Run { attempt, until_ns: instant(until), waited_ns: Decimal(waited), after: name(after) }
            }
            Say::Cancel { attempt, reason } => Self::Cancel { attempt, reason: reason.name().to_owned() },
            Say::Wait { until, ticket, pause } => {
                Self::Wait { until_ns: instant(until), ticket, pause: pause.name().to_owned() }
            }
            Say::Changed(change) => Self::Changed(change.into()),
            Say::Done(Over { end, attempt, attempts, no, failure, told }) => Self::Done(Closed {
                end: end.name().to_owned(),
                attempt,
                attempts,
                refused: no.map(|no| refusal(&no, now)),
                failure: name(failure),
                told_ns: told.map(Decimal),
            }),
        }
    }
}

fn refusal(no: &No, now: u64) -> Refusal {
    let sentence = Rejection::new(no.layer, no.reason, no.when).explain(Instant::from_nanos(now));
    Refusal::new(no, Some(&sentence.as_str().to_owned()))
}

impl Expect {
    /// The answer as a file writes it.
    #[must_use]
    pub fn new(said: &Said, now: u64) -> Self {
        match said {
            Said::Receipt(receipt) => Self::Receipt { receipt: receipt.name().to_owned() },
            Said::Steps(steps) => Self::Steps { steps: steps.iter().map(|step| Told_::new(step, now)).collect() },
            Said::Nothing => Self::Nothing {},
        }
    }
}

impl Line {
    /// What the line asks.
    ///
    /// # Panics
    /// When the file was not written by this crate.
    #[must_use]
    pub fn op(&self) -> Op {
        let call = self.call;
        match self.op.as_str() {
            "start" => {
                let at = self.deadline_ns.map_or(u64::MAX, |at| at.0);
                Op::Start { call, deadline: Deadline::at(Instant::from_nanos(at)) }
            }
            "poll" => Op::Poll { call },
            "finished" => {
                let Result_ { failure, retryable, breaker, told_ns, stop } = self.result.as_ref().expect("a result");
                let told = match (told_ns, stop) {
                    (_, true) => Told::Stop,
                    (Some(wait), _) => Told::Wait(Duration::from_nanos(wait.0)),
                    _ => Told::Nothing,
                };
                let failure = failure.as_ref().map(|text| named(Failure::ALL, Failure::name, text));
                let breaker = named(Evidence::ALL, Evidence::name, breaker);
                let result = Ended { failure, retryable: *retryable, breaker, told };
                Op::Finish { call, attempt: self.attempt.expect("an attempt"), result }
            }
            "woken" => Op::Wake { call, ticket: self.ticket.expect("a ticket") },
            "cancelled" => Op::Cancel { call },
            "fail" => Op::Fail,
            other => panic!("no operation {other}"),
        }
    }

    fn new(op: &Op, now: u64, r: u64, expect: Expect) -> Self {
        let mut line = Self {
            op: String::new(),
            call: 0,
            deadline_ns: None,
            attempt: None,
            result: None,
            ticket: None,
            now_ns: Decimal(now),
            r: Decimal(r),
            expect,
        };
        (line.op, line.call) = match *op {
            Op::Start { call, deadline } => {
                line.deadline_ns = instant(deadline.instant().as_nanos());
                ("start".to_owned(), call)
            }
            Op::Poll { call } => ("poll".to_owned(), call),
            Op::Finish { call, attempt, result } => {
                line.attempt = Some(attempt);
                let wait = match result.told {
                    Told::Wait(wait) => Some(Decimal(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX))),
                    _ => None,
                };
                line.result = Some(Result_ {
                    failure: name(result.failure),
                    retryable: result.retryable,
                    breaker: result.breaker.name().to_owned(),
                    told_ns: wait,
                    stop: result.told == Told::Stop,
                });
                ("finished".to_owned(), call)
            }
            Op::Wake { call, ticket } => {
                line.ticket = Some(ticket);
                ("woken".to_owned(), call)
            }
            Op::Cancel { call } => ("cancelled".to_owned(), call),
            Op::Fail => ("fail".to_owned(), 0),
        };
        line
    }
}

/// What was given, each field behind the name of its configuration.
fn all_given(config: &Config) -> Given {
    let mut all = Given::new();
    let mut add = |part: &str, given: Given| {
        assert!(!given.is_empty() || part == "policy", "a part without a field would not be there");
        all.extend(given.into_iter().map(|(name, value)| (format!("{part}.{name}"), value)));
    };
    add("policy", given(&config.policy));
    add("timeouts", given(&config.timeouts));
    if let Some((rules, backoff)) = &config.retry {
        add("retry", given(rules));
        add("backoff", given(backoff));
    }
    config.budget.iter().for_each(|budget| add("retry_budget", given(budget)));
    config.breaker.iter().for_each(|breaker| add("circuit_breaker", given(breaker)));
    config.rate_limit.iter().for_each(|limit| add("token_bucket", given(limit)));
    all
}

/// The configurations in which that was given.
#[must_use]
pub fn configs(all: &Given) -> Config {
    let part = |part: &str| -> Given {
        let prefix = format!("{part}.");
        let own = all.iter().filter_map(|(name, value)| Some((name.strip_prefix(&prefix)?.to_owned(), *value)));
        own.collect()
    };
    fn some<C: Fields>(given: &Given) -> Option<C> {
        (!given.is_empty()).then(|| config(given))
    }
    Config {
        policy: config(&part("policy")),
        timeouts: config(&part("timeouts")),
        retry: some(&part("retry")).zip(some(&part("backoff"))),
        budget: some(&part("retry_budget")),
        breaker: some(&part("circuit_breaker")),
        rate_limit: some(&part("token_bucket")),
    }
}

/// What the engine answers to a scenario's steps.
///
/// # Panics
/// When the scenario's configuration is impossible.
#[must_use]
pub fn replay(scenario: &Scenario<Line>) -> Vec<Expect> {
    let configs = configs(&scenario.config);
    let parts = Parts::new(&configs, Instant::from_nanos(scenario.start_ns.0)).expect("possible configurations");
    let policy = parts.policy(&configs).expect("possible configurations");
    let mut engine = Engine::new(&parts, policy, CALLS);
    scenario.steps.iter().map(|line| ask(&mut engine, &line.op(), line.now_ns.0, line.r.0)).collect()
}

fn ask(engine: &mut Engine<'_>, op: &Op, now: u64, r: u64) -> Expect {
    Expect::new(&engine.apply(op, now, r), now)
}

/// What the plain model answers.
///
/// # Panics
/// When the scenario's configuration is impossible.
#[must_use]
pub fn model(scenario: &Scenario<Line>) -> Vec<Expect> {
    let configs = configs(&scenario.config);
    let model = crate::policy::Model::new(&configs, scenario.start_ns.0, CALLS);
    let mut model = model.expect("possible configurations");
    let answer = |line: &Line| Expect::new(&model.apply(&line.op(), line.now_ns.0, line.r.0), line.now_ns.0);
    scenario.steps.iter().map(answer).collect()
}

/// The error that these configurations are refused with.
///
/// # Panics
/// When they are possible.
#[must_use]
pub fn impossible(config: &Config) -> Impossible {
    Impossible { config: all_given(config), error: refused(config) }
}

/// The text of what is impossible.
///
/// # Panics
/// When nothing is.
#[must_use]
pub fn refused(config: &Config) -> String {
    let parts = Parts::new(config, Instant::ZERO);
    let policy = parts.and_then(|parts| parts.policy(config).map(|_| ()));
    policy.expect_err("an impossible configuration")
}

/// A scenario being played, each answer taken down.
#[derive(Debug)]
pub(super) struct Play {
    scenario: Scenario<Line>,
    asked: Vec<(Op, u64, u64)>,
    config: Config,
    now: u64,
    call: usize,
}

impl Play {
    pub(super) fn new(name: &str, about: &str, config: Config) -> Self {
        let scenario = Scenario {
            name: name.to_owned(),
            about: about.to_owned(),
            misuse: false,
            config: all_given(&config),
            start_ns: Decimal(0),
            steps: Vec::new(),
        };
        Self { scenario, asked: Vec::new(), config, now: 0, call: 0 }
    }

    /// The clock shows so many milliseconds.
    pub(super) fn at(&mut self, ms: u64) -> &mut Self {
        self.now = ms * 1_000_000;
        self
    }

    /// From now on it is about this call.
    pub(super) fn call(&mut self, call: usize) -> &mut Self {
        self.call = call;
        self
    }

    fn ask(&mut self, op: Op, r: u64) -> &mut Self {
        self.asked.push((op, self.now, r));
        self
    }

    pub(super) fn start(&mut self) -> &mut Self {
        self.ask(Op::Start { call: self.call, deadline: Deadline::NEVER }, 0).poll()
    }

    pub(super) fn start_until(&mut self, ms: u64) -> &mut Self {
        let deadline = Deadline::at(Instant::from_nanos(ms * 1_000_000));
        self.ask(Op::Start { call: self.call, deadline }, 0).poll()
    }

    pub(super) fn poll(&mut self) -> &mut Self {
        self.poll_with(0)
    }

    pub(super) fn poll_with(&mut self, r: u64) -> &mut Self {
        self.ask(Op::Poll { call: self.call }, r)
    }

    /// The attempt ended, and nobody has polled.
    pub(super) fn ended(&mut self, attempt: u32, result: Ended) -> &mut Self {
        self.ask(Op::Finish { call: self.call, attempt, result }, 0)
    }

    pub(super) fn success(&mut self, attempt: u32) -> &mut Self {
        self.ended(attempt, Ended::SUCCESS).poll()
    }

    pub(super) fn fails(&mut self, attempt: u32) -> &mut Self {
        self.ended(attempt, failed(Failure::Connection)).poll()
    }

    pub(super) fn woken(&mut self, ticket: u64) -> &mut Self {
        self.ask(Op::Wake { call: self.call, ticket }, 0).poll()
    }

    pub(super) fn cancel(&mut self) -> &mut Self {
        self.ask(Op::Cancel { call: self.call }, 0).poll()
    }

    /// A call outside of any policy fails.
    pub(super) fn another_fails(&mut self) -> &mut Self {
        self.ask(Op::Fail, 0)
    }

    /// Plays it; the last answer is this ending.
    pub(super) fn done(&mut self, end: End) -> Scenario<Line> {
        let name = &self.scenario.name;
        let parts = Parts::new(&self.config, Instant::ZERO).unwrap_or_else(|error| panic!("{name}: {error}"));
        let policy = parts.policy(&self.config).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut engine = Engine::new(&parts, policy, CALLS);
        let play = |&(op, now, r): &(Op, u64, u64)| Line::new(&op, now, r, ask(&mut engine, &op, now, r));
        let steps: Vec<Line> = self.asked.iter().map(play).collect();
        let last = steps.last().map(|line| &line.expect);
        match last {
            Some(Expect::Steps { steps }) if matches!(steps.last(), Some(Told_::Done(over)) if over.end == end.name()) =>
                {}
            other => panic!("{name} does not end with {end}: {other:?}"),
        }
        Scenario { steps, ..self.scenario.clone() }
    }
}

/// A failure by the engine's table.
pub(super) fn failed(failure: Failure) -> Ended {
    let verdict = failure.verdict();
    Ended { failure: Some(failure), retryable: verdict.retryable, breaker: verdict.breaker, told: Told::Nothing }
}

/// An answer with this status, and what it told, in milliseconds.
pub(super) fn status(status: u16, told: Option<u64>) -> Ended {
    let verdict = seawall::classify_status(status);
    let told = told.map_or(Told::Nothing, |ms| Told::Wait(Duration::from_millis(ms)));
    Ended { failure: Some(Failure::Status), retryable: verdict.retryable, breaker: verdict.breaker, told }
}
