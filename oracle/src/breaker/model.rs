//! A breaker as one would write it on a whiteboard: a state with its own data, a queue of calls, and
//! time that does not wrap.
//!
//! Where the engine states a limit of its word, the model states the same limit in plain numbers: the
//! unit of deadlines, their repetition, and how far ahead a deadline still counts.

use std::collections::VecDeque;

use seawall::config::Config;
use seawall::{Cause, CircuitBreakerConfig, Instant, Layer, Mode, Outcome, Reason, Settlement, State, When};

use super::ops::{Answer, Change, Figures, Kind, No, Op, Step};
use super::rules::{Expired, Rules, UNIT};
use super::span::Span;

/// The generation counts modulo this.
const GENERATIONS: u64 = 1 << 18;
/// Every so many changes of configuration the generation moves on.
const CHANGES: u64 = 4;
/// An open period's end repeats after so many units, a lease after so many.
const OPEN_REPEATS: u64 = 1 << 37;
const LEASE_REPEATS: u64 = 1 << 25;
/// More reopenings in a row than this are not told apart.
const REOPENED: u64 = 15;
/// A long window is kept in blocks of so many calls.
const BLOCK: usize = 8;
/// More failures in a row than this are not told apart.
const ROW: u64 = (1 << 20) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Call {
    failed: bool,
    slow: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Consecutive mode: how many failed in a row.
    Row(u64),
    /// Rate mode: the last calls, the oldest first; of a long window also how many lie in the newest
    /// block of eight.
    Window(VecDeque<Call>, usize),
    /// Rate mode: the calls of a span of time.
    Span(Span),
    /// Until that unit.
    Open { until: u64, reopened: u64 },
    /// A round of trials.
    HalfOpen { out: u64, succeeded: u64, failed: u64, lease: u64, reopened: u64 },
}

/// What a permit remembers.
#[derive(Clone, Copy, Debug)]
struct Permit {
    kind: Kind,
    generation: u64,
    granted: u64,
}

/// What the last change of state left for people.
#[derive(Clone, Copy, Debug)]
struct Report {
    cause: Cause,
    at: u64,
    calls: u32,
    failed: u32,
    slow: u32,
}

/// The plain model of a circuit breaker.
#[derive(Clone, Debug)]
pub struct Model {
    /// The longest window that has room, and how many buckets do.
    longest: u64,
    buckets: u64,
    rules: Rules,
    /// The greatest reaches of all rules so far: a period outlives the rules that set it.
    open_reach: u64,
    lease_reach: u64,
    phase: Phase,
    generation: u64,
    changes: u64,
    report: Option<Report>,
    permits: Vec<Permit>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) slow: u64,
}

impl Model {
    /// A closed breaker, or `None` when the configuration is impossible.
    #[must_use]
    pub fn new(config: &CircuitBreakerConfig) -> Option<Self> {
        Self::with_words(config, 0)
    }

    /// The same with so many words for its window, a power of two.
    #[must_use]
    pub fn with_words(config: &CircuitBreakerConfig, words: u64) -> Option<Self> {
        let longest = (words * 8).saturating_sub(7).clamp(20, 1_024);
        let rules = Rules::of(config, longest, words)?;
        let phase = nothing_learnt(&rules);
        Some(Self {
            longest,
            buckets: words,
            open_reach: rules.open_reach(),
            lease_reach: rules.lease_reach(),
            rules,
            phase,
            generation: 0,
            changes: 0,
            report: None,
            permits: Vec::new(),
        })
    }

    /// How many permits it has granted.
    #[must_use]
    pub fn permits(&self) -> usize {
        self.permits.len()
    }

    /// Does what is asked.
    ///
    /// # Panics
    /// When a settlement names a permit that was never granted.
    pub fn apply(&mut self, step: &Step) -> Answer {
        let Step { op, now, r } = *step;
        match op {
            Op::Admit => self.admit(now, r),
            Op::Settle { permit, outcome } => self.settle(self.permits[permit], outcome, now, r),
            Op::Trip { until } => {
                let reopened = self.reopened();
                if let Phase::HalfOpen { .. } = self.phase {
                    self.next_generation();
                }
                let counts = self.counts(now);
                Answer::Changed(Some(self.open(reopened, until, Cause::Tripped, counts, now, r)))
            }
            Op::HalfOpen if matches!(self.phase, Phase::HalfOpen { .. }) => Answer::Changed(None),
            Op::HalfOpen => {
                let counts = self.counts(now);
                Answer::Changed(Some(self.half_open(self.reopened(), Cause::HalfOpened, counts, now)))
            }
            Op::Reset => {
                self.next_generation();
                Answer::Changed(Some(self.close(Cause::Reset, Counts::default(), now)))
            }
            Op::Configure(config) => match Rules::of(&config, self.longest, self.buckets) {
                Some(mut rules) => {
                    if !states_mode(&config) {
                        rules.mode = self.rules.mode;
                    }
                    self.change(rules);
                    Answer::Configured(true)
                }
                None => Answer::Configured(false),
            },
            Op::SetMode(mode) => {
                let before = self.rules.mode;
                self.change(Rules { mode, ..self.rules.clone() });
                Answer::Before(before)
            }
            Op::State => Answer::State(self.figures(now).state),
            Op::Snapshot => Answer::Figures(self.figures(now)),
        }
    }

