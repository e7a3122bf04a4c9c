//! A breaker's figures at one instant, and the sentence made of them.

use core::fmt::{self, Write};

use super::config::{Mode, Settings};
use super::long::Ring;
use super::transition::Cause;
use super::window::Window;
use super::word::{FAILURES, GENERATION, IN_FLIGHT, LEASE, REOPENED, SETTLED, SUCCEEDED, State, UNTIL, WINDOW};
use crate::decision::{Sentence, Span};
use crate::time::Instant;
use crate::word::bits::Bits;
use crate::word::deadline;

/// A breaker's figures at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The measured state; a breaker whose open period is over reads half-open.
    pub state: State,
    /// The chosen mode.
    pub mode: Mode,
    /// The generation, 18 bits.
    pub generation: u32,
    /// Calls judged: in the window, failed in a row, or settled trials. While open: those that opened
    /// it, if they are still known.
    pub calls: u32,
    /// How many of them failed.
    pub failed: u32,
    /// How many of them were slow.
    pub slow: u32,
    /// `failed / calls` in parts per million; `None` below `minimum_calls` and in consecutive mode.
    pub failure_rate_ppm: Option<u32>,
    /// `slow / calls` likewise.
    pub slow_rate_ppm: Option<u32>,
    /// Half-open: trials that are out.
    pub trials_in_flight: u32,
    /// Half-open: trials that succeeded.
    pub trials_succeeded: u32,
    /// The most trials of a half-open round.
    pub trials: u32,
    /// How many times in a row it has reopened without closing, at most 15.
    pub reopened: u32,
    /// Open: until when. Half-open with trials out: when their lease ends.
    pub until: Option<Instant>,
    /// Why it changed its state last, if that is still known.
    pub cause: Option<Cause>,
    /// When it did, to the microsecond.
    pub changed_at: Option<Instant>,
}

/// What the last change of state left behind for people: two words outside the decision.
///
/// | word | 63..46 | 45..44 | 43..40 | 39..36 | 35..24 | 23..12 | 11..0 |
/// |---|---|---|---|---|---|---|---|
/// | figures | generation | state | cause | scale | slow | failed | calls |
///
/// | word | 63..54 | 53..0 |
/// |---|---|
/// | changed | generation, low 10 bits | the instant in units of 1024 ns |
///
/// Counts above 4095 are kept to 12 significant bits, all three by the same power of two (the scale).
///
/// Written after the change by the thread that made it. A reader takes them only when generation and
/// state are the present ones; until the writer has come that far, or when a slow writer came late,
/// the figures are unknown, or those of an earlier change to the same generation and state.
pub(super) struct Report {
    pub(super) figures: u64,
    pub(super) changed: u64,
}

const OF_GENERATION: Bits = Bits::new(46, 18);
const OF_STATE: Bits = Bits::new(44, 2);
const OF_CAUSE: Bits = Bits::new(40, 4);
const SCALE: Bits = Bits::new(36, 4);
const SLOW: Bits = Bits::new(24, 12);
const FAILED: Bits = Bits::new(12, 12);
const CALLS: Bits = Bits::new(0, 12);

const CHANGED_GENERATION: Bits = Bits::new(54, 10);
const CHANGED_AT: Bits = Bits::new(0, 54);
const CHANGED_UNIT: u32 = 10;

impl Report {
    pub(super) fn of(transition: &super::Transition) -> Self {
        let largest = transition.calls.max(transition.failed).max(transition.slow);
        let scale = u64::from(largest >> 12).checked_ilog2().map_or(0, |bits| u64::from(bits) + 1).min(SCALE.max());
        let count = |n: u32| (u64::from(n) >> scale).min(CALLS.max());
        Self {
            figures: OF_GENERATION.of(u64::from(transition.generation))
                | OF_STATE.of(transition.to as u64)
                | OF_CAUSE.of(transition.cause as u64)
                | SCALE.of(scale)
                | SLOW.of(count(transition.slow))
                | FAILED.of(count(transition.failed))
                | CALLS.of(count(transition.calls)),
            changed: CHANGED_GENERATION.of(u64::from(transition.generation))
                | CHANGED_AT.of(transition.at.as_nanos() >> CHANGED_UNIT),
        }
    }
}

