//! The retry budget.

use core::ffi::c_char;

use core_seawall::{Instant, RetryBudget, RetryBudgetConfig};

use crate::caller::Caller;
use crate::circuit_breaker::refusal;
use crate::circuit_breaker_config::SW_DEFAULT;
use crate::decision::sw_rejection;
use crate::names;
use crate::status::{status, sw_status};
use crate::text;

/// A retry budget: retries only while they are few. Zero is its static initialiser and means
/// unconfigured: every operation refuses it until `sw_retry_budget_init`.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct sw_retry_budget {
    opaque: [u64; 7],
}

/// How many retries a client may afford. Begin with `sw_retry_budget_config_default()`. Meaning, range and
/// default of each field are told at `enum sw_retry_budget_field` (seawall_constants.h).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_retry_budget_config {
    pub ratio_ppm: u64,
    pub capacity: u64,
    pub min_per_second: u64,
}

impl sw_retry_budget_config {
    fn core(&self) -> RetryBudgetConfig {
        let fields: [u64; RetryBudgetConfig::FIELDS.len()] = [self.ratio_ppm, self.capacity, self.min_per_second];
        let given = fields.into_iter().enumerate().filter(|&(_, value)| value != SW_DEFAULT);
        given.fold(RetryBudgetConfig::new(), |config, (place, value)| config.with(place, value))
    }
}

/// A budget that has been configured.
pub(crate) fn configured<'a>(caller: Caller<'a>, budget: *const sw_retry_budget) -> Result<&'a RetryBudget, sw_status> {
    let budget: &RetryBudget = caller.state(budget)?;
    if budget.is_configured() { Ok(budget) } else { Err(sw_status::SW_ERR_UNCONFIGURED) }
}

/// A configuration with every field at its default.
#[unsafe(no_mangle)]
pub extern "C" fn sw_retry_budget_config_default() -> sw_retry_budget_config {
    sw_retry_budget_config { ratio_ppm: SW_DEFAULT, capacity: SW_DEFAULT, min_per_second: SW_DEFAULT }
}

/// Why a configuration is impossible, as a sentence; see `sw_circuit_breaker_config_explain`.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_budget_config_explain(
    config: *const sw_retry_budget_config,
    text: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    match caller.read(config).map(|config| config.core().check()) {
        Ok(Ok(())) => text::put(caller, text, size, ""),
        Ok(Err(error)) => text::put(caller, text, size, error),
        Err(error) => text::put(caller, text, size, names::sentence(error)),
    }
}

/// Configures a full budget. Nobody else may use it meanwhile. To change a budget that is in use, see
/// `sw_retry_budget_configure`.
///
/// SW_ERR_CONFIG: the configuration is impossible, and the budget is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_budget_init(
    budget: *mut sw_retry_budget,
    config: *const sw_retry_budget_config,
    now_ns: u64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let budget: &RetryBudget = caller.state(budget)?;
        let config = caller.read(config)?.core();
        budget.init(&config, Instant::from_nanos(now_ns)).map_err(|_| sw_status::SW_ERR_CONFIG)?;
        Ok(sw_status::SW_OK)
    })
}

/// A request pays in: once per request, however many attempts it takes.
///
/// Thread- and signal-safe. Cost: one load while the budget is full.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_budget_deposit(budget: *mut sw_retry_budget, now_ns: u64) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        configured(caller, budget)?.deposit(Instant::from_nanos(now_ns));
        Ok(sw_status::SW_OK)
    })
}

/// Pays for a retry.
///
/// SW_OK: paid; retry, or call `sw_retry_budget_refund`. SW_REFUSED: nothing was taken, and `rejection` says
/// so; it holds an estimate where `min_per_second` is not 0. `rejection` may be NULL.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_budget_withdraw(
    budget: *mut sw_retry_budget,
    now_ns: u64,
    rejection: *mut sw_rejection,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let budget: &RetryBudget = caller.state(budget)?;
        let rejection = caller.wanted(rejection)?;
        match budget.withdraw(Instant::from_nanos(now_ns)) {
            Ok(()) => {
                rejection.put(sw_rejection::default);
                Ok(sw_status::SW_OK)
            }
            Err(no) => {
                rejection.put(|| no.into());
                Err(refusal(no.reason))
            }
        }
    })
}

/// Takes a withdrawal back: the retry it paid for was not sent after all.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_budget_refund(budget: *mut sw_retry_budget, now_ns: u64) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        configured(caller, budget)?.refund(Instant::from_nanos(now_ns));
        Ok(sw_status::SW_OK)
    })
}

/// How many retries it could pay for now, in millionths; 0 when it is NULL, misaligned or unconfigured.
///
/// Thread- and signal-safe. Changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_budget_balance_ppm(budget: *const sw_retry_budget, now_ns: u64) -> u64 {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    configured(caller, budget).map_or(0, |budget| budget.balance_ppm(Instant::from_nanos(now_ns)))
}

/// Fills it.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_budget_reset(budget: *mut sw_retry_budget, now_ns: u64) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        configured(caller, budget)?.reset(Instant::from_nanos(now_ns));
        Ok(sw_status::SW_OK)
    })
}

/// Changes the configuration while it is in use. What is there stays, as far as it fits.
///
/// SW_ERR_CONFIG: impossible, see `sw_retry_budget_config_explain`. SW_ERR_BUSY: three other changes are
/// stopped half-way. Nothing has changed then.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_budget_configure(
    budget: *mut sw_retry_budget,
    config: *const sw_retry_budget_config,
    now_ns: u64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let budget = configured(caller, budget)?;
        budget.configure(&caller.read(config)?.core(), Instant::from_nanos(now_ns))?;
        Ok(sw_status::SW_OK)
    })
}
