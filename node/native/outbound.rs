//! The policy's functions: its wiring, and the calls that are made under it.
//!
//! A call lives here and decides; JavaScript sends, waits, cuts off and raises as its steps say.

use std::sync::atomic::Ordering;
use std::time::Duration;

use seawall::policy::{Ending, Receipt, Told};
use seawall::{
    Backoff, BackoffConfig, Call as Engine, Deadline, Evidence, Failure, Finish, Instant, Policy, PolicyConfig, Retry,
    RetryConfig, Step, Timeouts, TimeoutsConfig, Token, Verdict,
};

use crate::budget::rejection;
use crate::clock::{milliseconds, now_of, random_of};
use crate::node_api::{Argument, Call, Value, functions};
use crate::objects::{self, BREAKERS, BUCKETS, BUDGETS};
use crate::options::{config, config_error};
use crate::slab::{Blank, Slab};

/// What a policy consists of. It holds the objects whose handles it has, so that they outlive it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wiring {
    own: Policy<'static>,
    breaker: u32,
    bucket: u32,
    budget: u32,
    clock: u32,
}

impl Wiring {
    fn policy(&self) -> Policy<'static> {
        let mut policy = self.own;
        if let Some(slot) = BREAKERS.get(self.breaker) {
            policy = policy.breaker(&slot.state);
        }
        if let Some(slot) = BUCKETS.get(self.bucket) {
            policy = policy.rate_limit(&slot.state);
        }
        if let Some(slot) = BUDGETS.get(self.budget) {
            policy = policy.budget(&slot.state);
        }
        policy
    }

    fn parts(&self) -> impl Iterator<Item = u32> {
        [self.breaker, self.bucket, self.budget, self.clock].into_iter().filter(|handle| *handle != 0)
    }
}

/// `[policy, timeouts, retry?, backoff?, breaker, bucket, budget, clock]`
fn new(call: &Call<'_>) -> Result<Value, Value> {
    let refused = |error| config_error(&error);
    let timeouts = Timeouts::new(&config::<TimeoutsConfig>(call, 1)?).map_err(refused)?;
    let mut own = Policy::new(&config::<PolicyConfig>(call, 0)?, timeouts).map_err(refused)?;
    if !matches!(call.any(2), Argument::Undefined) {
        let retry = Retry::new(&config::<RetryConfig>(call, 2)?).map_err(refused)?;
        let backoff = Backoff::new(&config::<BackoffConfig>(call, 3)?).map_err(refused)?;
        own = own.retry(retry, backoff);
    }
    let wiring = Wiring { own, breaker: call.u32(4), bucket: call.u32(5), budget: call.u32(6), clock: call.u32(7) };
    let clocks =
        [clock_of(&BREAKERS, wiring.breaker), clock_of(&BUCKETS, wiring.bucket), clock_of(&BUDGETS, wiring.budget)];
    if clocks.into_iter().flatten().any(|clock| clock != wiring.clock) {
        return Err(Value::Object(vec![("error", "all parts of a policy go by one clock".into())]));
    }
    for handle in wiring.parts() {
        if !objects::hold(handle) {
            return Err(Value::Object(vec![("error", "a part of the policy was closed".into())]));
        }
        call.environment.hold(handle);
    }
    Ok(Value::Number(call.environment.policies.borrow_mut().add(wiring)))
}

fn clock_of<T: Blank>(slab: &Slab<T>, handle: u32) -> Option<u32> {
    slab.get(handle).map(|slot| slot.clock.load(Ordering::Relaxed))
}

/// The policy whose number is the first argument.
fn wiring(call: &Call<'_>) -> Option<Wiring> {
    call.environment.policies.borrow_mut().get(call.f64(0)).copied()
}

/// A new call of the policy: until a deadline (bigint), or with its first attempt sent under a breaker's token (number).
fn start(call: &Call<'_>) -> Option<f64> {
    let wiring = wiring(call)?;
    let mut engine = Engine::new();
    let _ = match call.any(1) {
        Argument::Whole(deadline) => engine.start(Deadline::at(Instant::from_nanos(deadline))),
        Argument::Number(token) => {
            let permit = (wiring.breaker != 0).then(|| Token::from_bits(token as u32));
            engine.start_sent(permit, now_of(wiring.clock))
        }
        _ => engine.start(Deadline::NEVER),
    };
    Some(call.environment.calls.borrow_mut().add(engine))
}

