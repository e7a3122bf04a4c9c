//! The native half of seawall's Node package.
//!
//! It holds the engine's state in slabs that live as long as the process, and registers, by hand, one
//! function per operation; the TypeScript half makes objects of their numbers. Nothing is decided here.
//!
//! A call reads the clock itself (the operating system's monotonic clock, or the manual one that the
//! object was made with), which is cheaper than being told the time.

mod breaker;
mod bucket;
mod budget;
mod clock;
mod environment;
mod handle;
mod node_api;
mod objects;
mod options;
mod outbound;
mod refusal;
mod slab;
mod spread;
mod table;

use std::sync::Once;

use napi_sys::{napi_env, napi_value};
use seawall::config::Config;
use seawall::{
    BackoffConfig, CircuitBreakerConfig, PolicyConfig, RetryBudgetConfig, RetryConfig, TimeoutsConfig,
    TokenBucketConfig,
};

use environment::Environment;
use node_api::{Value, export, functions};
use objects::{BREAKERS, BUCKETS, BUDGETS, CLOCKS};

functions! { FUNCTIONS:
    "constants" constants [0] => |_call| Some(breaker::constants());
    "fields" fields [0] => |_call| Some(Value::Object(vec![
        ("CircuitBreaker", names::<CircuitBreakerConfig>()),
        ("TokenBucket", names::<TokenBucketConfig>()),
        ("Backoff", names::<BackoffConfig>()),
        ("RetryBudget", names::<RetryBudgetConfig>()),
        ("Retry", names::<RetryConfig>()),
        ("Timeouts", names::<TimeoutsConfig>()),
        ("Policy", names::<PolicyConfig>()),
    ]));
    "span" span [1] => |call| Some(match options::span(&call.text(0)?) {
        Ok(nanos) => Value::Number(nanos),
        Err(wrong) => wrong.into(),
    });
    "release" release [1] => |call| {
        call.environment.release(call.u32(0));
        Some(())
    };
    "saveDetails" save_details [0] => |call| {
        call.environment.save();
        Some(())
    };
    "restoreDetails" restore_details [0] => |call| {
        call.environment.restore();
        Some(())
    };
    "liveObjects" live_objects [0] => |_call| {
        Some(Value::Number((BREAKERS.count() + BUCKETS.count() + BUDGETS.count() + CLOCKS.count()) as f64))
    };
    "failOnPurpose" fail_on_purpose [0] => |_call| fail();
}

/// A panic, so that a test can see what becomes of one.
fn fail() -> Option<()> {
    panic!("asked to by a test")
}

fn names<C: Config>() -> Value {
    Value::List(C::FIELDS.iter().map(|field| field.name.into()).collect())
}

/// Called by Node once in every environment that loads the module.
///
/// # Safety
/// Only Node may call it, with the environment and the object to export to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn napi_register_module_v1(env: napi_env, exports: napi_value) -> napi_value {
    static SYMBOLS: Once = Once::new();
    SYMBOLS.call_once(|| {
        // SAFETY: once, before any other use of Node-API. The library is the process itself; it must
        // not be closed, so its handle is kept.
        std::mem::forget(unsafe { napi_sys::setup() });
    });
    let environment = Environment::start(env);
    for table in [
        FUNCTIONS,
        breaker::FUNCTIONS,
        bucket::FUNCTIONS,
        budget::FUNCTIONS,
        clock::FUNCTIONS,
        outbound::FUNCTIONS,
        spread::FUNCTIONS,
    ] {
        // SAFETY: env and exports are the module's; `start` keeps the environment until its end.
        unsafe { export(env, exports, environment, table) };
    }
    exports
}

/// Which version of Node-API is asked for: 6, for bigints.
#[unsafe(no_mangle)]
pub extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    6
}
