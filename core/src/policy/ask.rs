//! The next attempt: whether there is one, when, and who has to say yes.

use core::time::Duration;

use super::attempt::{Phase, Place};
use super::call::{ATTEMPTS, Call, DEPOSITED, HELD, RETRIES, Stage, TICKET, WAKEABLE, WITHDRAWN};
use super::finish::Told;
use super::poll::{Turn, span};
use super::step::{Attempt, End, Receipt, Step};
use super::wiring::Policy;
use crate::breaker::{Token, Transition};
use crate::deadline::Deadline;
use crate::decision::{Outcome, Reason, Rejection, When};
use crate::rate::Reservation;
use crate::retry::Failure;
use crate::time::{Instant, saturating_nanos};

impl Call {
    /// All that were out have failed: shall there be another?
    pub(super) fn consider(&mut self, policy: &Policy<'_>, now: Instant, r: u64) -> Turn {
        let (last, attempt) = (self.last(), self.last_attempt());
        let expected = policy.settings.expected;
        if matches!(last.failure(), Some(Failure::Timeout | Failure::InheritedDeadline))
            && let Err(refused) = self.deadline().check_nanos(now, 0)
        {
            return self.end_by_deadline(policy, refused, now);
        }
        let told = match (last.verdict().retryable, last.what_was_told()) {
            (false, _) => return self.end(policy, End::NotRetryable, attempt, None, now),
            (true, Told::Stop) => return self.end(policy, End::ToldToStop, attempt, None, now),
            (true, Told::Wait(wait)) => Some(wait),
            (true, Told::Nothing) => None,
        };
        let Some((retry, backoff)) = &policy.retry else {
            return self.end(policy, End::AttemptsUsedUp, attempt, None, now);
        };
        if !retry.may_repeat() {
            return self.end(policy, End::NotIdempotent, attempt, None, now);
        }
        if self.attempts() >= retry.attempts() {
            return self.end(policy, End::AttemptsUsedUp, attempt, None, now);
        }
        let retries = RETRIES.get(self.counts) as u32;
        let drawn = backoff.delay(retries, span(self.drawn), r);
        let Some(pause) = retry.pause(told, drawn, backoff.is_jittered() && r != 0) else {
            return self.end(policy, End::ToldTooLong, attempt, None, now);
        };
        let mut at = now.after(pause);
        if let Err(refused) = self.deadline().check_nanos(at, expected) {
            return self.too_late(policy, refused, now);
        }
        if let Some(budget) = policy.budget
            && let Err(refused) = budget.peek(now)
        {
            return self.end(policy, End::BudgetEmpty, attempt, Some(refused), now);
        }
        if let Some(breaker) = policy.breaker {
            // An open breaker is final. Only a wait that the dependency told is sat out, since the breaker keeps it too.
            let asked_at = if told.is_some() { at } else { now };
            match breaker.peek(asked_at) {
                Err(Rejection { reason: Reason::Open, when: When::At(due), .. })
                    if told.is_some_and(|told| due <= now.after(told.saturating_add(GRAIN)))
                        && due <= now.after(retry.max_retry_after().saturating_add(GRAIN))
                        && self.deadline().check_nanos(due, expected).is_ok() =>
                {
                    at = due;
                }
                Err(refused) => return self.end(policy, End::BreakerRefused, attempt, Some(refused), now),
                Ok(()) => {}
            }
        }
        if let Some(budget) = policy.budget {
            if let Err(refused) = budget.withdraw(now) {
                return self.end(policy, End::BudgetEmpty, attempt, Some(refused), now);
            }
            self.raise(WITHDRAWN);
        }
        self.pause = saturating_nanos(at.since(now));
        let anew = told.is_some() && retry.begins_anew();
        self.drawn = if anew { 0 } else { saturating_nanos(drawn) };
        // The last instant of all would say that no time ends the pause.
        self.next_at = at.as_nanos().min(u64::MAX - 1);
        let following = if anew { 0 } else { retries.saturating_add(1) };
        let ticket = ((TICKET.get(self.counts) + 1) & TICKET.max()).max(1);
        self.counts = TICKET.put(RETRIES.put(self.counts, u64::from(following)), ticket);
        self.state = WAKEABLE.put(self.state, u64::from(told.is_none()));
        self.enter(Stage::Paused);
        None
    }