    // --- asking ---

    fn admit(&mut self, now: u64, r: u64) -> Answer {
        match self.rules.mode {
            Mode::Disabled => return self.grant(Kind::Bypass, None, None, now),
            Mode::ForcedOpen => {
                return Answer::Refused { no: no(Reason::ForcedOpen, When::Depends { estimate: None }), change: None };
            }
            _ => {}
        }
        match self.phase.clone() {
            Phase::Row(_) | Phase::Window(..) | Phase::Span(_) => self.grant(Kind::Call, None, None, now),
            Phase::Open { reopened, .. } => match self.open_until(now) {
                Some(until) => self.refuse(no(Reason::Open, When::At(Instant::from_nanos(until))), None, now),
                None => {
                    let change = self.half_open(reopened, Cause::Due, Counts::default(), now);
                    self.trial(Some(change), now)
                }
            },
            Phase::HalfOpen { out, reopened, .. } if out > 0 && self.lease_until(now).is_none() => {
                let counts = self.counts(now);
                self.next_generation();
                match self.rules.expired {
                    Expired::Again => {
                        let change = self.half_open(reopened, Cause::TrialsExpired, counts, now);
                        self.trial(Some(change), now)
                    }
                    Expired::Open => {
                        let change = self.open(reopened + 1, None, Cause::TrialsExpired, counts, now, r);
                        let at = Instant::from_nanos(change.until.unwrap_or(now));
                        self.refuse(no(Reason::Open, When::At(at)), Some(change), now)
                    }
                    Expired::Close => {
                        let change = self.close(Cause::TrialsExpired, counts, now);
                        self.grant(Kind::Call, None, Some(change), now)
                    }
                }
            }
            Phase::HalfOpen { out, succeeded, failed, .. } if out + succeeded + failed < self.rules.trials => {
                self.trial(None, now)
            }
            Phase::HalfOpen { .. } => {
                let estimate = self.lease_until(now).map(Instant::from_nanos);
                self.refuse(no(Reason::TrialsBusy, When::Depends { estimate }), None, now)
            }
        }
    }

    fn trial(&mut self, change: Option<Change>, now: u64) -> Answer {
        let end = round_up(now.saturating_add(self.rules.trial_timeout * UNIT));
        if let Phase::HalfOpen { out, lease, .. } = &mut self.phase {
            let running = ahead(*lease, now, LEASE_REPEATS, self.lease_reach).filter(|_| *out > 0);
            *lease = end.max(now / UNIT + running.unwrap_or(0));
            *out += 1;
        }
        self.grant(Kind::Trial, None, change, now)
    }

    fn grant(&mut self, kind: Kind, bypassed: Option<No>, change: Option<Change>, now: u64) -> Answer {
        self.permits.push(Permit { kind, generation: self.generation, granted: now });
        Answer::Admitted { kind, bypassed, change }
    }

    fn refuse(&mut self, no: No, change: Option<Change>, now: u64) -> Answer {
        match self.rules.mode {
            Mode::Shadow => self.grant(Kind::Bypass, Some(no), change, now),
            _ => Answer::Refused { no, change },
        }
    }

    // --- settling ---

