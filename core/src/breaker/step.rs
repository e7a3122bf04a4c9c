//! The breaker as a pure function: `step(word, settings, event, now) -> (word, answer)`.
//!
//! No atomics, no clock, no randomness of its own: everything a breaker does is here, and can be
//! enumerated. Any word and any settings lead to some answer; none to a panic. Of a window longer than one
//! word it is also given the ring, which it only reads.
//!
//! | state | what happens | next | cause |
//! |---|---|---|---|
//! | closed | failures in a row, failure rate, slow rate reach what is configured | open | `failure_threshold`, `failure_rate`, `slow_rate` |
//! | closed, half-open | a failure that says when the dependency will be back | open | `retry_after` |
//! | open | somebody asks after the period | half-open, this is the first trial | `due` |
//! | half-open | a trial succeeds, the last of `close_after` | closed | `trials_succeeded` |
//! | half-open | a trial fails, and `close_after` is out of reach | open | `trial_failed` |
//! | half-open | somebody asks after the lease of trials that are out | half-open, open or closed, as configured | `trials_expired` |
//! | any | by hand | open, half-open, closed | `tripped`, `half_opened`, `reset` |

use super::config::{AdmitSettings, ExpiredTrials, Mode, NEVER, Settings};
use super::long::{self, Ring};
use super::room::ONE_WORD;
use super::timed;
use super::token::{Kind, Token};
use super::transition::{Cause, Transition};
use super::window::Window;
use super::word::{
    CLEAN, FAILURES, GENERATION, IN_FLIGHT, LEASE, REOPENED, SETTLED, SLOT, STATE, SUCCEEDED, State, UNTIL, WINDOW,
};
use crate::decision::{Layer, Outcome, Reason, Rejection, Settlement, When};
use crate::random::between;
use crate::time::Instant;
use crate::word::deadline;

/// Bits of a fraction of a unit while an open period is multiplied.
const FRACTION: u32 = 12;

/// What happens to a breaker.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// Somebody wants to call.
    Admit { r: u64 },
    /// A call has ended.
    Settle { token: Token, outcome: Outcome, elapsed: u64, r: u64 },
    /// An outcome of that generation has been recorded in a bucket of time.
    Judge { generation: u64, outcome: Outcome, r: u64 },
    /// Opened by hand, for the configured period or until an instant.
    Trip { until: Option<Instant>, r: u64 },
    /// Half-opened by hand.
    HalfOpen,
    /// Closed by hand, everything learnt forgotten.
    Reset,
}

/// What a step answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Admitted(Token),
    /// Shadow mode: admitted although it would have been refused.
    Bypassed(Rejection),
    Refused(Rejection),
    Settled(Settlement),
    /// The outcome is to be recorded in the current bucket of this word, and judged.
    Recording {
        word: u64,
        slow: bool,
    },
    Done,
}

/// The word afterwards, the answer, and the transition when the state changed.
pub(super) type Step = (u64, Answer, Option<Transition>);

#[inline]
pub(super) fn step(word: u64, settings: &Settings, ring: Ring<'_>, event: Event, now: Instant) -> Step {
    let at = Breaker { word, settings, ring, now };
    match event {
        Event::Admit { r } => at.admit(r),
        Event::Settle { token, outcome, elapsed, r } => at.settle(token, outcome, elapsed, r),
        Event::Judge { generation, outcome, r } => at.judge_span(generation, outcome, r),
        Event::Trip { until, r } => {
            let (reopened, generation) = match at.state() {
                State::Closed => (0, at.generation()),
                State::Open => (REOPENED.get(word), at.generation()),
                State::HalfOpen => (REOPENED.get(word), at.generation() + 1),
            };
            at.open(generation, reopened, until, Cause::Tripped, at.figures(), r).answering(Answer::Done)
        }
        Event::HalfOpen if at.state() == State::HalfOpen => at.unchanged(Answer::Done),
        Event::HalfOpen => {
            let reopened = if at.state() == State::Open { REOPENED.get(word) } else { 0 };
            let (next, transition) = at.half_open(at.generation(), reopened, Cause::HalfOpened, at.figures());
            (next, Answer::Done, Some(transition))
        }
        Event::Reset => at.close(at.generation() + 1, Cause::Reset, Figures::default()).answering(Answer::Done),
    }
}

