//! The engine's breaker, asked in the same words as the model.

use seawall::{ChangeError, CircuitBreaker, Instant, Rejection, Token, WindowWord, WindowWords};

use super::ops::{Answer, Kind, Op, Step};

/// The engine's breaker with the permits that it granted.
#[derive(Debug)]
pub struct Engine<'a, S: ?Sized = [WindowWord; 0]> {
    /// The breaker.
    pub breaker: &'a CircuitBreaker<S>,
    /// Its permits, in the order in which they were granted, each with its instant.
    pub permits: Vec<(Token, u64)>,
    /// What the last answer says as a sentence: a refusal, a snapshot or an error.
    pub sentence: Option<String>,
    /// Whether sentences are wanted.
    pub sentences: bool,
}

impl<'a, S: WindowWords + ?Sized> Engine<'a, S> {
    /// The engine's breaker, with no permits granted yet.
    #[must_use]
    pub fn new(breaker: &'a CircuitBreaker<S>) -> Self {
        Self { breaker, permits: Vec::new(), sentence: None, sentences: false }
    }

    /// Does what is asked.
    ///
    /// # Panics
    /// When a settlement names a permit that was never granted, or a running breaker says that it was
    /// never configured.
    pub fn apply(&mut self, step: &Step) -> Answer {
        let now = Instant::from_nanos(step.now);
        self.sentence = None;
        match step.op {
            Op::Admit => {
                let admission = self.breaker.try_admit(now, step.r);
                let change = admission.transition.map(Into::into);
                self.explain(admission.verdict.err().or(admission.bypassed), now);
                match admission.verdict {
                    Ok(token) => {
                        self.permits.push((token, step.now));
                        let bypassed = admission.bypassed.map(Into::into);
                        Answer::Admitted { kind: kind(token), bypassed, change }
                    }
                    Err(no) => Answer::Refused { no: no.into(), change },
                }
            }
            Op::Settle { permit, outcome } => {
                let (token, granted) = self.permits[permit];
                let settled = self.breaker.settle(token, outcome, Instant::from_nanos(granted), now, step.r);
                Answer::Settled { settlement: settled.settlement, change: settled.transition.map(Into::into) }
            }
            Op::Trip { until } => {
                let until = until.map(Instant::from_nanos);
                Answer::Changed(self.breaker.trip(now, until, step.r).map(Into::into))
            }
            Op::HalfOpen => Answer::Changed(self.breaker.half_open(now).map(Into::into)),
            Op::Reset => Answer::Changed(self.breaker.reset(now).map(Into::into)),
            Op::Configure(config) => {
                let result = self.breaker.configure(&config);
                if let (true, Err(error)) = (self.sentences, result) {
                    self.sentence = Some(error.to_string());
                }
                match result {
                    Ok(()) => Answer::Configured(true),
                    Err(ChangeError::Config(_)) => Answer::Configured(false),
                    Err(other) => panic!("{other}"),
                }
            }
            Op::SetMode(mode) => Answer::Before(self.breaker.set_mode(mode).expect("it is configured")),
            Op::State => Answer::State(self.breaker.state(now)),
            Op::Snapshot => {
                if self.sentences {
                    self.sentence = Some(self.breaker.explain(now).as_str().to_owned());
                }
                Answer::Figures(self.breaker.snapshot(now).expect("it is configured").into())
            }
        }
    }

    fn explain(&mut self, no: Option<Rejection>, now: Instant) {
        if let (true, Some(no)) = (self.sentences, no) {
            self.sentence = Some(no.explain(now).as_str().to_owned());
        }
    }
}

fn kind(token: Token) -> Kind {
    match token {
        _ if token.is_bypass() => Kind::Bypass,
        _ if token.is_trial() => Kind::Trial,
        _ => Kind::Call,
    }
}