    /// What would come next comes too late, whether or not the deadline has passed already.
    fn too_late(&mut self, policy: &Policy<'_>, refused: Rejection, now: Instant) -> Turn {
        let reason = if self.deadline().instant() <= now { refused.reason } else { Reason::WontFinish };
        self.end_by_deadline(policy, Rejection { reason, ..refused }, now)
    }

    /// The next attempt is due. Everybody is peeked at in the documented order, and the first no is the
    /// answer; then the breaker, whose permit can be given back, is asked before the rate limit.
    pub(super) fn ask(&mut self, policy: &Policy<'_>, now: Instant, r: u64) -> Turn {
        if let Err(refused) = self.deadline().check_nanos(now, policy.settings.expected) {
            return self.end_by_deadline(policy, refused, now);
        }
        let (permit, change) = match policy.breaker {
            None => (None, None),
            Some(breaker) => match breaker.admit_at_a_glance(now) {
                // Nothing was written for either.
                Some(Ok(permit)) => (Some(permit), None),
                Some(Err(refused)) => {
                    let attempt = self.last_attempt();
                    return self.end(policy, End::BreakerRefused, attempt, Some(refused), now);
                }
                None => {
                    // What the breaker would refuse it is asked for all the same: then it has been asked, and
                    // changes what is due for a change.
                    if breaker.peek(now).is_ok()
                        && let Some(Err(refused)) = self.rate_limit(policy, |limit, cost| limit.peek(cost, now))
                    {
                        return self.rate_limited(policy, refused, now);
                    }
                    let admission = breaker.try_admit(now, r.rotate_left(32));
                    match admission.verdict {
                        Ok(permit) => (Some(permit), admission.transition),
                        Err(refused) => {
                            let attempt = self.last_attempt();
                            self.end(policy, End::BreakerRefused, attempt, Some(refused), now);
                            return admission.transition.map(Step::Changed);
                        }
                    }
                }
            },
        };
        let number = self.attempts().saturating_add(1);
        match self.places.iter_mut().find(|place| place.phase() == Phase::Free) {
            Some(place) => {
                place.permit(number, permit, now);
                self.enter(Stage::Asking);
            }
            // No call has as many out.
            None => {
                self.enter(Stage::Out);
                return change.map(Step::Changed);
            }
        }
        match change {
            Some(change) => Some(Step::Changed(change)),
            None => self.send(policy, now),
        }
    }

    /// Asks the rate limit, if there is one and no place in it is held already.
    fn rate_limit<T>(&self, policy: &Policy<'_>, ask: impl FnOnce(&crate::rate::TokenBucket, u64) -> T) -> Option<T> {
        let limit = policy.rate_limit.filter(|_| HELD.get(self.state) == 0)?;
        Some(ask(limit, policy.settings.cost))
    }

    /// The breaker has said yes; now the rate limit, and then it goes out.
    pub(super) fn send(&mut self, policy: &Policy<'_>, now: Instant) -> Turn {
        if let Err(refused) = self.deadline().check_nanos(now, policy.settings.expected) {
            return self.end_by_deadline(policy, refused, now);
        }
        let taken = self.rate_limit(policy, |limit, cost| limit.try_acquire(cost, now));
        let deadline = self.deadline().instant();
        let Some(place) = self.places.iter_mut().find(|place| place.phase() == Phase::Permitted) else {
            self.enter(Stage::Out);
            return None;
        };
        if let Some(Err(refused)) = taken {
            // It was there a moment ago. The permit goes back; that never changes the breaker's state.
            place.settle(policy, Outcome::Ignored, now, 0);
            place.enter(Phase::Free);
            return self.rate_limited(policy, refused, now);
        }
        let own = Instant::from_nanos(now.as_nanos().saturating_add(policy.timeouts.own_nanos()));
        place.limit(own.min(deadline), own <= deadline);
        place.enter(Phase::Running);
        let (number, until) = (place.number(), place.until());
        self.take(HELD);
        self.take(WITHDRAWN);
        if let Some(budget) = policy.budget.filter(|_| DEPOSITED.get(self.state) == 0) {
            budget.deposit(now);
        }
        self.raise(DEPOSITED);
        self.state = ATTEMPTS.put(self.state, u64::from(number));
        self.enter(Stage::Out);
        let retry = number > 1;
        Some(Step::Run(Attempt {
            attempt: number,
            until,
            waited: if retry { span(self.pause) } else { Duration::ZERO },
            after: if retry { self.last().failure() } else { None },
        }))
    }