/// What the word and an admission's part of the settings say by themselves. All that it carries is 64 bits wide, so that
/// it comes back in two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glance {
    /// With a [`Token`] of these bits.
    Admitted(u64),
    OpenUntil(Instant),
    /// It takes a whole [`step`].
    Unclear,
}

/// Nearly every admission, without a write.
#[inline]
pub(super) fn glance(word: u64, admission: AdmitSettings, now: Instant) -> Glance {
    let admitted = |token: Token| Glance::Admitted(u64::from(token.bits()));
    let state = State::of(word);
    if admission.mode == Mode::Normal && state == State::Open {
        return open_until(word, admission, now).map_or(Glance::Unclear, Glance::OpenUntil);
    }
    match admission.mode {
        Mode::Normal | Mode::Shadow if state == State::Closed => admitted(Token::call(word)),
        Mode::Disabled => admitted(Token::bypass(word)),
        _ => Glance::Unclear,
    }
}

/// Until when an open word is open; `None` when that has passed.
#[inline]
fn open_until(word: u64, admission: AdmitSettings, now: Instant) -> Option<Instant> {
    let units = deadline::ahead(UNTIL.get(word), UNTIL.max(), now, 1 << admission.live_bits)?;
    Some(deadline::instant(now, units))
}

/// The answer of an open breaker.
pub(super) const fn open_refusal(until: Instant) -> Rejection {
    Rejection::new(Layer::CircuitBreaker, Reason::Open, When::At(until))
}

/// A settlement that leaves the state as it is. `None`: it takes a whole [`step`].
#[inline(always)]
pub(super) fn settle_quietly(
    word: u64,
    settings: &Settings,
    ring: Ring<'_>,
    token: Token,
    outcome: Outcome,
    elapsed: u64,
    now: Instant,
) -> Option<(u64, Settlement)> {
    match (Breaker { word, settings, ring, now }).settling(token, outcome, elapsed) {
        Settling::Quiet(next, settlement) => Some((next, settlement)),
        Settling::Trial | Settling::Recording { .. } | Settling::Opens { .. } => None,
    }
}

/// Whether a settlement's outcome goes into the current bucket of a window of time, where `now` lies, and whether
/// it was slow. `None`: it takes a whole [`step`].
#[inline(always)]
pub(super) fn settle_in_bucket(
    word: u64,
    settings: &Settings,
    token: Token,
    outcome: Outcome,
    elapsed: u64,
    now: Instant,
) -> Option<bool> {
    let ring = Ring::of(&[]);
    match (Breaker { word, settings, ring, now }).settling(token, outcome, elapsed) {
        Settling::Recording { slow } if timed::is_there(word, settings, now) => Some(slow),
        _ => None,
    }
}

/// Whether a window of these counts, after this outcome, leaves the breaker closed.
#[inline]
pub(super) fn stays_closed(settings: &Settings, figures: &Figures, outcome: Outcome) -> bool {
    let at = Breaker { word: 0, settings, ring: Ring::of(&[]), now: Instant::ZERO };
    !matches!(outcome, Outcome::FailureUntil(_)) && at.judge(figures).is_none()
}

/// The word of a new breaker: closed, nothing learnt, in slot 0.
pub(super) const fn fresh(settings: &Settings) -> u64 {
    nothing_learnt(0, settings, 0)
}

