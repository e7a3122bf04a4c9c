//! A call as one would write it on a whiteboard: what is out, what is awaited, and the questions in order.
//!
//! The parts are the plain models of the breaker, the bucket and the budget. Whoever peeks at a breaker asks
//! a copy of it.

use seawall::policy::{Cut, End, Pause, Receipt, Told};
use seawall::{Evidence, Failure, Instant, Layer, Outcome, Reason, When};

use super::ops::{Ended, Op, Over, Said, Say};
use super::rules::{Config, Rules};
use crate::breaker::{self, Change, No};
use crate::{bucket, budget};

const NEVER: u64 = u64::MAX;
/// A breaker's instants lie so much later than what was told.
const GRAIN: u64 = 2 << 20;

/// Calls by one policy, with its parts.
#[derive(Clone, Debug)]
pub struct Model {
    rules: Rules,
    breaker: Option<breaker::Model>,
    rate_limit: Option<bucket::Model>,
    budget: Option<budget::Model>,
    calls: Vec<Call>,
}

/// One call; `None` in `deadline`: never started.
#[derive(Clone, Debug, Default)]
struct Call {
    started: bool,
    begun: bool,
    cancelled: bool,
    over: Option<Over>,
    deadline: u64,
    by_total: bool,
    attempts: u32,
    growth: u32,
    pauses: u64,
    paid_in: bool,
    paid: bool,
    place: Option<usize>,
    next: Next,
    out: Option<Attempt>,
    waited: u64,
    drawn: u64,
    last: Option<(u32, Ended, Option<u64>)>,
}

/// What comes next when nothing is out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Now,
    After {
        at: u64,
        told: bool,
    },
    Queued {
        at: u64,
    },
    Undecided,
}

#[derive(Clone, Copy, Debug)]
struct Attempt {
    number: u32,
    permit: Option<usize>,
    until: u64,
    own: bool,
    result: Option<Ended>,
}

fn deadline_no(reason: Reason) -> No {
    No { layer: Layer::Deadline, reason, when: When::Never }
}

/// Why work that takes so long may not begin then; `None`: it may.
fn too_late(deadline: u64, at: u64, expected: u64) -> Option<Reason> {
    match deadline {
        NEVER => None,
        _ if deadline <= at => Some(Reason::DeadlineExceeded),
        _ if deadline - at < expected => Some(Reason::WontFinish),
        _ => None,
    }
}

impl Model {
    /// So many calls, none of them started; `None` when a configuration is impossible.
    #[must_use]
    pub fn new(config: &Config, now: u64, calls: usize) -> Option<Self> {
        Some(Self {
            rules: Rules::of(config)?,
            breaker: match &config.breaker {
                Some(config) => Some(breaker::Model::new(config)?),
                None => None,
            },
            rate_limit: match &config.rate_limit {
                Some(config) => Some(bucket::Model::new(config, now)?),
                None => None,
            },
            budget: match &config.budget {
                Some(config) => Some(budget::Model::new(config, now)?),
                None => None,
            },
            calls: vec![Call::default(); calls],
        })
    }

    /// Does what is asked.
    pub fn apply(&mut self, op: &Op, now: u64, r: u64) -> Said {
        match *op {
            Op::Start { call, deadline } => {
                let call = &mut self.calls[call];
                if call.over.is_some() {
                    *call = Call::default();
                }
                let taken = !call.started;
                if taken {
                    *call = Call { started: true, deadline: deadline.instant().as_nanos(), ..Call::default() };
                }
                receipt(taken)
            }
            Op::Finish { call, attempt, result } => {
                let call = &mut self.calls[call];
                let listens = call.listens();
                let out = call.out.as_mut().filter(|out| listens && out.number == attempt && out.result.is_none());
                receipt(out.map(|out| out.result = Some(result)).is_some())
            }
            Op::Wake { call, ticket } => {
                let call = &mut self.calls[call];
                let taken = call.listens()
                    && matches!(call.next, Next::After { told: false, .. })
                    && call.out.is_none()
                    && ticket == call.pauses;
                if taken {
                    call.next = Next::Now;
                }
                receipt(taken)
            }
            Op::Cancel { call } => {
                let call = &mut self.calls[call];
                let taken = call.listens();
                call.cancelled |= taken;
                receipt(taken)
            }
            Op::Poll { call } => {
                let mut state = std::mem::take(&mut self.calls[call]);
                let mut said = Vec::new();
                while self.turn(&mut state, now, r, &mut said) {}
                self.calls[call] = state;
                Said::Steps(said)
            }
            Op::Fail => {
                if let Some(breaker) = &mut self.breaker
                    && let breaker::Answer::Admitted { .. } = ask(breaker, now, r)
                {
                    settle(breaker, breaker.permits() - 1, Outcome::Failure, now, r);
                }
                Said::Nothing
            }
        }
    }

