//! Asking and settling: what every call does.

use super::config::{AdmitSettings, Settings};
use super::long::{self, Ring};
use super::permit::Permit;
use super::room::WindowWords;
use super::snapshot;
use super::step::{self, Answer, Event, Glance, Step, open_refusal};
use super::timed;
use super::token::Token;
use super::transition::Transition;
use super::word::{CLEAN_MASK, CLEAN_VALUE, SLOT, TOKEN_MASK};
use super::{CircuitBreaker, UNCONFIGURED};
use crate::atomic::Ordering;
use crate::decision::{Outcome, Rejection, Settlement};
use crate::time::Instant;

/// What [`CircuitBreaker::try_admit`] answers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[must_use = "an admission must be settled, a refusal obeyed"]
pub struct Admission {
    /// The permit's token, or who refused, why and when.
    pub verdict: Result<Token, Rejection>,
    /// Shadow mode: what it would have said instead of yes.
    pub bypassed: Option<Rejection>,
    /// The change of state that asking made.
    pub transition: Option<Transition>,
}

impl Admission {
    #[inline]
    const fn of(answer: Answer, transition: Option<Transition>) -> Self {
        let (verdict, bypassed) = match answer {
            Answer::Admitted(token) => (Ok(token), None),
            Answer::Bypassed(rejection) => (Ok(Token::bypass(0)), Some(rejection)),
            Answer::Refused(rejection) => (Err(rejection), None),
            Answer::Settled(_) | Answer::Recording { .. } | Answer::Done => (Err(UNCONFIGURED), None),
        };
        Self { verdict, bypassed, transition }
    }
}

/// A refusal, and the change of state that asking made (with `expired_trials` = `open` only).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// Who, why, when.
    pub rejection: Rejection,
    /// The change of state that asking made.
    pub transition: Option<Transition>,
}

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.rejection.fmt(f)
    }
}

impl core::error::Error for Refused {}

/// What became of a settlement, and the change of state that it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settled {
    /// Counted, neutral or stale.
    pub settlement: Settlement,
    /// The change of state that it made.
    pub transition: Option<Transition>,
}

const COUNTED: Settled = Settled { settlement: Settlement::Counted, transition: None };

impl<S: WindowWords + ?Sized> CircuitBreaker<S> {
    /// Asks for a permit, without randomness (see [`Permit::acquire`]).
    ///
    /// # Errors
    /// Who refused, why and when to ask again.
    #[inline(always)]
    pub fn admit(&self, now: Instant) -> Result<Permit<&Self>, Refused> {
        Permit::acquire(self, now, 0)
    }

    /// Asks for a token, for callers that keep their permits themselves. `r` is randomness for the
    /// jitter of an open period that may begin here (with `expired_trials` = `open` only); 0 for none.
    #[inline(always)]
    pub fn try_admit(&self, now: Instant, r: u64) -> Admission {
        match self.admit_at_a_glance(now) {
            Some(verdict) => Admission { verdict, bypassed: None, transition: None },
            None => self.admit_in_full(now, r),
        }
    }

    /// What most admissions come to, with nothing written; `None`: undecided, take the full path.
    #[inline(always)]
    pub(crate) fn admit_at_a_glance(&self, now: Instant) -> Option<Result<Token, Rejection>> {
        if let Some(token) = self.admit_clean() {
            return Some(Ok(token));
        }
        match self.glance(now) {
            Glance::Admitted(bits) => Some(Ok(Token::from_bits(bits as u32))),
            Glance::OpenUntil(until) => Some(Err(open_refusal(until))),
            Glance::Unclear => None,
        }
    }

    /// Out of line, so that the clean path stays small where it is inlined.
    #[inline(never)]
    fn glance(&self, now: Instant) -> Glance {
        let glance = |word, head| step::glance(word, AdmitSettings::unpack(head), now);
        self.cell.glance(SLOT, self.cell.load(), glance).unwrap_or(Glance::Unclear)
    }

    /// The rest: trials, the other modes, and a glance that lost a race.
    #[inline(never)]
    pub(super) fn admit_in_full(&self, now: Instant, r: u64) -> Admission {
        let (answer, transition) = self.publish(self.cell.load(), Event::Admit { r }, now);
        Admission::of(answer, transition)
    }

    /// What [`try_admit`](Self::try_admit) would answer, changing nothing.
    ///
    /// # Errors
    /// Who would refuse, why and when to ask again.
    pub fn peek(&self, now: Instant) -> Result<(), Rejection> {
        let ring = self.ring();
        let (word, words) = self.cell.read(SLOT).ok_or(UNCONFIGURED)?;
        match step::step(word, &Settings::unpack(&words, ring.room()), ring, Event::Admit { r: 0 }, now).1 {
            Answer::Refused(rejection) => Err(rejection),
            _ => Ok(()),
        }
    }

    /// A clean breaker's token, for callers to whom reading the clock is dear: neither it nor
    /// randomness is needed for that answer. `None`: undecided, [`try_admit`](Self::try_admit) decides.
    #[inline]
    #[must_use]
    pub fn admit_clean(&self) -> Option<Token> {
        let seen = self.cell.load();
        (seen & CLEAN_MASK == CLEAN_VALUE).then(|| Token::call(seen))
    }

    /// Whether a success with this token needs no settlement, since it would change nothing. `false`:
    /// undecided, [`settle`](Self::settle) decides.
    #[inline]
    #[must_use]
    pub fn is_clean_for(&self, token: Token) -> bool {
        let seen = self.cell.load();
        (seen ^ token.word()) & TOKEN_MASK == 0 && seen & CLEAN_MASK == CLEAN_VALUE
    }

