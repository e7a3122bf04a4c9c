//! The token bucket's steps as the files write them.

use seawall::{Instant, Refund, Reservation, TokenBucket, TokenBucketConfig};
use serde::{Deserialize, Serialize};

use super::format::{Decimal, Given, Impossible, Refusal, Scenario, config, given};
use crate::bucket::{Answer, Engine, Op, Step};

/// A step in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Line {
    pub op: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Decimal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait_ns: Option<Decimal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Given>,
    pub now_ns: Decimal,
    pub expect: Expect,
}

/// An answer in a file. The order decides: the first that fits is what is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub enum Expect {
    Granted {
        granted: Left,
    },
    Refused {
        refused: Refusal,
    },
    Reserved {
        reserved: Held,
    },
    Refunded {
        refund: String,
    },
    Configured {
        // Without this a missing key would do for null.
        #[serde(deserialize_with = "Option::deserialize")]
        error: Option<String>,
    },
    Done {},
}

/// What a grant leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Left {
    pub remaining: Decimal,
    pub reset_after_ns: Decimal,
}

/// A reservation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Held {
    pub reservation: usize,
    pub at_ns: Decimal,
}

impl Expect {
    /// The answer as a file writes it. `reservation` is the place that one just made takes.
    #[must_use]
    pub fn new(answer: Answer, reservation: usize, sentence: Option<&String>) -> Self {
        match answer {
            Answer::Granted { remaining, reset_after } => {
                Self::Granted { granted: Left { remaining: Decimal(remaining), reset_after_ns: Decimal(reset_after) } }
            }
            Answer::Refused(no) => Self::Refused { refused: Refusal::new(&no, sentence) },
            Answer::Reserved { at } => Self::Reserved { reserved: Held { reservation, at_ns: Decimal(at) } },
            Answer::Refunded(refund) => Self::Refunded {
                refund: match refund {
                    Refund::Full => "full",
                    Refund::Part => "part",
                    Refund::Nothing => "nothing",
                    other => panic!("no name for {other:?}"),
                }
                .to_owned(),
            },
            Answer::Configured(true) => Self::Configured { error: None },
            Answer::Configured(false) => Self::Configured { error: Some(sentence.cloned().unwrap_or_default()) },
            Answer::Done => Self::Done {},
        }
    }

    /// Without sentences, which a model does not write.
    #[must_use]
    pub fn mute(mut self) -> Self {
        match &mut self {
            Self::Refused { refused } => refused.explain.clear(),
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
        let cost = || self.cost.expect("a cost").0;
        let op = match self.op.as_str() {
            "try_acquire" => Op::Take { cost: cost() },
            "peek" => Op::Peek { cost: cost() },
            "reserve" => Op::Reserve { cost: cost(), max_wait: self.max_wait_ns.expect("a wait").0 },
            "cancel" => Op::Cancel { reservation: self.reservation.expect("a reservation") },
            "drain" => Op::Drain,
            "reset" => Op::Reset,
            "configure" => Op::Configure(config(self.config.as_ref().expect("a configuration"))),
            other => panic!("no operation {other}"),
        };
        Step { op, now: self.now_ns.0 }
    }

    fn new(step: &Step, expect: Expect) -> Self {
        let mut line = Self {
            op: String::new(),
            cost: None,
            max_wait_ns: None,
            reservation: None,
            config: None,
            now_ns: Decimal(step.now),
            expect,
        };
        let op = match step.op {
            Op::Take { cost } => {
                line.cost = Some(Decimal(cost));
                "try_acquire"
            }
            Op::Peek { cost } => {
                line.cost = Some(Decimal(cost));
                "peek"
            }
            Op::Reserve { cost, max_wait } => {
                (line.cost, line.max_wait_ns) = (Some(Decimal(cost)), Some(Decimal(max_wait)));
                "reserve"
            }
            Op::Cancel { reservation } => {
                line.reservation = Some(reservation);
                "cancel"
            }
            Op::Drain => "drain",
            Op::Reset => "reset",
            Op::Configure(config) => {
                line.config = Some(given(&config));
                "configure"
            }
        };
        line.op = op.to_owned();
        line
    }
}

/// What the engine answers to a scenario's steps.
///
/// # Panics
/// When the scenario's configuration is impossible.
#[must_use]
pub fn replay(scenario: &Scenario<Line>) -> Vec<Expect> {
    let start = Instant::from_nanos(scenario.start_ns.0);
    let bucket = TokenBucket::new(&config(&scenario.config), start).expect("a possible configuration");
    let mut engine = Engine::new(&bucket);
    engine.sentences = true;
    scenario.steps.iter().map(|line| ask(&mut engine, &line.step())).collect()
}

fn ask(engine: &mut Engine<'_>, step: &Step) -> Expect {
    let place = engine.reservations.len();
    let answer = engine.apply(step);
    Expect::new(answer, place, engine.sentence.as_ref())
}

/// The error that a configuration is refused with.
///
/// # Panics
/// When it is possible.
#[must_use]
pub fn impossible(config: &TokenBucketConfig) -> Impossible {
    let error = TokenBucket::new(config, Instant::ZERO).expect_err("an impossible configuration").to_string();
    Impossible { config: given(config), error }
}

/// A scenario being played, each answer taken down.
#[derive(Debug)]
pub(super) struct Play {
    scenario: Scenario<Line>,
    bucket: Box<TokenBucket>,
    reservations: Vec<[u64; Reservation::WORDS]>,
    now: u64,
}

impl Play {
    pub(super) fn new(name: &str, about: &str, config: TokenBucketConfig) -> Self {
        Self::starting(name, about, config, 0)
    }