    fn settle(&mut self, permit: Permit, outcome: Outcome, now: u64, r: u64) -> Answer {
        let neutral = Answer::Settled { settlement: Settlement::Neutral, change: None };
        let stale = Answer::Settled { settlement: Settlement::Stale, change: None };
        let half_open = matches!(self.phase, Phase::HalfOpen { .. });
        let closed = matches!(self.phase, Phase::Row(_) | Phase::Window(..) | Phase::Span(_));
        match permit.kind {
            Kind::Bypass => return neutral,
            Kind::Call if !closed || permit.generation != self.generation => return stale,
            Kind::Trial if !half_open || permit.generation != self.generation => return stale,
            Kind::Trial if self.lease_until(now).is_none() => return stale,
            _ => {}
        }
        let outcome = if self.rules.mode == Mode::Disabled { Outcome::Ignored } else { outcome };
        let slow = self.rules.slow_after.is_some_and(|limit| now.saturating_sub(permit.granted) > limit);
        let told = match outcome {
            Outcome::FailureUntil(until) if until.as_nanos() > now => Some(until.as_nanos()),
            _ => None,
        };
        let change = match outcome {
            Outcome::Ignored => {
                if let Phase::HalfOpen { out, .. } = &mut self.phase {
                    *out = out.saturating_sub(1);
                }
                return neutral;
            }
            Outcome::Success if half_open => self.trial_ended(true, slow, None, now, r),
            _ if half_open => self.trial_ended(false, slow, told, now, r),
            Outcome::Success => self.call_ended(false, slow, None, now, r),
            _ => self.call_ended(true, slow, told, now, r),
        };
        Answer::Settled { settlement: Settlement::Counted, change }
    }

    fn call_ended(&mut self, failed: bool, slow: bool, told: Option<u64>, now: u64, r: u64) -> Option<Change> {
        let verdict = match &mut self.phase {
            Phase::Row(row) => {
                *row = if failed || slow { (*row + 1).min(ROW) } else { 0 };
                (*row >= self.rules.failure_threshold && *row > 0).then_some(Cause::FailureThreshold)
            }
            Phase::Window(calls, newest) => {
                let rate = self.rules.rate.as_ref().expect("a window means rate mode");
                let measured =
                    matches!(self.rules.mode, Mode::Normal | Mode::Shadow) && self.rules.slow_after.is_none();
                let good = |call: &Call| !call.failed && !call.slow;
                if measured && !failed && calls.len() == rate.window && calls.iter().all(good) {
                    // A window full of fast successes does not move for one more.
                    return None;
                }
                *newest = *newest % BLOCK + 1;
                calls.push_back(Call { failed, slow });
                while calls.len() > rate.window {
                    calls.pop_front();
                }
                let bad = |is: fn(&Call) -> bool| calls.iter().filter(|call| is(call)).count() as u64;
                let counts = Counts { calls: calls.len() as u64, failed: bad(|c| c.failed), slow: bad(|c| c.slow) };
                self.rules.judge(counts)
            }
            Phase::Span(span) => {
                span.record(now, failed, slow);
                self.rules.judge(span.counts(now))
            }
            _ => unreachable!("a call that counts ends in the closed state"),
        };
        let mut counts = self.counts(now);
        if let Phase::Row(_) = self.phase {
            counts.slow = u64::from(slow);
        }
        let cause = if told.is_some() { Some(Cause::RetryAfter) } else { verdict };
        cause.map(|cause| self.open(0, told, cause, counts, now, r))
    }

    fn trial_ended(&mut self, worked: bool, slow: bool, told: Option<u64>, now: u64, r: u64) -> Option<Change> {
        let good = worked && !slow;
        let Phase::HalfOpen { out, succeeded, failed, reopened, .. } = &mut self.phase else {
            unreachable!("a trial that counts ends in the half-open state")
        };
        *out = out.saturating_sub(1);
        *if good { &mut *succeeded } else { &mut *failed } += 1;
        let (succeeded, failed, reopened) = (*succeeded, *failed, *reopened);
        let counts = Counts { slow: u64::from(slow), ..self.counts(now) };
        if good && succeeded >= self.rules.close_after {
            self.next_generation();
            Some(self.close(Cause::TrialsSucceeded, counts, now))
        } else if told.is_some() || (!good && failed + self.rules.close_after > self.rules.trials) {
            self.next_generation();
            let cause = if told.is_some() { Cause::RetryAfter } else { Cause::TrialFailed };
            Some(self.open(reopened + 1, told, cause, counts, now, r))
        } else {
            None
        }
    }

    // --- changing state ---

    fn next_generation(&mut self) {
        self.generation = (self.generation + 1) % GENERATIONS;
    }

    fn open(&mut self, reopened: u64, told: Option<u64>, cause: Cause, counts: Counts, now: u64, r: u64) -> Change {
        let reopened = reopened.min(REOPENED);
        let end = match told {
            Some(until) => until.max(now).min(now.saturating_add(self.rules.max_retry_after * UNIT)),
            None => now.saturating_add(self.rules.period(reopened, r) * UNIT),
        };
        let until = round_up(end).max(now / UNIT + 1);
        let unseeded = told.is_none() && self.rules.reset_jitter > 0 && r == 0;
        let change = self.changed(Phase::Open { until, reopened }, cause, counts, now);
        Change { until: Some(instant(until)), unseeded, ..change }
    }