    /// Settles a token that [`try_admit`](Self::try_admit) granted at `granted`. `r` is randomness for
    /// the jitter of an open period that may begin here; 0 for none.
    ///
    /// # Ordering
    /// What the caller did before is visible to whoever is admitted because of it.
    #[inline(always)]
    pub fn settle(&self, token: Token, outcome: Outcome, granted: Instant, now: Instant, r: u64) -> Settled {
        if matches!(outcome, Outcome::Success) && self.is_clean_for(token) {
            return Settled { settlement: Settlement::Counted, transition: None };
        }
        let elapsed = now.as_nanos().saturating_sub(granted.as_nanos());
        let quietly = if token.is_trial() { None } else { self.settle_quietly(token, outcome, elapsed, now) };
        match quietly {
            Some(settlement) => Settled { settlement, transition: None },
            None => match self.settle_in_bucket(token, outcome, elapsed, now, r) {
                Some(settled) => settled,
                None => self.settle_in_full(token, outcome, elapsed, now, r),
            },
        }
    }

    /// A settlement that leaves the state as it is, and therefore needs no more of the configuration
    /// than its first three words. `None`: undecided, take the full path.
    #[inline(never)]
    fn settle_quietly(&self, token: Token, outcome: Outcome, elapsed: u64, now: Instant) -> Option<Settlement> {
        let ring = self.ring();
        let quiet = |word, &[head, rates, slow]: &[u64; 3]| {
            let settings = Settings::judging(head, rates, slow, ring.room());
            let (next, settlement) = step::settle_quietly(word, &settings, ring, token, outcome, elapsed, now)?;
            self.before_leaving(word, next, &settings);
            Some((next, settlement))
        };
        self.cell.publish_from(SLOT, self.cell.load(), quiet)
    }

    /// A settlement that counts in the present bucket of a window of time: what most come to there. `None`:
    /// undecided and not recorded; the full path.
    #[inline(always)]
    fn settle_in_bucket(&self, token: Token, outcome: Outcome, elapsed: u64, now: Instant, r: u64) -> Option<Settled> {
        // Nothing at all where there is no room for buckets.
        if self.ring().room().words() == 0 { None } else { self.record_in_bucket(token, outcome, elapsed, now, r) }
    }

    #[inline(never)]
    fn record_in_bucket(&self, token: Token, outcome: Outcome, elapsed: u64, now: Instant, r: u64) -> Option<Settled> {
        let ring = self.ring();
        let word = self.cell.load();
        let is_unmoved = || self.cell.load() == word;
        let settings = Settings::unpack(&self.cell.configuration(SLOT, word)?, ring.room());
        let slow = step::settle_in_bucket(word, &settings, token, outcome, elapsed, now)?;
        if !is_unmoved() || !ring.record(word, outcome != Outcome::Success, slow, is_unmoved) {
            return None;
        }
        let opens = !step::stays_closed(&settings, &ring.present(word, &settings), outcome);
        // Moved on meanwhile: judged again as it is now.
        Some(if opens || !is_unmoved() { self.judge(token, outcome, now, r) } else { COUNTED })
    }

    /// Judges a window of time in which an outcome has been recorded.
    fn judge(&self, token: Token, outcome: Outcome, now: Instant, r: u64) -> Settled {
        let judge = Event::Judge { generation: token.generation(), outcome, r };
        let (_, transition) = self.publish(self.cell.load(), judge, now);
        Settled { transition, ..COUNTED }
    }

    /// The rest: settlements that may change the state.
    #[inline(never)]
    fn settle_in_full(&self, token: Token, outcome: Outcome, elapsed: u64, now: Instant, r: u64) -> Settled {
        loop {
            let settle = Event::Settle { token, outcome, elapsed, r };
            let (answer, transition) = self.publish(self.cell.load(), settle, now);
            let settlement = match answer {
                Answer::Settled(settlement) => settlement,
                Answer::Recording { word, slow } => {
                    if !self.ring().record(word, outcome != Outcome::Success, slow, || self.cell.load() == word) {
                        // Another bucket or another generation: begun again, since somebody else moved it on.
                        continue;
                    }
                    return self.judge(token, outcome, now, r);
                }
                _ => Settlement::Stale,
            };
            return Settled { settlement, transition };
        }
    }

    /// The words beside it.
    #[inline(always)]
    pub(super) fn ring(&self) -> Ring<'_> {
        Ring::of(self.slots.words())
    }

    /// Publishes one step, and leaves its figures for people when the state changed.
    #[inline]
    pub(super) fn publish(&self, seen: u64, event: Event, now: Instant) -> (Answer, Option<Transition>) {
        let ring = self.ring();
        let done = self.cell.publish(SLOT, seen, |word, words| {
            let settings = Settings::unpack(words, ring.room());
            let (next, answer, transition): Step = step::step(word, &settings, ring, event, now);
            self.before_leaving(word, next, &settings);
            (next, (answer, transition))
        });
        let Some((answer, transition)) = done else {
            return (Answer::Refused(UNCONFIGURED), None);
        };
        if let Some(transition) = &transition {
            let report = snapshot::Report::of(transition);
            self.changed.store(report.changed, Ordering::Relaxed);
            self.figures.store(report.figures, Ordering::Relaxed);
        }
        (answer, transition)
    }

    /// Before the word goes on: the full block of a long window becomes a ring word, the buckets of time that
    /// are entered are cleared.
    #[inline(always)]
    fn before_leaving(&self, word: u64, next: u64, settings: &Settings) {
        if settings.is_long() && long::leaves_a_block(word, next) {
            self.ring().finish(word, || self.cell.load() == word);
        }
        if settings.is_timed() && timed::enters_a_bucket(word, next) {
            self.ring().enter(word, next, || self.cell.load() == word);
        }
    }
}