impl Snapshot {
    pub(super) fn new(word: u64, settings: &Settings, ring: Ring<'_>, report: &Report, now: Instant) -> Self {
        let mut this = Self {
            state: State::of(word),
            mode: settings.mode,
            generation: GENERATION.get(word) as u32,
            calls: 0,
            failed: 0,
            slow: 0,
            failure_rate_ppm: None,
            slow_rate_ppm: None,
            trials_in_flight: 0,
            trials_succeeded: 0,
            trials: settings.trials as u32,
            reopened: 0,
            until: None,
            cause: None,
            changed_at: None,
        };
        let reported = OF_GENERATION.get(report.figures) == GENERATION.get(word)
            && OF_STATE.get(report.figures) == this.state as u64;
        if reported {
            this.cause = Cause::from_number(OF_CAUSE.get(report.figures) as u8);
        }
        if this.cause.is_some()
            && CHANGED_GENERATION.get(report.changed) == GENERATION.get(word) & CHANGED_GENERATION.max()
        {
            this.changed_at = Some(Instant::from_nanos(CHANGED_AT.get(report.changed) << CHANGED_UNIT));
        }
        match this.state {
            State::Closed => this.read_closed(word, settings, ring, now),
            State::Open => {
                this.reopened = REOPENED.get(word) as u32;
                this.until = deadline::ahead(UNTIL.get(word), UNTIL.max(), now, 1 << settings.live_bits)
                    .map(|units| deadline::instant(now, units));
                if this.until.is_none() {
                    this.state = State::HalfOpen;
                } else if reported {
                    let count = |field: Bits| (field.get(report.figures) << SCALE.get(report.figures)) as u32;
                    (this.calls, this.failed, this.slow) = (count(CALLS), count(FAILED), count(SLOW));
                }
            }
            State::HalfOpen => {
                this.reopened = REOPENED.get(word) as u32;
                this.calls = SETTLED.get(word) as u32;
                this.trials_in_flight = IN_FLIGHT.get(word) as u32;
                this.trials_succeeded = SUCCEEDED.get(word) as u32;
                this.failed = this.calls.saturating_sub(this.trials_succeeded);
                this.until = deadline::ahead(LEASE.get(word), LEASE.max(), now, 1 << settings.lease_bits)
                    .filter(|_| this.trials_in_flight > 0)
                    .map(|units| deadline::instant(now, units));
            }
        }
        this
    }

    fn read_closed(&mut self, word: u64, settings: &Settings, ring: Ring<'_>, now: Instant) {
        if !settings.rate {
            self.calls = FAILURES.get(word) as u32;
            self.failed = self.calls;
            return;
        }
        let figures = if settings.is_timed() {
            ring.within(word, settings, now)
        } else if settings.is_long() {
            ring.newest(word, settings.window)
        } else {
            Window::read(WINDOW.get(word), settings.window).figures()
        };
        (self.calls, self.failed, self.slow) = (figures.calls, figures.failed, figures.slow);
        if self.calls > 0 && u64::from(self.calls) >= settings.minimum_calls {
            let ppm = |part: u32| Some((u64::from(part) * 1_000_000 / u64::from(self.calls)) as u32);
            self.failure_rate_ppm = ppm(self.failed);
            self.slow_rate_ppm = ppm(self.slow);
        }
    }

    /// The figures as a sentence: `open: 11 of the last 20 calls failed; next trial in 17.7 s`.
    #[must_use]
    pub fn explain(&self, now: Instant) -> Sentence {
        let mut text = Sentence::new();
        // Every sentence fits; a test writes the longest.
        let _ = self.write(&mut text, now);
        text
    }

    fn write(&self, out: &mut Sentence, now: Instant) -> fmt::Result {
        if self.mode != Mode::Normal {
            write!(out, "{}; ", self.mode)?;
        }
        write!(out, "{}: ", self.state)?;
        match (self.state, self.cause) {
            (State::Closed, _) => self.write_counts(out)?,
            (State::Open, Some(Cause::SlowRate)) => {
                write!(out, "{} of the last {} calls were slow", self.slow, self.calls)?;
            }
            (State::Open, Some(Cause::FailureThreshold)) if self.failed > 1 && self.failed == self.calls => {
                write!(out, "{} calls in a row failed", self.failed)?;
            }
            (State::Open, Some(Cause::FailureThreshold | Cause::FailureRate)) => self.write_counts(out)?,
            (State::Open, Some(Cause::TrialFailed)) => {
                write!(out, "{} of {} trials failed", self.failed, self.calls)?;
            }
            (State::Open, Some(cause)) => out.write_str(cause.meaning().trim_end_matches('.'))?,
            (State::Open, None) => out.write_str("no calls pass")?,
            (State::HalfOpen, _) if self.trials_in_flight == 0 && self.calls == 0 => {
                out.write_str("the next call is a trial")?;
            }
            (State::HalfOpen, _) => write!(
                out,
                "{} of {} trials out, {} succeeded, {} failed",
                self.trials_in_flight, self.trials, self.trials_succeeded, self.failed
            )?,
        }
        match (self.state, self.until) {
            (State::Open, Some(until)) => write!(out, "; next trial in {}", Span(until.since(now))),
            (State::HalfOpen, Some(until)) => write!(out, "; they expire in {}", Span(until.since(now))),
            _ => Ok(()),
        }
    }

    fn write_counts(&self, out: &mut Sentence) -> fmt::Result {
        match (self.calls, self.failed) {
            (0, _) => out.write_str("no failures"),
            (1, 1) => out.write_str("the last call failed"),
            (calls, failed) if failed == calls => write!(out, "the last {calls} calls failed"),
            (calls, failed) => write!(out, "{failed} of the last {calls} calls failed"),
        }
    }
}
