//! A breaker's operations and answers as data.

use seawall::{
    Cause, CircuitBreakerConfig, Layer, Mode, Outcome, Reason, Rejection, Settlement, Snapshot, State, Transition, When,
};

/// One operation at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What is asked.
    pub op: Op,
    /// When, in nanoseconds.
    pub now: u64,
    /// Randomness; 0 for none.
    pub r: u64,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "a configuration is large, and few operations are kept")]
pub enum Op {
    /// A permit; it joins the list of permits.
    Admit,
    /// The permit at that place has this outcome.
    Settle {
        /// Its place in the list of permits.
        permit: usize,
        /// How the call ended.
        outcome: Outcome,
    },
    /// Open by hand, until then or for the configured period.
    Trip {
        /// Until when, in nanoseconds.
        until: Option<u64>,
    },
    /// Half-open by hand.
    HalfOpen,
    /// Close by hand and forget.
    Reset,
    /// Change the configuration.
    Configure(CircuitBreakerConfig),
    /// Change the mode alone.
    SetMode(Mode),
    /// The measured state.
    State,
    /// All figures.
    Snapshot,
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A permit.
    Admitted {
        /// Of which kind.
        kind: Kind,
        /// In shadow, what it would have said instead.
        bypassed: Option<No>,
        /// The change of state that asking made.
        change: Option<Change>,
    },
    /// No permit.
    Refused {
        /// Why, and when to ask again.
        no: No,
        /// The change of state that asking made.
        change: Option<Change>,
    },
    /// What became of a settlement.
    Settled {
        /// Counted, neutral or stale.
        settlement: Settlement,
        /// The change of state that it made.
        change: Option<Change>,
    },
    /// A change by hand.
    Changed(Option<Change>),
    /// Whether the configuration was accepted.
    Configured(bool),
    /// The mode before.
    Before(Mode),
    /// The measured state.
    State(State),
    /// All figures.
    Figures(Figures),
}

/// What kind of permit was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call of a closed breaker.
    Call,
    /// A trial of a half-open one.
    Trial,
    /// Nothing will be recorded.
    Bypass,
}

/// A refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct No {
    /// Who.
    pub layer: Layer,
    /// Why.
    pub reason: Reason,
    /// When to ask again.
    pub when: When,
}

impl From<Rejection> for No {
    fn from(no: Rejection) -> Self {
        Self { layer: no.layer, reason: no.reason, when: no.when }
    }
}

/// A change of state; [`Transition`] as a struct that a model can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields of `Transition`")]
pub struct Change {
    pub from: State,
    pub to: State,
    pub cause: Cause,
    pub at: u64,
    pub until: Option<u64>,
    pub generation: u32,
    pub calls: u32,
    pub failed: u32,
    pub slow: u32,
    pub reopened: u8,
    pub unseeded: bool,
}

impl From<Transition> for Change {
    fn from(t: Transition) -> Self {
        Self {
            from: t.from,
            to: t.to,
            cause: t.cause,
            at: t.at.as_nanos(),
            until: t.until.map(|until| until.as_nanos()),
            generation: t.generation,
            calls: t.calls,
            failed: t.failed,
            slow: t.slow,
            reopened: t.reopened,
            unseeded: t.unseeded,
        }
    }
}

/// All figures; [`Snapshot`] as a struct that a model can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields of `Snapshot`")]
pub struct Figures {
    pub state: State,
    pub mode: Mode,
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
    pub until: Option<u64>,
    pub cause: Option<Cause>,
    pub changed_at: Option<u64>,
}

impl From<Snapshot> for Figures {
    fn from(s: Snapshot) -> Self {
        Self {
            state: s.state,
            mode: s.mode,
            generation: s.generation,
            calls: s.calls,
            failed: s.failed,
            slow: s.slow,
            failure_rate_ppm: s.failure_rate_ppm,
            slow_rate_ppm: s.slow_rate_ppm,
            trials_in_flight: s.trials_in_flight,
            trials_succeeded: s.trials_succeeded,
            trials: s.trials,
            reopened: s.reopened,
            until: s.until.map(|until| until.as_nanos()),
            cause: s.cause,
            changed_at: s.changed_at.map(|at| at.as_nanos()),
        }
    }
}
