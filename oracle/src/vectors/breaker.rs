//! The breaker's steps as the files write them.

use seawall::{
    CircuitBreaker, CircuitBreakerConfig, Instant, Mode, Outcome, Settlement, Token, WindowWord, window_words,
};
use serde::{Deserialize, Serialize};

use super::format::{Decimal, Given, Impossible, Refusal, Scenario, config, given};
use crate::breaker::{Answer, Change, Engine, Figures, Kind, Op, Step};

/// A step in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Line {
    pub op: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ns: Option<Option<Decimal>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Given>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    pub now_ns: Decimal,
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub r: Decimal,
    pub expect: Expect,
}

/// An answer in a file. The order decides: the first that fits is what is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub enum Expect {
    Admitted {
        admitted: String,
        permit: usize,
        bypassed: Option<Refusal>,
        transition: Option<Moved>,
    },
    Refused {
        refused: Refusal,
        transition: Option<Moved>,
    },
    Settled {
        settlement: String,
        transition: Option<Moved>,
    },
    Figures(Box<Shown>),
    Before {
        before: String,
    },
    State {
        state: String,
    },
    Changed {
        // Without this a missing key would do for null.
        #[serde(deserialize_with = "Option::deserialize")]
        transition: Option<Moved>,
    },
    Configured {
        #[serde(deserialize_with = "Option::deserialize")]
        error: Option<String>,
    },
}

/// A transition in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Moved {
    pub from: String,
    pub to: String,
    pub cause: String,
    pub at_ns: Decimal,
    pub until_ns: Option<Decimal>,
    pub generation: u32,
    pub calls: u32,
    pub failed: u32,
    pub slow: u32,
    pub reopened: u8,
    pub unseeded: bool,
}

impl From<Change> for Moved {
    fn from(c: Change) -> Self {
        Self {
            from: c.from.name().to_owned(),
            to: c.to.name().to_owned(),
            cause: c.cause.name().to_owned(),
            at_ns: Decimal(c.at),
            until_ns: c.until.map(Decimal),
            generation: c.generation,
            calls: c.calls,
            failed: c.failed,
            slow: c.slow,
            reopened: c.reopened,
            unseeded: c.unseeded,
        }
    }
}

/// A snapshot in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Shown {
    pub state: String,
    pub mode: String,
    pub generation: u32,
    pub calls: u32,
    pub failed: u32,
    pub slow: u32,
    pub failure_rate_ppm: Option<u32>,
    pub slow_rate_ppm: Option<u32>,
    pub trials_in_flight: u32,
    pub trials_succeeded: u32,
    pub trials: u32,
    pub reopened: u32,
    pub until_ns: Option<Decimal>,
    pub cause: Option<String>,
    pub changed_at_ns: Option<Decimal>,
    pub explain: String,
}

impl Shown {
    fn new(f: Figures, sentence: Option<&String>) -> Self {
        Self {
            state: f.state.name().to_owned(),
            mode: f.mode.name().to_owned(),
            generation: f.generation,
            calls: f.calls,
            failed: f.failed,
            slow: f.slow,
            failure_rate_ppm: f.failure_rate_ppm,
            slow_rate_ppm: f.slow_rate_ppm,
            trials_in_flight: f.trials_in_flight,
            trials_succeeded: f.trials_succeeded,
            trials: f.trials,
            reopened: f.reopened,
            until_ns: f.until.map(Decimal),
            cause: f.cause.map(|cause| cause.name().to_owned()),
            changed_at_ns: f.changed_at.map(Decimal),
            explain: sentence.cloned().unwrap_or_default(),
        }
    }
}

impl Expect {
    /// The answer as a file writes it. `permit` is the place that a granted permit takes.
    #[must_use]
    pub fn new(answer: Answer, permit: usize, sentence: Option<&String>) -> Self {
        match answer {
            Answer::Admitted { kind, bypassed, change } => Self::Admitted {
                admitted: match kind {
                    Kind::Call => "call",
                    Kind::Trial => "trial",
                    Kind::Bypass => "bypass",
                }
                .to_owned(),
                permit,
                bypassed: bypassed.map(|no| Refusal::new(&no, sentence)),
                transition: change.map(Into::into),
            },
            Answer::Refused { no, change } => {
                Self::Refused { refused: Refusal::new(&no, sentence), transition: change.map(Into::into) }
            }
            Answer::Settled { settlement, change } => Self::Settled {
                settlement: match settlement {
                    Settlement::Counted => "counted",
                    Settlement::Neutral => "neutral",
                    Settlement::Stale => "stale",
                    other => panic!("no name for {other:?}"),
                }
                .to_owned(),
                transition: change.map(Into::into),
            },
            Answer::Changed(change) => Self::Changed { transition: change.map(Into::into) },
            Answer::Configured(true) => Self::Configured { error: None },
            Answer::Configured(false) => Self::Configured { error: Some(sentence.cloned().unwrap_or_default()) },
            Answer::Before(mode) => Self::Before { before: mode.name().to_owned() },
            Answer::State(state) => Self::State { state: state.name().to_owned() },
            Answer::Figures(figures) => Self::Figures(Box::new(Shown::new(figures, sentence))),
        }
    }

