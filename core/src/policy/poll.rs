//! One poll: the call's state moves on until there is something to say.

use core::time::Duration;

use super::attempt::{Phase, Place};
use super::call::{CANCELLED, Call, Stage, TICKET, TOTAL};
use super::config::Late;
use super::finish::Finish;
use super::step::{Cut, End, Ending, Pause, Step};
use super::wiring::Policy;
use crate::decision::{Outcome, Reason, Rejection};
use crate::retry::Failure;
use crate::time::Instant;

/// What a turn comes to: something to say, or another turn.
pub(super) type Turn = Option<Step>;

/// No call has as many silent turns in a row; bytes that no call wrote might have.
const TURNS: usize = 32;

impl Call {
    /// What to do next. Poll after every input, when a stated instant has come, and after every step
    /// but [`Step::Wait`] and [`Step::Done`].
    ///
    /// `policy` is the same at every poll of a call (another one is harmless, and gets what it did not
    /// give). `r` is randomness for the pause before a retry and for the breaker's open period; 0 for none.
    pub fn poll(&mut self, policy: &Policy<'_>, now: Instant, r: u64) -> Step {
        for _ in 0..TURNS {
            if let Some(step) = self.turn(policy, now, r) {
                return step;
            }
        }
        self.end(policy, End::Unconfigured, 0, None, now);
        Step::Done(Ending::UNCONFIGURED)
    }

    fn turn(&mut self, policy: &Policy<'_>, now: Instant, r: u64) -> Turn {
        let stage = self.stage();
        match stage {
            Stage::New => return Some(Step::Done(Ending::UNCONFIGURED)),
            Stage::Done => return Some(self.wind_up(policy, now, r)),
            _ if CANCELLED.get(self.state) == 1 => return self.end(policy, End::Cancelled, 0, None, now),
            Stage::Fresh => {
                self.begin(policy, now);
                return self.ask(policy, now, r);
            }
            _ => {}
        }
        if let Some(place) = self.news(now) {
            return self.hear(place, policy, now, r);
        }
        match stage {
            Stage::Paused if now.as_nanos() < self.next_at => Some(self.wait(Pause::Backoff)),
            Stage::Queued if now.as_nanos() < self.next_at => Some(self.wait(Pause::RateLimit)),
            Stage::Paused | Stage::Queued | Stage::Due => self.ask(policy, now, r),
            Stage::Asking => self.send(policy, now),
            Stage::Failed => self.consider(policy, now, r),
            _ if self.is_anything_out() => Some(self.wait(Pause::Attempts)),
            _ => {
                self.enter(Stage::Failed);
                None
            }
        }
    }

    /// The first poll: from now on the total timeout runs.
    fn begin(&mut self, policy: &Policy<'_>, now: Instant) {
        let end = now.as_nanos().saturating_add(policy.timeouts.total_nanos());
        if end < self.deadline {
            self.deadline = end;
            self.raise(TOTAL);
        }
        self.enter(Stage::Due);
    }

    /// The first attempt about which there is something to do.
    fn news(&self, now: Instant) -> Option<usize> {
        self.places.iter().position(|place| match place.phase() {
            Phase::Finished | Phase::Cut => true,
            Phase::Running => place.is_over(now),
            _ => false,
        })
    }

    /// An attempt has ended, or its time is over: the breaker hears of it, and then the call.
    fn hear(&mut self, place: usize, policy: &Policy<'_>, now: Instant, r: u64) -> Turn {
        let place = self.places.get_mut(place)?;
        let (phase, attempt) = (place.phase(), place.number());
        if phase == Phase::Cut {
            place.enter(Phase::Free);
            return Some(Step::Cancel { attempt, reason: place.cut() });
        }
        let (finish, outcome) = place.verdict(policy, now);
        let change = place.settle(policy, outcome, now, r);
        place.enter(if phase == Phase::Finished { Phase::Free } else { Phase::Cut });
        if finish.is_success() {
            self.end(policy, End::Success, attempt, None, now);
            if change.is_none() {
                return Some(self.wind_up(policy, now, r));
            }
        } else {
            self.failed(attempt, finish, now);
        }
        change.map(Step::Changed)
    }

    fn is_anything_out(&self) -> bool {
        self.places.iter().any(|place| matches!(place.phase(), Phase::Running | Phase::Admitted))
    }

    fn wait(&self, pause: Pause) -> Step {
        let first_cut = self
            .places
            .iter()
            .filter(|place| place.phase() == Phase::Running)
            .map(|place| place.until().as_nanos())
            .min()
            .unwrap_or(u64::MAX);
        let (until, ticket) = match pause {
            Pause::Attempts => (first_cut, 0),
            Pause::Backoff => (first_cut.min(self.next_at), self.ticket()),
            Pause::RateLimit => (first_cut.min(self.next_at), 0),
        };
        Step::Wait { until: Instant::from_nanos(until), ticket, pause }
    }

    fn ticket(&self) -> u64 {
        if super::call::WAKEABLE.get(self.state) == 1 { TICKET.get(self.counts) } else { 0 }
    }

    /// Ends it: what was taken and not used goes back at once.
    pub(super) fn end(
        &mut self,
        policy: &Policy<'_>,
        end: End,
        attempt: u32,
        rejection: Option<Rejection>,
        now: Instant,
    ) -> Turn {
        self.give_back(policy, now);
        self.close(end, attempt, rejection);
        None
    }