    pub(super) fn starting(name: &str, about: &str, config: TokenBucketConfig, start: u64) -> Self {
        let bucket = TokenBucket::new(&config, Instant::from_nanos(start)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let scenario = Scenario {
            name: name.to_owned(),
            about: about.to_owned(),
            misuse: false,
            config: given(&config),
            start_ns: Decimal(start),
            steps: Vec::new(),
        };
        Self { scenario, bucket: Box::new(bucket), reservations: Vec::new(), now: start }
    }

    pub(super) fn misuse(&mut self) -> &mut Self {
        self.scenario.misuse = true;
        self
    }

    /// The clock shows so many nanoseconds.
    pub(super) fn at(&mut self, now: u64) -> &mut Self {
        self.now = now;
        self
    }

    pub(super) fn ask(&mut self, op: Op) -> &mut Self {
        if let Op::Cancel { reservation } = op {
            let twice = self.scenario.steps.iter().any(|line| line.reservation == Some(reservation));
            assert!(!twice || self.scenario.misuse, "{}: reservation {reservation} twice", self.scenario.name);
        }
        let step = Step { op, now: self.now };
        let mut engine = Engine::new(&self.bucket);
        engine.sentences = true;
        engine.reservations = std::mem::take(&mut self.reservations);
        let expect = ask(&mut engine, &step);
        self.reservations = std::mem::take(&mut engine.reservations);
        self.scenario.steps.push(Line::new(&step, expect));
        self
    }

    pub(super) fn take(&mut self, cost: u64) -> &mut Self {
        self.ask(Op::Take { cost })
    }

    pub(super) fn peek(&mut self, cost: u64) -> &mut Self {
        self.ask(Op::Peek { cost })
    }

    pub(super) fn reserve(&mut self, cost: u64, max_wait: u64) -> &mut Self {
        self.ask(Op::Reserve { cost, max_wait })
    }

    pub(super) fn cancel(&mut self, reservation: usize) -> &mut Self {
        self.ask(Op::Cancel { reservation })
    }

    pub(super) fn drain(&mut self) -> &mut Self {
        self.ask(Op::Drain)
    }

    pub(super) fn reset(&mut self) -> &mut Self {
        self.ask(Op::Reset)
    }

    pub(super) fn configure(&mut self, config: TokenBucketConfig) -> &mut Self {
        self.ask(Op::Configure(config))
    }

    pub(super) fn done(&mut self) -> Scenario<Line> {
        self.scenario.clone()
    }
}