    /// Without sentences, which a model does not write.
    #[must_use]
    pub fn mute(mut self) -> Self {
        match &mut self {
            Self::Admitted { bypassed: Some(no), .. } | Self::Refused { refused: no, .. } => no.explain.clear(),
            Self::Figures(shown) => shown.explain.clear(),
            Self::Configured { error: Some(error) } => error.clear(),
            _ => {}
        }
        self
    }
}

impl Line {
    /// What the line asks.
    ///
    /// # Panics
    /// When the file was not written by this crate.
    #[must_use]
    pub fn step(&self) -> Step {
        let settle = |outcome| Op::Settle { permit: self.permit.expect("a permit"), outcome };
        let until = self.until_ns.flatten().map(|until| until.0);
        let op = match self.op.as_str() {
            "admit" => Op::Admit,
            "success" => settle(Outcome::Success),
            "failure" => settle(Outcome::Failure),
            "failure_until" => settle(Outcome::FailureUntil(Instant::from_nanos(until.expect("an instant")))),
            "ignore" => settle(Outcome::Ignored),
            "trip" => Op::Trip { until },
            "half_open" => Op::HalfOpen,
            "reset" => Op::Reset,
            "configure" => Op::Configure(config(self.config.as_ref().expect("a configuration"))),
            "set_mode" => {
                let name = self.mode.as_deref();
                let number = Mode::NAMES.iter().position(|known| Some(*known) == name).expect("a mode");
                Op::SetMode(Mode::from_number(number as u64))
            }
            "state" => Op::State,
            "snapshot" => Op::Snapshot,
            other => panic!("no operation {other}"),
        };
        Step { op, now: self.now_ns.0, r: self.r.0 }
    }

    fn new(step: &Step, expect: Expect) -> Self {
        let mut line = Self {
            op: String::new(),
            permit: None,
            until_ns: None,
            config: None,
            mode: None,
            now_ns: Decimal(step.now),
            r: Decimal(step.r),
            expect,
        };
        let op = match step.op {
            Op::Admit => "admit",
            Op::Settle { permit, outcome } => {
                line.permit = Some(permit);
                match outcome {
                    Outcome::Success => "success",
                    Outcome::Failure => "failure",
                    Outcome::FailureUntil(until) => {
                        line.until_ns = Some(Some(Decimal(until.as_nanos())));
                        "failure_until"
                    }
                    Outcome::Ignored => "ignore",
                    other => panic!("no name for {other:?}"),
                }
            }
            Op::Trip { until } => {
                line.until_ns = Some(until.map(Decimal));
                "trip"
            }
            Op::HalfOpen => "half_open",
            Op::Reset => "reset",
            Op::Configure(config) => {
                line.config = Some(given(&config));
                "configure"
            }
            Op::SetMode(mode) => {
                line.mode = Some(mode.name().to_owned());
                "set_mode"
            }
            Op::State => "state",
            Op::Snapshot => "snapshot",
        };
        line.op = op.to_owned();
        line
    }
}

/// Scenarios are played with room for every window.
type Words = [WindowWord; window_words(u64::MAX)];
type Widest = CircuitBreaker<Words>;

/// What the engine answers to a scenario's steps.
///
/// # Panics
/// When the scenario's configuration is impossible.
#[must_use]
pub fn replay(scenario: &Scenario<Line>) -> Vec<Expect> {
    let breaker = Widest::with_words(&config(&scenario.config)).expect("a possible configuration");
    let mut engine = Engine::new(&breaker);
    engine.sentences = true;
    scenario.steps.iter().map(|line| ask(&mut engine, &line.step())).collect()
}

fn ask(engine: &mut Engine<'_, Words>, step: &Step) -> Expect {
    let place = engine.permits.len();
    let answer = engine.apply(step);
    Expect::new(answer, place, engine.sentence.as_ref())
}