    /// Over, and it is the deadline's doing.
    pub(super) fn end_by_deadline(&mut self, policy: &Policy<'_>, refused: Rejection, now: Instant) -> Turn {
        let total = TOTAL.get(self.state) == 1;
        let (end, reason) = match refused.reason {
            Reason::WontFinish => (End::WontFinish, Reason::WontFinish),
            _ if total => (End::TimedOut, Reason::TimedOut),
            reason => (End::DeadlineExceeded, reason),
        };
        let attempt = self.last_attempt();
        self.end(policy, end, attempt, Some(Rejection { reason, ..refused }), now)
    }

    /// Over: what is still out is cut off, one a turn, and then the ending stands.
    fn wind_up(&mut self, policy: &Policy<'_>, now: Instant, r: u64) -> Step {
        let ending = self.ending();
        for place in &mut self.places {
            let (phase, attempt) = (place.phase(), place.number());
            let (outcome, reason) = match phase {
                Phase::Free => continue,
                // What came in before the end is evidence all the same.
                Phase::Finished => (place.verdict(policy, now).1, None),
                Phase::Cut => (Outcome::Ignored, Some(place.cut())),
                Phase::Running => (Outcome::Ignored, Some(Cut::of(ending.end))),
                Phase::Permitted | Phase::Admitted => (Outcome::Ignored, None),
            };
            place.enter(Phase::Free);
            if let Some(change) = place.settle(policy, outcome, now, r) {
                return Step::Changed(change);
            }
            if let Some(reason) = reason {
                return Step::Cancel { attempt, reason };
            }
        }
        Step::Done(ending)
    }
}

impl Place {
    /// How an attempt ended that has a result or is cut off, and what the breaker hears. The dependency's
    /// fault is only what used up a timeout of the attempt's own.
    fn verdict(&self, policy: &Policy<'_>, now: Instant) -> (Finish, Outcome) {
        let cut = Finish::failed(if self.is_own() { Failure::Timeout } else { Failure::InheritedDeadline });
        if self.phase() != Phase::Finished {
            return (cut, cut.outcome(now));
        }
        let finish = self.finish();
        if finish.failure() == Some(Failure::Timeout) && !self.is_own() && self.is_over(now) {
            // Its own clock ran out because ours did: a socket that was given what the deadline left.
            return (cut, cut.outcome(now));
        }
        match policy.settings.late {
            _ if !finish.is_success() || !self.is_late(now) => (finish, finish.outcome(now)),
            Late::Discard => (cut, cut.outcome(now)),
            Late::Use => (finish, cut.outcome(now)),
        }
    }

    /// Why it is cut off.
    const fn cut(&self) -> Cut {
        if self.is_own() { Cut::TimedOut } else { Cut::Deadline }
    }
}

impl Cut {
    /// Why an attempt that is out is cut off when the call ends like this.
    const fn of(end: End) -> Self {
        match end {
            End::Success => Self::Superseded,
            End::DeadlineExceeded | End::TimedOut => Self::Deadline,
            _ => Self::Cancelled,
        }
    }
}

/// A span of the configuration.
pub(super) const fn span(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::{Deadline, Timeouts};
    use crate::policy::PolicyConfig;
    use std::vec::Vec;

    /// A call with two attempts out, as a hedge will have.
    fn two_out(policy: &Policy<'_>, now: Instant) -> Call {
        let mut call = Call::new();
        call.start(Deadline::NEVER);
        for number in 1..=2 {
            call.enter(Stage::Due);
            assert!(matches!(call.poll(policy, now, 0), Step::Run(attempt) if attempt.attempt == number));
        }
        call
    }

    fn said(call: &mut Call, policy: &Policy<'_>, now: Instant) -> Vec<Step> {
        let mut said = Vec::new();
        while !matches!(said.last(), Some(Step::Wait { .. } | Step::Done(_))) {
            said.push(call.poll(policy, now, 0));
        }
        said
    }

    #[test]
    fn the_first_answer_supersedes_and_a_failure_waits_for_the_other() {
        let policy = Policy::new(&PolicyConfig::new(), Timeouts::NONE).expect("possible");
        let now = Instant::ZERO;
        let mut call = two_out(&policy, now);
        call.finished(2, Finish::success());
        let steps = said(&mut call, &policy, now);
        assert_eq!(steps[0], Step::Cancel { attempt: 1, reason: Cut::Superseded });
        assert!(matches!(steps[1], Step::Done(ending) if ending.is_success() && ending.attempt == 2));

        let mut call = two_out(&policy, now);
        call.finished(1, Finish::failed(Failure::Connection));
        assert!(matches!(said(&mut call, &policy, now)[..], [Step::Wait { pause: Pause::Attempts, .. }]));
        call.finished(2, Finish::success());
        assert!(matches!(said(&mut call, &policy, now)[..], [Step::Done(ending)] if ending.attempt == 2));
    }

    #[test]
    fn all_that_is_out_is_cut_off() {
        let policy = Policy::new(&PolicyConfig::new(), Timeouts::NONE).expect("possible");
        let mut call = two_out(&policy, Instant::ZERO);
        call.cancelled();
        let steps = said(&mut call, &policy, Instant::ZERO);
        let cut = |attempt| Step::Cancel { attempt, reason: Cut::Cancelled };
        assert_eq!(steps[..2], [cut(1), cut(2)]);
    }
}