    fn half_open(&mut self, reopened: u64, cause: Cause, counts: Counts, now: u64) -> Change {
        let phase = Phase::HalfOpen { out: 0, succeeded: 0, failed: 0, lease: 0, reopened };
        self.changed(phase, cause, counts, now)
    }

    fn close(&mut self, cause: Cause, counts: Counts, now: u64) -> Change {
        self.changed(nothing_learnt(&self.rules), cause, counts, now)
    }

    fn changed(&mut self, phase: Phase, cause: Cause, counts: Counts, now: u64) -> Change {
        let from = state(&self.phase);
        self.phase = phase;
        let (calls, failed, slow) = (counts.calls as u32, counts.failed as u32, counts.slow as u32);
        self.report = Some(Report { cause, at: now, calls, failed, slow });
        Change {
            from,
            to: state(&self.phase),
            cause,
            at: now,
            until: None,
            generation: self.generation as u32,
            calls,
            failed,
            slow,
            reopened: self.reopened() as u8,
            unseeded: false,
        }
    }

    /// Other rules; what was learnt is kept as far as it fits.
    fn change(&mut self, rules: Rules) {
        let closed = matches!(self.phase, Phase::Row(_) | Phase::Window(..) | Phase::Span(_));
        let another_kind = closed && (self.rules.is_long() != rules.is_long() || self.rules.width() != rules.width());
        let phase = match self.phase.clone() {
            Phase::Open { until, reopened } => Phase::Open { until, reopened },
            Phase::Span(_) | Phase::Row(_) | Phase::Window(..) if rules.width() != self.rules.width() => {
                nothing_learnt(&rules)
            }
            Phase::Span(span) => Phase::Span(span.with_buckets(rules.rate.as_ref().map_or(0, |rate| rate.window))),
            Phase::Row(row) => match &rules.rate {
                None => Phase::Row(row),
                Some(rate) => {
                    let failure = Call { failed: true, slow: false };
                    let most = if rules.is_long() { BLOCK } else { rate.window };
                    let calls: VecDeque<_> = (0..row.min(most as u64)).map(|_| failure).collect();
                    let newest = calls.len();
                    Phase::Window(calls, newest)
                }
            },
            Phase::Window(mut calls, newest) => match &rules.rate {
                None => Phase::Row(calls.iter().rev().take_while(|call| call.failed).count() as u64),
                Some(rate) => {
                    let most = match (self.rules.is_long(), rules.is_long()) {
                        (false, true) => BLOCK,
                        // Whole blocks, and the newest.
                        (true, true) if calls.len() < rate.window => newest + (calls.len() - newest) / BLOCK * BLOCK,
                        _ => rate.window,
                    };
                    calls.drain(..calls.len().saturating_sub(most));
                    let newest = if self.rules.is_long() { newest } else { calls.len() };
                    Phase::Window(calls, newest)
                }
            },
            // A round that the new numbers would have ended goes on, one result short of its end.
            Phase::HalfOpen { out, succeeded, failed, lease, reopened } => Phase::HalfOpen {
                out,
                succeeded: succeeded.min(rules.close_after - 1),
                failed: failed.min(rules.trials - rules.close_after),
                lease,
                reopened,
            },
        };
        self.open_reach = self.open_reach.max(rules.open_reach());
        self.lease_reach = self.lease_reach.max(rules.lease_reach());
        (self.phase, self.rules) = (phase, rules);
        self.changes += 1;
        if self.changes.is_multiple_of(CHANGES) || another_kind {
            self.next_generation();
            self.report = None;
        }
    }

    // --- reading ---

    fn reopened(&self) -> u64 {
        match self.phase {
            Phase::Open { reopened, .. } | Phase::HalfOpen { reopened, .. } => reopened,
            _ => 0,
        }
    }

    fn counts(&self, now: u64) -> Counts {
        match &self.phase {
            Phase::Row(row) => Counts { calls: *row, failed: *row, slow: 0 },
            Phase::Window(calls, _) => Counts {
                calls: calls.len() as u64,
                failed: calls.iter().filter(|call| call.failed).count() as u64,
                slow: calls.iter().filter(|call| call.slow).count() as u64,
            },
            Phase::Span(span) => span.counts(now),
            Phase::Open { .. } => Counts::default(),
            Phase::HalfOpen { succeeded, failed, .. } => Counts { calls: succeeded + failed, failed: *failed, slow: 0 },
        }
    }

