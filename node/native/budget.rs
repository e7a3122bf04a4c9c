//! The retry budget's functions.

use std::sync::atomic::Ordering;

use seawall::{Instant, Rejection, RetryBudget, RetryBudgetConfig, When};

use crate::clock::{milliseconds, now};
use crate::handle::Kind;
use crate::node_api::{Call, Value, functions};
use crate::objects::{self, BUDGETS, Origin};
use crate::options::{change_error, config, open_error};
use crate::slab::Slot;

type Budget = Slot<RetryBudget>;

fn new(call: &Call<'_>) -> Result<u32, Value> {
    let config: RetryBudgetConfig = config(call, 0)?;
    let clock = call.u32(1);
    let shared = call.text(2).map(|name| (name, Origin::Budget(config)));
    let made = objects::open(shared, Kind::Budget, clock, || {
        BUDGETS.add(|slot| {
            slot.clock.store(clock, Ordering::Relaxed);
            slot.state.init(&config, now(slot))
        })
    });
    let handle = made.map_err(|error| open_error(&error))?;
    call.environment.hold(handle);
    Ok(handle)
}

fn withdraw(slot: &Budget) -> Value {
    let now = now(slot);
    match slot.state.withdraw(now) {
        Ok(()) => Value::Bool(true),
        Err(refused) => rejection(&refused, now),
    }
}

/// A refusal with everything that is known of it, for layers that refuse too seldom to need a number.
pub(crate) fn rejection(rejection: &Rejection, now: Instant) -> Value {
    let at = rejection.at();
    Value::Object(vec![
        ("layer", rejection.layer.name().into()),
        ("reason", rejection.reason.name().into()),
        ("when", when(rejection.when).into()),
        ("at", at.map_or(Value::Undefined, |at| Value::Number(milliseconds(at)))),
        ("wait", at.map_or(Value::Undefined, |at| Value::Number(at.since(now).as_nanos() as f64))),
        ("sentence", rejection.explain(now).as_str().into()),
    ])
}

const fn when(when: When) -> &'static str {
    match when {
        When::At(_) => "at",
        When::Never => "never",
        _ => "depends",
    }
}

functions! { FUNCTIONS:
    "budgetNew" budget_new [3] => |call| Some(match new(call) {
        Ok(handle) => Value::from(handle),
        Err(error) => error,
    });
    "budgetAttach" budget_attach [1] => |call| {
        objects::attach(Kind::Budget, call.text(0)?).inspect(|&handle| call.environment.hold(handle))
    };
    "budgetDeposit" budget_deposit [1] on BUDGETS => |_call, slot| {
        // A full one needs no clock.
        if !slot.state.is_full() {
            slot.state.deposit(now(slot));
        }
        true
    };
    "budgetWithdraw" budget_withdraw [1] on BUDGETS => |_call, slot| withdraw(slot);
    "budgetRefund" budget_refund [1] on BUDGETS => |_call, slot| {
        slot.state.refund(now(slot));
        true
    };
    "budgetBalance" budget_balance [1] on BUDGETS => |_call, slot| slot.state.balance_ppm(now(slot)) as f64 / 1e6;
    "budgetReset" budget_reset [1] on BUDGETS => |_call, slot| {
        slot.state.reset(now(slot));
        true
    };
    "budgetConfigure" budget_configure [2] on BUDGETS => |call, slot| {
        let changed = config::<RetryBudgetConfig>(call, 1)
            .and_then(|config| slot.state.configure(&config, now(slot)).map_err(|error| change_error(&error)));
        match changed {
            Ok(()) => Value::Bool(true),
            Err(error) => error,
        }
    };
}
