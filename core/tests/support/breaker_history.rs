//! The circuit breaker's operations as data, so that they can be recorded and run again.

use seawall::{
    ChangeError, CircuitBreaker, CircuitBreakerConfig, Instant, Mode, Outcome, Rejection, Settlement, State, Token,
    Transition, WindowWord, WindowWords,
};

use super::linearizability::Model;
use super::sequential::Sequential;

#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "a plain value crosses a fork as bytes")]
pub(crate) enum Asked {
    Admit { now: Instant },
    Settle { token: Token, outcome: Outcome, granted: Instant, now: Instant },
    Trip { now: Instant },
    HalfOpen { now: Instant },
    Reset { now: Instant },
    Configure { config: CircuitBreakerConfig },
    SetMode { mode: Mode },
    State { now: Instant },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answered {
    Admitted { verdict: Result<Token, Rejection>, transition: Option<Transition> },
    Settled { settlement: Settlement, transition: Option<Transition> },
    Changed(Option<Transition>),
    Configured(Result<(), ChangeError>),
    Mode(Result<Mode, ChangeError>),
    State(State),
}

impl Asked {
    pub(crate) fn of<S: WindowWords + ?Sized>(&self, breaker: &CircuitBreaker<S>) -> Answered {
        match *self {
            Self::Admit { now } => {
                let admission = breaker.try_admit(now, 0);
                Answered::Admitted { verdict: admission.verdict, transition: admission.transition }
            }
            Self::Settle { token, outcome, granted, now } => {
                let settled = breaker.settle(token, outcome, granted, now, 0);
                Answered::Settled { settlement: settled.settlement, transition: settled.transition }
            }
            Self::Trip { now } => Answered::Changed(breaker.trip(now, None, 0)),
            Self::HalfOpen { now } => Answered::Changed(breaker.half_open(now)),
            Self::Reset { now } => Answered::Changed(breaker.reset(now)),
            Self::Configure { config } => Answered::Configured(breaker.configure(&config)),
            Self::SetMode { mode } => Answered::Mode(breaker.set_mode(mode)),
            Self::State { now } => Answered::State(breaker.state(now)),
        }
    }
}

impl Answered {
    /// Without generations. They move on whenever the slots of the configuration come round, and which
    /// slot a change gets depends on what other changes have claimed, not on their order alone.
    pub(crate) fn without_generation(self) -> Self {
        let plain = |transition: Option<Transition>| {
            transition.map(|mut transition| {
                transition.generation = 0;
                transition
            })
        };
        match self {
            Self::Admitted { verdict, transition } => {
                Self::Admitted { verdict: verdict.map(kind), transition: plain(transition) }
            }
            Self::Settled { settlement, transition } => Self::Settled { settlement, transition: plain(transition) },
            Self::Changed(transition) => Self::Changed(plain(transition)),
            Self::Configured(_) | Self::Mode(_) | Self::State(_) => self,
        }
    }

    /// The permit, if this granted one.
    pub(crate) fn token(&self) -> Option<Token> {
        match self {
            Self::Admitted { verdict, .. } => verdict.ok(),
            _ => None,
        }
    }

    /// The change of state that was seen, if any.
    pub(crate) fn transition(&self) -> Option<Transition> {
        match *self {
            Self::Admitted { transition, .. } | Self::Settled { transition, .. } | Self::Changed(transition) => {
                transition
            }
            Self::Configured(_) | Self::Mode(_) | Self::State(_) => None,
        }
    }
}

/// A token's kind (call, trial, bypass) in its two highest bits, and nothing else.
fn kind(token: Token) -> Token {
    Token::from_bits(token.bits() & 3 << 30)
}

/// The breaker as a model for histories in which changes of configuration overlap.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct WithoutGeneration<const N: usize>(pub(crate) Sequential<CircuitBreaker<[WindowWord; N]>>);

impl<const N: usize> Model for WithoutGeneration<N> {
    type Operation = Asked;
    type Answer = Answered;

    fn apply(&mut self, asked: &Asked) -> Answered {
        self.0.apply(asked).without_generation()
    }
}

impl<const N: usize> Model for Sequential<CircuitBreaker<[WindowWord; N]>> {
    type Operation = Asked;
    type Answer = Answered;

    fn apply(&mut self, asked: &Asked) -> Answered {
        self.run(|breaker| asked.of(breaker))
    }
}