    fn open_until(&self, now: u64) -> Option<u64> {
        match self.phase {
            Phase::Open { until, .. } => running(until, now, OPEN_REPEATS, self.open_reach),
            _ => None,
        }
    }

    fn lease_until(&self, now: u64) -> Option<u64> {
        match self.phase {
            Phase::HalfOpen { lease, .. } => running(lease, now, LEASE_REPEATS, self.lease_reach),
            _ => None,
        }
    }

    fn figures(&self, now: u64) -> Figures {
        let counts = self.counts(now);
        let mut figures = Figures {
            state: state(&self.phase),
            mode: self.rules.mode,
            generation: self.generation as u32,
            calls: counts.calls as u32,
            failed: counts.failed as u32,
            slow: counts.slow as u32,
            failure_rate_ppm: None,
            slow_rate_ppm: None,
            trials_in_flight: 0,
            trials_succeeded: 0,
            trials: self.rules.trials as u32,
            reopened: self.reopened() as u32,
            until: None,
            cause: self.report.map(|report| report.cause),
            changed_at: self.report.map(|report| report.at / 1024 * 1024),
        };
        match &self.phase {
            Phase::Row(_) => {}
            Phase::Window(..) | Phase::Span(_) => {
                let minimum = self.rules.rate.as_ref().map_or(0, |rate| rate.minimum_calls as u64);
                if counts.calls >= minimum && counts.calls > 0 {
                    let ppm = |bad: u64| Some((bad * 1_000_000 / counts.calls) as u32);
                    (figures.failure_rate_ppm, figures.slow_rate_ppm) = (ppm(counts.failed), ppm(counts.slow));
                }
            }
            Phase::Open { .. } => match self.open_until(now) {
                None => figures.state = State::HalfOpen,
                Some(until) => {
                    figures.until = Some(until);
                    if let Some(report) = self.report {
                        // Kept to twelve significant bits of the largest.
                        let mut step = 1;
                        while report.calls.max(report.failed).max(report.slow) / step > 4_095 {
                            step *= 2;
                        }
                        figures.calls = report.calls / step * step;
                        figures.failed = report.failed / step * step;
                        figures.slow = report.slow / step * step;
                    }
                }
            },
            Phase::HalfOpen { out, succeeded, .. } => {
                figures.trials_in_flight = *out as u32;
                figures.trials_succeeded = *succeeded as u32;
                figures.until = self.lease_until(now).filter(|_| *out > 0);
            }
        }
        figures
    }
}

fn states_mode(config: &CircuitBreakerConfig) -> bool {
    let place = CircuitBreakerConfig::FIELDS.iter().position(|field| field.name == "mode");
    place.is_some_and(|place| config.get(place).is_some())
}

fn no(reason: Reason, when: When) -> No {
    No { layer: Layer::CircuitBreaker, reason, when }
}

fn nothing_learnt(rules: &Rules) -> Phase {
    if let Some((rate, width)) = rules.rate.as_ref().zip(rules.width()) {
        Phase::Span(Span::new(width, rate.window))
    } else if rules.rate.is_some() {
        Phase::Window(VecDeque::new(), 0)
    } else {
        Phase::Row(0)
    }
}

fn state(phase: &Phase) -> State {
    match phase {
        Phase::Row(_) | Phase::Window(..) | Phase::Span(_) => State::Closed,
        Phase::Open { .. } => State::Open,
        Phase::HalfOpen { .. } => State::HalfOpen,
    }
}

fn round_up(nanos: u64) -> u64 {
    nanos / UNIT + u64::from(!nanos.is_multiple_of(UNIT))
}

/// The beginning of a unit as an instant, at most the last there is.
fn instant(unit: u64) -> u64 {
    u64::try_from(u128::from(unit) * u128::from(UNIT)).unwrap_or(u64::MAX)
}

/// The instant of a deadline that still runs: it lies ahead, but not further than it can have been set
/// for. Only its place within a repetition is known.
fn running(deadline: u64, now: u64, repeats: u64, reach: u64) -> Option<u64> {
    ahead(deadline, now, repeats, reach).map(|ahead| instant(now / UNIT + ahead))
}

/// How many units it lies ahead.
fn ahead(deadline: u64, now: u64, repeats: u64, reach: u64) -> Option<u64> {
    let ahead = (i128::from(deadline) - i128::from(now / UNIT)).rem_euclid(i128::from(repeats)) as u64;
    (1..=reach).contains(&ahead).then_some(ahead)
}