    /// Whether the call has more to say.
    fn turn(&mut self, call: &mut Call, now: u64, r: u64, said: &mut Vec<Say>) -> bool {
        if !call.started {
            said.push(Say::Done(Over {
                end: End::Unconfigured,
                attempt: 0,
                attempts: 0,
                no: None,
                failure: None,
                told: None,
            }));
            return false;
        }
        if call.over.is_none() && call.cancelled {
            self.end(call, End::Cancelled, 0, None, now);
        }
        if let Some(over) = call.over {
            if let Some(out) = call.out.take() {
                let outcome = match out.result {
                    Some(result) => self.judge(&out, result, now).1,
                    None => Outcome::Ignored,
                };
                said.extend(self.settle(out.permit, outcome, now, r).map(Say::Changed));
                if out.result.is_none() {
                    said.push(Say::Cancel { attempt: out.number, reason: Cut::Cancelled });
                }
            }
            said.push(Say::Done(over));
            return false;
        }
        if !call.begun {
            call.begun = true;
            let end = self.rules.total.map_or(NEVER, |total| now.saturating_add(total));
            call.by_total = end < call.deadline;
            call.deadline = call.deadline.min(end);
        }
        if let Some(out) = call.out {
            return self.listen(call, out, now, r, said);
        }
        match call.next {
            Next::Undecided => self.consider(call, now, r),
            Next::After { at, told } if now < at => {
                let ticket = if told { 0 } else { call.pauses };
                said.push(Say::Wait { until: at, ticket, pause: Pause::Backoff });
                return false;
            }
            Next::Queued { at } if now < at => {
                said.push(Say::Wait { until: at, ticket: 0, pause: Pause::RateLimit });
                return false;
            }
            _ => self.send(call, now, r, said),
        }
        true
    }

    fn listen(&mut self, call: &mut Call, out: Attempt, now: u64, r: u64, said: &mut Vec<Say>) -> bool {
        let cut_off = out.until != NEVER && out.until <= now;
        let (ended, outcome) = match out.result {
            Some(result) => self.judge(&out, result, now),
            None if cut_off => {
                let cut = Ended::cut(out.own);
                (cut, outcome(&cut, now))
            }
            None => {
                said.push(Say::Wait { until: out.until, ticket: 0, pause: Pause::Attempts });
                return false;
            }
        };
        call.out = None;
        said.extend(self.settle(out.permit, outcome, now, r).map(Say::Changed));
        if out.result.is_none() {
            let reason = if out.own { Cut::TimedOut } else { Cut::Deadline };
            said.push(Say::Cancel { attempt: out.number, reason });
        }
        if ended.failure.is_none() {
            self.end(call, End::Success, out.number, None, now);
        } else {
            let told = match ended.told {
                Told::Wait(wait) => Some(now.saturating_add(nanos(wait))),
                _ => None,
            };
            call.last = Some((out.number, ended, told));
            call.next = Next::Undecided;
        }
        true
    }

    /// What a result means, and what the breaker hears: a success that comes too late is no success.
    fn judge(&self, out: &Attempt, result: Ended, now: u64) -> (Ended, Outcome) {
        let late = result.failure.is_none() && now > out.until;
        let cut = Ended::cut(out.own);
        if result.failure == Some(Failure::Timeout) && !out.own && out.until <= now && out.until != NEVER {
            // A socket that was given what the deadline left.
            return (cut, outcome(&cut, now));
        }
        match (late, self.rules.use_late) {
            (false, _) => (result, outcome(&result, now)),
            (true, true) => (result, outcome(&cut, now)),
            (true, false) => (cut, outcome(&cut, now)),
        }
    }