fn poll(call: &Call<'_>) -> Option<Value> {
    let wiring = wiring(call)?;
    let mut calls = call.environment.calls.borrow_mut();
    let engine = calls.get(call.f64(1))?;
    let now = now_of(wiring.clock);
    let step = engine.poll(&wiring.policy(), now, random_of(wiring.clock));
    Some(match step {
        Step::Run(attempt) => Value::Object(vec![
            ("step", "run".into()),
            ("attempt", attempt.attempt.into()),
            ("until", instant(attempt.until)),
            ("waited", Value::Number(attempt.waited.as_nanos() as f64 / 1e6)),
            ("after", attempt.after.map(Failure::name).into()),
        ]),
        Step::Cancel { attempt, reason } => Value::Object(vec![
            ("step", "cancel".into()),
            ("attempt", attempt.into()),
            ("reason", reason.name().into()),
        ]),
        Step::Wait { until, ticket, pause } => Value::Object(vec![
            ("step", "wait".into()),
            ("until", instant(until)),
            (
                "wait",
                if until == Instant::MAX {
                    Value::Undefined
                } else {
                    Value::Number(until.since(now).as_nanos() as f64)
                },
            ),
            ("ticket", Value::Number(ticket as f64)),
            ("pause", pause.name().into()),
        ]),
        Step::Changed(transition) => {
            call.environment.transition.set(Some(transition));
            Value::Object(vec![("step", "changed".into())])
        }
        Step::Done(ending) => done(&ending, now),
        _ => Value::Undefined,
    })
}

fn done(ending: &Ending, now: Instant) -> Value {
    let at = ending.retry_at();
    Value::Object(vec![
        ("step", "done".into()),
        ("end", ending.end.name().into()),
        ("attempt", ending.attempt.into()),
        ("attempts", ending.attempts.into()),
        ("refused", ending.rejection.map_or(Value::Undefined, |refused| rejection(&refused, now))),
        ("failure", ending.failure.map(Failure::name).into()),
        ("told", ending.told.map_or(Value::Undefined, instant)),
        ("at", at.map_or(Value::Undefined, instant)),
        ("wait", at.map_or(Value::Undefined, |at| Value::Number(at.since(now).as_nanos() as f64))),
    ])
}

/// In milliseconds; the end of time is none.
fn instant(at: Instant) -> Value {
    if at == Instant::MAX { Value::Undefined } else { Value::Number(milliseconds(at)) }
}

/// `[policy, call, attempt, class, told?, retryable?, breaker?]`: the class is a failure's name, `success` or an HTTP
/// status; what is told a number of nanoseconds, below 0 "not again".
fn finished(call: &Call<'_>) -> Option<bool> {
    let mut calls = call.environment.calls.borrow_mut();
    let engine = calls.get(call.f64(1))?;
    let mut failure = Failure::Status;
    let mut finish = match call.any(3) {
        Argument::Number(status) => Finish::status(if (100.0..600.0).contains(&status) { status as u16 } else { 500 }),
        Argument::Text(name) if name == "success" => Finish::success(),
        Argument::Text(name) => {
            failure = Failure::ALL.iter().copied().find(|failure| failure.name() == name).unwrap_or(Failure::Other);
            Finish::failed(failure)
        }
        _ => Finish::failed(Failure::Other),
    };
    if let Argument::Text(breaker) = call.any(6) {
        let breaker = Evidence::ALL.iter().copied().find(|one| one.name() == breaker).unwrap_or(Evidence::Ignored);
        let retryable = call.f64(5) == 1.0;
        finish = Finish::judged(failure, Verdict { retryable, after_wait: false, breaker });
    }
    finish = match call.any(4) {
        Argument::Number(wait) if wait < 0.0 => finish.told(Told::Stop),
        Argument::Number(wait) => finish.told(Told::Wait(Duration::from_nanos(wait as u64))),
        _ => finish,
    };
    Some(engine.finished(call.u32(2), finish) == Receipt::Taken)
}

/// Whether an input was taken by the call whose number is the second argument.
fn told(call: &Call<'_>, tell: impl FnOnce(&mut Engine) -> Receipt) -> Option<bool> {
    Some(tell(call.environment.calls.borrow_mut().get(call.f64(1))?) == Receipt::Taken)
}

functions! { FUNCTIONS:
    "policyNew" policy_new [8] => |call| Some(match new(call) {
        Ok(number) => number,
        Err(error) => error,
    });
    "policyClose" policy_close [1] => |call| {
        let wiring = call.environment.policies.borrow_mut().remove(call.f64(0))?;
        wiring.parts().for_each(|handle| call.environment.release(handle));
        Some(())
    };
    "callStart" call_start [2] => |call| start(call);
    "callPoll" call_poll [2] => |call| poll(call);
    "callFinished" call_finished [7] => |call| finished(call);
    "callWoken" call_woken [3] => |call| told(call, |engine| engine.woken(call.f64(2).max(0.0) as u64));
    "callCancelled" call_cancelled [2] => |call| told(call, Engine::cancelled);
    "callClose" call_close [1] => |call| call.environment.calls.borrow_mut().remove(call.f64(0)).map(|_| ());
    "liveCalls" live_calls [0] => |call| {
        Some((call.environment.calls.borrow().count() + call.environment.policies.borrow().count()) as f64)
    };
    "failures" failures [0] => |_call| Some(Value::List(Failure::ALL.iter().map(|one| one.name().into()).collect()));
}