/// The word as it is under other settings, which lie in `slot`: what was learnt is kept as far as it fits.
///
/// Whether a word is clean depends on its settings, so an operation under way must never find the word it
/// read under others. Slots come round after a few changes; each time their number falls the generation
/// moves on, and what is in flight becomes stale. So it is when a window goes from one kind to another or
/// its buckets get another width, so that no ring word ever means two things. The places of trials are free when their lease ends.
pub(super) fn carry_over(word: u64, slot: u64, old: &Settings, new: &Settings, ring: Ring<'_>) -> u64 {
    let comes_round = slot <= SLOT.get(word);
    let closed = State::of(word) == State::Closed;
    let another_kind = closed && !new.is_like(old);
    let moved_on = GENERATION.put(word, GENERATION.get(word) + u64::from(comes_round || another_kind));
    match State::of(word) {
        State::Open => moved_on,
        State::Closed if new.is_timed() && old.is_timed() && !another_kind => {
            closed_word(word, new, GENERATION.get(moved_on), WINDOW.get(word), false)
        }
        State::Closed if new.is_timed() || old.is_timed() => nothing_learnt(word, new, GENERATION.get(moved_on)),
        State::Closed if new.is_long() => {
            let learnt = if old.is_long() {
                long::resized(word, old.window, new.window)
            } else {
                long::begun(newest(word, old, new.window, ring))
            };
            let figures = ring.newest(learnt, new.window);
            closed_word(word, new, GENERATION.get(moved_on), learnt, figures.are_clean(new.window))
        }
        State::Closed => {
            let learnt = match (old.rate, new.rate) {
                (false, false) => FAILURES.get(word),
                (true, false) if old.is_long() => ring.failures_in_a_row(word, old),
                (true, false) => u64::from(newest(word, old, old.window, ring).failures_in_a_row()),
                (_, true) => newest(word, old, new.window, ring).stored(),
            };
            learnt_in_one_word(word, new, GENERATION.get(moved_on), learnt)
        }
        State::HalfOpen => {
            // A round that the new numbers would have ended goes on, one result short of its end.
            let succeeded = SUCCEEDED.get(word).min(new.close_after.saturating_sub(1));
            let failed = SETTLED.get(word).saturating_sub(SUCCEEDED.get(word));
            let failed = failed.min(new.trials.saturating_sub(new.close_after));
            SETTLED.put(SUCCEEDED.put(moved_on, succeeded), succeeded + failed)
        }
    }
}

/// The newest calls of a closed word, `longest` or 20 at most; failures in a row are failures.
fn newest(word: u64, settings: &Settings, longest: u64, ring: Ring<'_>) -> Window {
    if settings.is_long() {
        ring.newest_in_one_word(word, settings).shorter(longest)
    } else if settings.rate {
        Window::read(WINDOW.get(word), settings.window).shorter(longest)
    } else {
        let failures = FAILURES.get(word).min(longest).min(ONE_WORD);
        (0..failures).fold(Window::EMPTY, |window, _| window.push(true, false, ONE_WORD))
    }
}

/// The counts behind a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) calls: u32,
    pub(super) failed: u32,
    pub(super) slow: u32,
}

impl Figures {
    /// With one more call.
    fn and(self, failed: bool, slow: bool) -> Self {
        Self {
            calls: self.calls.saturating_add(1),
            failed: self.failed.saturating_add(u32::from(failed)),
            slow: self.slow.saturating_add(u32::from(slow)),
        }
    }

    /// Whether they are those of a full window of fast successes.
    fn are_clean(&self, window: u64) -> bool {
        u64::from(self.calls) >= window && self.failed == 0 && self.slow == 0
    }
}

/// A closed word that has learnt nothing yet.
const fn nothing_learnt(word: u64, settings: &Settings, generation: u64) -> u64 {
    if settings.is_timed() {
        return closed_word(word, settings, generation, timed::fresh(generation), false);
    }
    if settings.is_long() {
        return closed_word(word, settings, generation, long::begun(Window::EMPTY), false);
    }
    learnt_in_one_word(word, settings, generation, if settings.rate { Window::EMPTY.stored() } else { 0 })
}

/// A closed word that holds all of what was learnt.
const fn learnt_in_one_word(word: u64, settings: &Settings, generation: u64, learnt: u64) -> u64 {
    let nothing_to_learn = if settings.rate { Window::is_clean(learnt, settings.window) } else { learnt == 0 };
    closed_word(word, settings, generation, learnt, nothing_to_learn)
}

/// A closed word; it is clean when one more fast success would not change it.
const fn closed_word(word: u64, settings: &Settings, generation: u64, learnt: u64, nothing_to_learn: bool) -> u64 {
    let clean = nothing_to_learn && settings.slow_after == 0 && matches!(settings.mode, Mode::Normal | Mode::Shadow);
    SLOT.of(SLOT.get(word)) | GENERATION.of(generation) | CLEAN.of(clean as u64) | WINDOW.of(learnt)
}