    /// The last attempt has failed.
    fn consider(&mut self, call: &mut Call, now: u64, r: u64) {
        let Some((attempt, last, _)) = call.last else { unreachable!("something has failed") };
        let timed_out = matches!(last.failure, Some(Failure::Timeout | Failure::InheritedDeadline));
        if timed_out && let Some(reason) = too_late(call.deadline, now, 0) {
            return self.end_late(call, reason, now);
        }
        let end = |end| (end, None);
        let refused = 'no: {
            if !last.retryable {
                break 'no Some(end(End::NotRetryable));
            }
            if last.told == Told::Stop {
                break 'no Some(end(End::ToldToStop));
            }
            let Some(retry) = self.rules.retry else { break 'no Some(end(End::AttemptsUsedUp)) };
            if !retry.may_repeat {
                break 'no Some(end(End::NotIdempotent));
            }
            if u64::from(call.attempts) >= retry.attempts {
                break 'no Some(end(End::AttemptsUsedUp));
            }
            let told = match last.told {
                Told::Wait(wait) => Some(nanos(wait)),
                _ => None,
            };
            let drawn = nanos(retry.backoff.delay(call.growth, std::time::Duration::from_nanos(call.drawn), r));
            let Some(pause) = retry.pause(told, drawn, r) else { break 'no Some(end(End::ToldTooLong)) };
            let mut at = now.saturating_add(pause);
            if too_late(call.deadline, at, self.rules.expected).is_some() {
                let passed = call.deadline <= now;
                let reason = if passed { Reason::DeadlineExceeded } else { Reason::WontFinish };
                return self.end_late(call, reason, now);
            }
            if let Some(budget) = &mut self.budget
                && let budget::Answer::Refused(no) = budget.apply(budget::Op::Peek, now)
            {
                break 'no Some((End::BudgetEmpty, Some(no)));
            }
            if let Some(breaker) = &self.breaker
                && let Some(no) = peek(breaker, if told.is_some() { at } else { now })
            {
                match no {
                    No { reason: Reason::Open, when: When::At(due), .. }
                        if told
                            .is_some_and(|told| due.as_nanos() <= now.saturating_add(told.saturating_add(GRAIN)))
                            && due.as_nanos() <= now.saturating_add(retry.max_told.saturating_add(GRAIN))
                            && too_late(call.deadline, due.as_nanos(), self.rules.expected).is_none() =>
                    {
                        at = due.as_nanos();
                    }
                    no => break 'no Some((End::BreakerRefused, Some(no))),
                }
            }
            if let Some(budget) = &mut self.budget {
                budget.apply(budget::Op::Withdraw, now);
                call.paid = true;
            }
            call.waited = at - now;
            let anew = told.is_some() && retry.on_told == 2;
            call.drawn = if anew { 0 } else { drawn };
            call.growth = if anew { 0 } else { call.growth + 1 };
            call.pauses += 1;
            call.next = Next::After { at: at.min(NEVER - 1), told: told.is_some() };
            None
        };
        if let Some((end, no)) = refused {
            self.end(call, end, attempt, no, now);
        }
    }

    /// An attempt is due.
    fn send(&mut self, call: &mut Call, now: u64, r: u64, said: &mut Vec<Say>) {
        let last = call.last.map_or(0, |(attempt, ..)| attempt);
        if let Some(reason) = too_late(call.deadline, now, self.rules.expected) {
            return self.end_late(call, reason, now);
        }
        let refused = self.breaker.as_ref().and_then(|breaker| peek(breaker, now));
        let cost = self.rules.cost;
        if refused.is_none()
            && call.place.is_none()
            && let Some(limit) = &mut self.rate_limit
            && let bucket::Answer::Refused(no) = limit.apply(&bucket::Step { op: bucket::Op::Peek { cost }, now })
        {
            return self.queue(call, no, now);
        }
        let mut permit = None;
        if let Some(breaker) = &mut self.breaker {
            match ask(breaker, now, r.rotate_left(32)) {
                breaker::Answer::Admitted { change, .. } => {
                    permit = Some(breaker.permits() - 1);
                    said.extend(change.map(Say::Changed));
                }
                breaker::Answer::Refused { no, change } => {
                    said.extend(change.map(Say::Changed));
                    return self.end(call, End::BreakerRefused, last, Some(no), now);
                }
                other => unreachable!("{other:?}"),
            }
        }
        if call.place.is_none()
            && let Some(limit) = &mut self.rate_limit
        {
            limit.apply(&bucket::Step { op: bucket::Op::Take { cost }, now });
        }
        if let Some(budget) = &mut self.budget
            && !call.paid_in
        {
            budget.apply(budget::Op::Deposit, now);
        }
        (call.place, call.paid, call.paid_in) = (None, false, true);
        call.attempts += 1;
        let (attempt, total) = (self.rules.attempt.unwrap_or(NEVER), self.rules.total.unwrap_or(NEVER));
        let own = now.saturating_add(attempt.min(total));
        let until = own.min(call.deadline);
        let number = call.attempts;
        call.out = Some(Attempt { number, permit, until, own: own <= call.deadline, result: None });
        let again = number > 1;
        let after = call.last.and_then(|(_, ended, _)| ended.failure).filter(|_| again);
        said.push(Say::Run { attempt: number, until, waited: if again { call.waited } else { 0 }, after });
    }

    /// The rate limit has said no.
    fn queue(&mut self, call: &mut Call, no: No, now: u64) {
        let last = call.last.map_or(0, |(attempt, ..)| attempt);
        let When::At(at) = no.when else { return self.end(call, End::RateLimited, last, Some(no), now) };
        let at = at.as_nanos();
        if at.saturating_sub(now) > self.rules.max_wait {
            return self.end(call, End::RateLimited, last, Some(no), now);
        }
        if too_late(call.deadline, at, self.rules.expected).is_some() {
            let passed = call.deadline <= now;
            return self.end_late(call, if passed { Reason::DeadlineExceeded } else { Reason::WontFinish }, now);
        }
        let (cost, max_wait) = (self.rules.cost, self.rules.max_wait);
        let limit = self.rate_limit.as_mut().expect("it has said no");
        match limit.apply(&bucket::Step { op: bucket::Op::Reserve { cost, max_wait }, now }) {
            bucket::Answer::Reserved { at } => {
                call.place = Some(limit.reservations() - 1);
                call.next = Next::Queued { at };
            }
            bucket::Answer::Refused(no) => self.end(call, End::RateLimited, last, Some(no), now),
            other => unreachable!("{other:?}"),
        }
    }

    fn end_late(&mut self, call: &mut Call, reason: Reason, now: u64) {
        let last = call.last.map_or(0, |(attempt, ..)| attempt);
        let (end, reason) = match reason {
            Reason::WontFinish => (End::WontFinish, reason),
            _ if call.by_total => (End::TimedOut, Reason::TimedOut),
            _ => (End::DeadlineExceeded, reason),
        };
        self.end(call, end, last, Some(deadline_no(reason)), now);
    }

    fn end(&mut self, call: &mut Call, end: End, attempt: u32, no: Option<No>, now: u64) {
        if let Some(budget) = &mut self.budget
            && call.paid
        {
            budget.apply(budget::Op::Refund, now);
        }
        if let Some(limit) = &mut self.rate_limit
            && let Some(reservation) = call.place
        {
            limit.apply(&bucket::Step { op: bucket::Op::Cancel { reservation }, now });
        }
        let failure = call.last.and_then(|(_, ended, _)| ended.failure);
        let told = call.last.and_then(|(.., told)| told);
        call.over = Some(Over { end, attempt, attempts: call.attempts, no, failure, told });
    }

    fn settle(&mut self, permit: Option<usize>, outcome: Outcome, now: u64, r: u64) -> Option<Change> {
        settle(self.breaker.as_mut()?, permit?, outcome, now, r.rotate_left(32))
    }
}

impl Call {
    /// Whether an input may still matter.
    fn listens(&self) -> bool {
        self.started && !self.cancelled && self.over.is_none()
    }
}

fn receipt(taken: bool) -> Said {
    Said::Receipt(if taken { Receipt::Taken } else { Receipt::Stale })
}

fn nanos(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// A told wait is evidence only where the failure is.
fn outcome(ended: &Ended, now: u64) -> Outcome {
    match (ended.breaker, ended.told) {
        (Evidence::Failure, Told::Wait(wait)) => {
            Outcome::FailureUntil(Instant::from_nanos(now.saturating_add(nanos(wait))))
        }
        (Evidence::Failure, _) => Outcome::Failure,
        (Evidence::Success, _) => Outcome::Success,
        _ => Outcome::Ignored,
    }
}

fn ask(breaker: &mut breaker::Model, now: u64, r: u64) -> breaker::Answer {
    breaker.apply(&breaker::Step { op: breaker::Op::Admit, now, r })
}

fn settle(breaker: &mut breaker::Model, permit: usize, outcome: Outcome, now: u64, r: u64) -> Option<Change> {
    match breaker.apply(&breaker::Step { op: breaker::Op::Settle { permit, outcome }, now, r }) {
        breaker::Answer::Settled { change, .. } => change,
        other => unreachable!("{other:?}"),
    }
}

/// Why it would refuse.
fn peek(breaker: &breaker::Model, now: u64) -> Option<No> {
    match ask(&mut breaker.clone(), now, 0) {
        breaker::Answer::Refused { no, .. } => Some(no),
        _ => None,
    }
}