    /// The rate limit has said no: final, unless its instant may be waited for. Then a place is held
    /// there, and nothing else.
    fn rate_limited(&mut self, policy: &Policy<'_>, refused: Rejection, now: Instant) -> Turn {
        let attempt = self.last_attempt();
        let max_wait = span(policy.settings.max_wait);
        let expected = policy.settings.expected;
        let reserved = match refused.when {
            When::At(at) if at.since(now) <= max_wait => {
                if let Err(late) = self.deadline().check_nanos(at, expected) {
                    return self.too_late(policy, late, now);
                }
                self.rate_limit(policy, |limit, cost| limit.reserve(cost, max_wait, now))
            }
            _ => None,
        };
        match reserved {
            None => self.end(policy, End::RateLimited, attempt, Some(refused), now),
            Some(Err(refused)) => self.end(policy, End::RateLimited, attempt, Some(refused), now),
            Some(Ok(place)) => {
                let at = place.at();
                self.held = place.to_words();
                self.raise(HELD);
                if let Err(late) = self.deadline().check_nanos(at, expected) {
                    return self.too_late(policy, late, now);
                }
                self.next_at = at.as_nanos();
                self.enter(Stage::Queued);
                None
            }
        }
    }

    /// Starts it with its first attempt out already, without a deadline: for faces that send the first attempt of a
    /// healthy call without a `Call`, and need one only when that has failed. `permit` is what
    /// [`CircuitBreaker::admit_clean`](crate::CircuitBreaker::admit_clean) gave; the deposit in the budget is made.
    /// Not for policies with a rate limit, an attempt timeout or a total timeout, which have to be asked first.
    pub fn start_sent(&mut self, permit: Option<Token>, now: Instant) -> Receipt {
        if self.start(Deadline::NEVER) == Receipt::Stale {
            return Receipt::Stale;
        }
        let [first, ..] = &mut self.places;
        first.permit(1, permit, now);
        first.limit(Instant::MAX, true);
        first.enter(Phase::Running);
        self.raise(DEPOSITED);
        self.state = ATTEMPTS.put(self.state, 1);
        self.enter(Stage::Out);
        Receipt::Taken
    }

    /// What was taken for an attempt that is not sent goes back.
    pub(super) fn give_back(&mut self, policy: &Policy<'_>, now: Instant) {
        if self.take(WITHDRAWN)
            && let Some(budget) = policy.budget
        {
            budget.refund(now);
        }
        if self.take(HELD)
            && let Some(limit) = policy.rate_limit
        {
            limit.cancel(Reservation::from_words(self.held), now);
        }
    }
}

/// The grain of a breaker's instants, which lie so much later than what was told.
const GRAIN: Duration = Duration::from_nanos(2 << 20);

impl Place {
    /// Settles the permit, if there is one that was not settled.
    pub(super) fn settle(&mut self, policy: &Policy<'_>, outcome: Outcome, now: Instant, r: u64) -> Option<Transition> {
        let (permit, breaker): (Token, _) = self.take_permit().zip(policy.breaker)?;
        breaker.settle(permit, outcome, self.admitted(), now, r.rotate_left(32)).transition
    }
}