/// The error that a configuration is refused with.
///
/// # Panics
/// When it is possible.
#[must_use]
pub fn impossible(config: &CircuitBreakerConfig) -> Impossible {
    let error = Widest::with_words(config).expect_err("an impossible configuration").to_string();
    Impossible { config: given(config), error }
}

/// A scenario being played, each answer taken down.
#[derive(Debug)]
pub(super) struct Play {
    scenario: Scenario<Line>,
    breaker: Box<Widest>,
    permits: Vec<(Token, u64)>,
    now: u64,
}

pub(super) const MS: u64 = 1_000_000;

impl Play {
    pub(super) fn new(name: &str, about: &str, config: CircuitBreakerConfig) -> Self {
        let breaker = Widest::with_words(&config).unwrap_or_else(|error| panic!("{name}: {error}"));
        let scenario = Scenario {
            name: name.to_owned(),
            about: about.to_owned(),
            misuse: false,
            config: given(&config),
            start_ns: Decimal(0),
            steps: Vec::new(),
        };
        Self { scenario, breaker: Box::new(breaker), permits: Vec::new(), now: 0 }
    }

    pub(super) fn misuse(&mut self) -> &mut Self {
        self.scenario.misuse = true;
        self
    }

    /// The clock shows so many milliseconds.
    pub(super) fn at_ms(&mut self, ms: u64) -> &mut Self {
        self.at(ms * MS)
    }

    /// The clock shows so many nanoseconds.
    pub(super) fn at(&mut self, now: u64) -> &mut Self {
        self.now = now;
        self
    }

    pub(super) fn ask(&mut self, op: Op) -> &mut Self {
        self.ask_with(op, 0)
    }

    pub(super) fn ask_with(&mut self, op: Op, r: u64) -> &mut Self {
        if let Op::Settle { permit, .. } = op {
            let twice = self.scenario.steps.iter().any(|line| line.permit == Some(permit));
            assert!(!twice || self.scenario.misuse, "{}: permit {permit} settled twice", self.scenario.name);
        }
        let step = Step { op, now: self.now, r };
        let mut engine = Engine::new(&self.breaker);
        engine.sentences = true;
        engine.permits = std::mem::take(&mut self.permits);
        let expect = ask(&mut engine, &step);
        self.permits = std::mem::take(&mut engine.permits);
        self.scenario.steps.push(Line::new(&step, expect));
        self
    }

    pub(super) fn admit(&mut self) -> &mut Self {
        self.ask(Op::Admit)
    }

    /// A permit asked for and settled at once, which must be granted.
    pub(super) fn call(&mut self, outcome: Outcome) -> &mut Self {
        let permit = self.permits.len();
        self.admit().settle(permit, outcome)
    }

    /// Calls that fail, one after the other.
    pub(super) fn failures(&mut self, count: usize) -> &mut Self {
        (0..count).fold(self, |play, _| play.call(Outcome::Failure))
    }

    /// Calls that work, one after the other.
    pub(super) fn successes(&mut self, count: usize) -> &mut Self {
        (0..count).fold(self, |play, _| play.call(Outcome::Success))
    }

    pub(super) fn settle(&mut self, permit: usize, outcome: Outcome) -> &mut Self {
        self.ask(Op::Settle { permit, outcome })
    }

    pub(super) fn success(&mut self, permit: usize) -> &mut Self {
        self.settle(permit, Outcome::Success)
    }

    pub(super) fn failure(&mut self, permit: usize) -> &mut Self {
        self.settle(permit, Outcome::Failure)
    }

    pub(super) fn ignore(&mut self, permit: usize) -> &mut Self {
        self.settle(permit, Outcome::Ignored)
    }

    pub(super) fn failure_until_ms(&mut self, permit: usize, until: u64) -> &mut Self {
        self.settle(permit, Outcome::FailureUntil(Instant::from_nanos(until * MS)))
    }

    pub(super) fn mode(&mut self, mode: Mode) -> &mut Self {
        self.ask(Op::SetMode(mode))
    }

    pub(super) fn configure(&mut self, config: CircuitBreakerConfig) -> &mut Self {
        self.ask(Op::Configure(config))
    }

    pub(super) fn snapshot(&mut self) -> &mut Self {
        self.ask(Op::Snapshot)
    }

    pub(super) fn state(&mut self) -> &mut Self {
        self.ask(Op::State)
    }

    pub(super) fn done(&mut self) -> Scenario<Line> {
        self.scenario.clone()
    }
}