/// What a settlement comes to.
enum Settling {
    /// The state stays as it is; this is the word after it.
    Quiet(u64, Settlement),
    /// A trial of this round has ended.
    Trial,
    /// A call's outcome goes into a bucket of time, outside the word.
    Recording { slow: bool },
    /// A call's verdict opens it.
    Opens { cause: Cause, told: Option<Instant>, figures: Figures },
}

/// One breaker at one instant.
struct Breaker<'a> {
    word: u64,
    settings: &'a Settings,
    ring: Ring<'a>,
    now: Instant,
}

trait Answering {
    fn answering(self, answer: Answer) -> Step;
}

impl Answering for (u64, Transition) {
    fn answering(self, answer: Answer) -> Step {
        (self.0, answer, Some(self.1))
    }
}

impl Breaker<'_> {
    fn state(&self) -> State {
        State::of(self.word)
    }

    fn generation(&self) -> u64 {
        GENERATION.get(self.word)
    }

    fn unchanged(&self, answer: Answer) -> Step {
        (self.word, answer, None)
    }

    // --- admission ---

    #[inline]
    fn admit(&self, r: u64) -> Step {
        let admission = self.settings.admission();
        if let Glance::Admitted(bits) = glance(self.word, admission, self.now) {
            return self.unchanged(Answer::Admitted(Token::from_bits(bits as u32)));
        }
        if admission.mode == Mode::ForcedOpen {
            return self.unchanged(Answer::Refused(refusal(Reason::ForcedOpen, None)));
        }
        if self.state() == State::Open {
            if let Some(until) = open_until(self.word, admission, self.now) {
                return self.refuse(open_refusal(until));
            }
            let half = self.half_open(self.generation(), REOPENED.get(self.word), Cause::Due, Figures::default());
            self.first_trial(half)
        } else if self.round_is_over() {
            self.next_round(r)
        } else if IN_FLIGHT.get(self.word) + SETTLED.get(self.word) < self.settings.trials {
            let next = self.lease_trial(self.word);
            (next, Answer::Admitted(Token::trial(next)), None)
        } else {
            let estimate = self.lease_for().map(|units| deadline::instant(self.now, units));
            self.refuse(refusal(Reason::TrialsBusy, estimate))
        }
    }

    fn refuse(&self, rejection: Rejection) -> Step {
        self.unchanged(refused(self.settings.mode, rejection))
    }

    /// How much longer the lease of the trials runs.
    fn lease_for(&self) -> Option<u64> {
        deadline::ahead(LEASE.get(self.word), LEASE.max(), self.now, 1 << self.settings.lease_bits)
    }

    /// Trials are out whose lease has ended; or (in bytes that no step made) none is out and yet no
    /// further one is allowed.
    fn round_is_over(&self) -> bool {
        if IN_FLIGHT.get(self.word) > 0 {
            self.lease_for().is_none()
        } else {
            SETTLED.get(self.word) >= self.settings.trials
        }
    }

    fn next_round(&self, r: u64) -> Step {
        let generation = self.generation() + 1;
        let figures = self.figures();
        match self.settings.expired_trials {
            ExpiredTrials::Again => {
                let reopened = REOPENED.get(self.word);
                self.first_trial(self.half_open(generation, reopened, Cause::TrialsExpired, figures))
            }
            ExpiredTrials::Open => {
                let reopened = (REOPENED.get(self.word) + 1).min(REOPENED.max());
                let opened = self.open(generation, reopened, None, Cause::TrialsExpired, figures, r);
                let rejection = open_refusal(opened.1.until.unwrap_or(self.now));
                opened.answering(refused(self.settings.mode, rejection))
            }
            ExpiredTrials::Close => {
                let closed = self.close(generation, Cause::TrialsExpired, figures);
                let token = Token::call(closed.0);
                closed.answering(Answer::Admitted(token))
            }
        }
    }

    fn first_trial(&self, (half, transition): (u64, Transition)) -> Step {
        if self.settings.trials == 0 {
            return self.refuse(refusal(Reason::TrialsBusy, None));
        }
        let next = self.lease_trial(half);
        (next, Answer::Admitted(Token::trial(next)), Some(transition))
    }

    /// One more trial is out; the lease of all of them starts anew, and never ends earlier than it did.
    fn lease_trial(&self, half: u64) -> u64 {
        let end = self.now.as_nanos().saturating_add(self.settings.trial_timeout << deadline::UNIT);
        let fresh = deadline::passed(end) - deadline::present(self.now);
        let out = IN_FLIGHT.get(half);
        let running = if out > 0 { self.lease_for().unwrap_or(0) } else { 0 };
        LEASE.put(IN_FLIGHT.put(half, out + 1), deadline::present(self.now) + fresh.max(running))
    }

    // --- settlement ---

    fn settle(&self, token: Token, outcome: Outcome, elapsed: u64, r: u64) -> Step {
        let counted = Answer::Settled(Settlement::Counted);
        match self.settling(token, outcome, elapsed) {
            Settling::Quiet(next, settlement) => (next, Answer::Settled(settlement), None),
            Settling::Trial => self.settle_trial(outcome, elapsed, r),
            Settling::Recording { slow } => {
                let next = self.still_closed(timed::arrived(self.word, self.settings, self.now), &Figures::default());
                (next, Answer::Recording { word: next, slow }, None)
            }
            Settling::Opens { cause, told, figures } => {
                self.open(self.generation(), 0, told, cause, figures, r).answering(counted)
            }
        }
    }

    /// Looks at no more of the settings than lie in their first three words.
    #[inline(always)]
    fn settling(&self, token: Token, outcome: Outcome, elapsed: u64) -> Settling {
        let expected = match token.kind() {
            Kind::Bypass => return Settling::Quiet(self.word, Settlement::Neutral),
            Kind::Call => State::Closed,
            Kind::Trial => State::HalfOpen,
        };
        if self.state() != expected || self.generation() != token.generation() {
            return Settling::Quiet(self.word, Settlement::Stale);
        }
        let ignored = outcome == Outcome::Ignored || self.settings.mode == Mode::Disabled;
        match expected {
            State::HalfOpen => Settling::Trial,
            _ if ignored => Settling::Quiet(self.word, Settlement::Neutral),
            _ if self.settings.is_timed() => Settling::Recording { slow: self.is_slow(elapsed) },
            _ => self.record(outcome, self.is_slow(elapsed)),
        }
    }

    fn is_slow(&self, elapsed: u64) -> bool {
        self.settings.slow_after > 0 && elapsed > self.settings.slow_after
    }

    /// Until when the dependency said it would be away, if that lies ahead.
    fn told(&self, outcome: Outcome) -> Option<Instant> {
        match outcome {
            Outcome::FailureUntil(until) if until > self.now => Some(until),
            _ => None,
        }
    }

    /// A call of the closed state has a verdict.
    #[inline(always)]
    fn record(&self, outcome: Outcome, slow: bool) -> Settling {
        let failed = outcome != Outcome::Success;
        let (learnt, figures, cause) = if self.settings.is_long() {
            if CLEAN.get(self.word) == 1 && !failed && !slow {
                return Settling::Quiet(self.word, Settlement::Counted);
            }
            let kept = self.ring.newest(self.word, self.settings.window.saturating_sub(1));
            let learnt = long::push(self.word, failed, slow, self.settings.window);
            let figures = kept.and(failed, slow);
            (learnt, figures, self.judge(&figures))
        } else if self.settings.rate {
            let window = Window::read(WINDOW.get(self.word), self.settings.window);
            let window = window.push(failed, slow, self.settings.window);
            let figures = window.figures();
            (window.stored(), figures, self.judge(&figures))
        } else {
            let bad = failed || slow;
            let failures = if bad { (FAILURES.get(self.word) + 1).min(FAILURES.max()) } else { 0 };
            let figures = Figures { calls: failures as u32, failed: failures as u32, slow: u32::from(slow) };
            let cause = (bad && failures >= self.settings.threshold).then_some(Cause::FailureThreshold);
            (failures, figures, cause)
        };
        let told = self.told(outcome);
        match (told, cause) {
            (Some(_), _) => Settling::Opens { cause: Cause::RetryAfter, told, figures },
            (None, Some(cause)) => Settling::Opens { cause, told, figures },
            (None, None) => Settling::Quiet(self.still_closed(learnt, &figures), Settlement::Counted),
        }
    }

    /// The closed word with what it has learnt now.
    #[inline(always)]
    fn still_closed(&self, learnt: u64, figures: &Figures) -> u64 {
        let generation = self.generation();
        if self.settings.is_timed() {
            closed_word(self.word, self.settings, generation, learnt, false)
        } else if self.settings.is_long() {
            let nothing_to_learn = figures.are_clean(self.settings.window);
            closed_word(self.word, self.settings, generation, learnt, nothing_to_learn)
        } else {
            learnt_in_one_word(self.word, self.settings, generation, learnt)
        }
    }

    /// Whether the window says "open", and why.
    fn judge(&self, figures: &Figures) -> Option<Cause> {
        let reaches = |part: u32, rate: u64| u64::from(part) * 1_000_000 >= rate * u64::from(figures.calls);
        if u64::from(figures.failed) >= self.settings.threshold && self.settings.threshold < NEVER {
            Some(Cause::FailureThreshold)
        } else if u64::from(figures.calls) < self.settings.minimum_calls {
            None
        } else if reaches(figures.failed, self.settings.failure_rate) {
            Some(Cause::FailureRate)
        } else if self.settings.slow_after > 0 && reaches(figures.slow, self.settings.slow_rate) {
            Some(Cause::SlowRate)
        } else {
            None
        }
    }

    /// A window of time after one more outcome.
    fn judge_span(&self, generation: u64, outcome: Outcome, r: u64) -> Step {
        let counted = Answer::Settled(Settlement::Counted);
        if self.state() != State::Closed || self.generation() != generation || !self.settings.is_timed() {
            return self.unchanged(counted);
        }
        let figures = self.figures();
        let told = self.told(outcome);
        match told.map_or_else(|| self.judge(&figures), |_| Some(Cause::RetryAfter)) {
            Some(cause) => self.open(generation, 0, told, cause, figures, r).answering(counted),
            None => self.unchanged(counted),
        }
    }

    /// A trial has ended: in time, or it changes nothing.
    fn settle_trial(&self, outcome: Outcome, elapsed: u64, r: u64) -> Step {
        if self.lease_for().is_none() {
            return self.unchanged(Answer::Settled(Settlement::Stale));
        }
        let word = IN_FLIGHT.put(self.word, IN_FLIGHT.get(self.word).saturating_sub(1));
        if outcome == Outcome::Ignored || self.settings.mode == Mode::Disabled {
            return (word, Answer::Settled(Settlement::Neutral), None);
        }
        let slow = self.is_slow(elapsed);
        let good = outcome == Outcome::Success && !slow;
        let succeeded = (SUCCEEDED.get(word) + u64::from(good)).min(SUCCEEDED.max());
        let settled = (SETTLED.get(word) + 1).min(SETTLED.max());
        let failed = settled.saturating_sub(succeeded);
        let figures = Figures { calls: settled as u32, failed: failed as u32, slow: u32::from(slow) };
        let counted = Answer::Settled(Settlement::Counted);
        let generation = self.generation() + 1;
        let told = self.told(outcome);
        let out_of_reach = failed > self.settings.trials.saturating_sub(self.settings.close_after);
        if good && succeeded >= self.settings.close_after {
            self.close(generation, Cause::TrialsSucceeded, figures).answering(counted)
        } else if told.is_some() || (!good && out_of_reach) {
            let cause = if told.is_some() { Cause::RetryAfter } else { Cause::TrialFailed };
            let reopened = (REOPENED.get(word) + 1).min(REOPENED.max());
            self.open(generation, reopened, told, cause, figures, r).answering(counted)
        } else {
            (SETTLED.put(SUCCEEDED.put(word, succeeded), settled), counted, None)
        }
    }

    // --- the three states ---

    /// The counts that the present state rests on.
    fn figures(&self) -> Figures {
        match self.state() {
            State::Closed if self.settings.is_timed() => self.ring.within(self.word, self.settings, self.now),
            State::Closed if self.settings.is_long() => self.ring.newest(self.word, self.settings.window),
            State::Closed if self.settings.rate => Window::read(WINDOW.get(self.word), self.settings.window).figures(),
            State::Closed => {
                let failures = FAILURES.get(self.word) as u32;
                Figures { calls: failures, failed: failures, slow: 0 }
            }
            State::Open => Figures::default(),
            State::HalfOpen => {
                let settled = SETTLED.get(self.word) as u32;
                let failed = settled.saturating_sub(SUCCEEDED.get(self.word) as u32);
                Figures { calls: settled, failed, slow: 0 }
            }
        }
    }

    fn open(
        &self,
        generation: u64,
        reopened: u64,
        told: Option<Instant>,
        cause: Cause,
        figures: Figures,
        r: u64,
    ) -> (u64, Transition) {
        let now = self.now.as_nanos();
        let end = match told {
            Some(until) => {
                let cap = now.saturating_add(self.settings.max_retry_after << deadline::UNIT);
                until.as_nanos().clamp(now, cap)
            }
            None => now.saturating_add(self.period(reopened, r) << deadline::UNIT),
        };
        let until = deadline::passed(end).max(deadline::present(self.now) + 1);
        let word = STATE.of(State::Open as u64)
            | SLOT.of(SLOT.get(self.word))
            | GENERATION.of(generation)
            | REOPENED.of(reopened)
            | UNTIL.of(until);
        let ahead = until - deadline::present(self.now);
        let transition = Transition {
            until: Some(deadline::instant(self.now, ahead)),
            unseeded: told.is_none() && self.settings.reset_jitter > 0 && r == 0,
            ..self.transition(State::Open, cause, word, figures)
        };
        (word, transition)
    }

    /// The open period in units: `reset_after * reset_factor^reopened` up to the cap, then jitter.
    ///
    /// Proportional jitter `f`: drawn from `e (1 - f)` to `e (1 + f)`, the upper end at most the cap.
    /// At the cap the lower end stays below it, so the spread never vanishes.
    fn period(&self, reopened: u64, r: u64) -> u64 {
        let cap = self.settings.reset_cap;
        // With a fraction of a unit, so that a short period grows as well; it rounds up, as all waits do.
        let longer = |fine: u64| (fine.saturating_mul(self.settings.reset_factor) / 1000).min(cap << FRACTION);
        let fine = (0..reopened).fold(self.settings.reset_after.min(cap) << FRACTION, |fine, _| longer(fine));
        let period = fine.div_ceil(1 << FRACTION);
        if r == 0 || self.settings.reset_jitter == 0 {
            return period;
        }
        let spread = period.saturating_mul(self.settings.reset_jitter) / 1_000_000;
        between(r, period.saturating_sub(spread), period.saturating_add(spread).min(cap)).max(1)
    }

    fn half_open(&self, generation: u64, reopened: u64, cause: Cause, figures: Figures) -> (u64, Transition) {
        let word = STATE.of(State::HalfOpen as u64)
            | SLOT.of(SLOT.get(self.word))
            | GENERATION.of(generation)
            | REOPENED.of(reopened);
        (word, self.transition(State::HalfOpen, cause, word, figures))
    }

    fn close(&self, generation: u64, cause: Cause, figures: Figures) -> (u64, Transition) {
        let word = nothing_learnt(self.word, self.settings, generation);
        (word, self.transition(State::Closed, cause, word, figures))
    }

    fn transition(&self, to: State, cause: Cause, word: u64, figures: Figures) -> Transition {
        Transition {
            from: self.state(),
            to,
            cause,
            at: self.now,
            until: None,
            generation: GENERATION.get(word) as u32,
            calls: figures.calls,
            failed: figures.failed,
            slow: figures.slow,
            reopened: if to == State::Closed { 0 } else { REOPENED.get(word) as u8 },
            unseeded: false,
        }
    }
}

/// Refused, unless in shadow.
const fn refused(mode: Mode, rejection: Rejection) -> Answer {
    match mode {
        Mode::Shadow => Answer::Bypassed(rejection),
        _ => Answer::Refused(rejection),
    }
}

fn refusal(reason: Reason, estimate: Option<Instant>) -> Rejection {
    Rejection::new(Layer::CircuitBreaker, reason, When::Depends { estimate })
}
