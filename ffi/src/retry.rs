//! The rules of retrying, and what a failure means.

use core::ffi::c_char;

use core_seawall::{RetryConfig, TimeoutsConfig};

use crate::caller::Caller;
use crate::circuit_breaker_config::SW_DEFAULT;
use crate::names;
use crate::text;

/// How a call is tried again. Begin with `sw_retry_config_default()`; `idempotent` must be set. Meaning, range
/// and default of each field are told at `enum sw_retry_field` (seawall_constants.h).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_retry_config {
    pub attempts: u64,
    /// An `enum sw_idempotent`.
    pub idempotent: u64,
    /// An `enum sw_on_retry_after`.
    pub on_retry_after: u64,
    pub max_retry_after_ns: u64,
}

/// How long a call may take. Begin with `sw_timeouts_config_default()` and set all three: 0 states that there is
/// none. Meaning and range are told at `enum sw_timeouts_field` (seawall_constants.h).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_timeouts_config {
    pub connect_ns: u64,
    pub attempt_ns: u64,
    pub total_ns: u64,
}

impl sw_retry_config {
    pub(crate) fn core(&self) -> RetryConfig {
        let fields: [u64; RetryConfig::FIELDS.len()] =
            [self.attempts, self.idempotent, self.on_retry_after, self.max_retry_after_ns];
        let given = fields.into_iter().enumerate().filter(|&(_, value)| value != SW_DEFAULT);
        given.fold(RetryConfig::new(), |config, (place, value)| config.with(place, value))
    }
}

impl sw_timeouts_config {
    pub(crate) fn core(&self) -> TimeoutsConfig {
        let fields: [u64; TimeoutsConfig::FIELDS.len()] = [self.connect_ns, self.attempt_ns, self.total_ns];
        let given = fields.into_iter().enumerate().filter(|&(_, value)| value != SW_DEFAULT);
        given.fold(TimeoutsConfig::new(), |config, (place, value)| config.with(place, value))
    }
}

/// Rules with every field at its default; `idempotent` has none and must be set.
#[unsafe(no_mangle)]
pub extern "C" fn sw_retry_config_default() -> sw_retry_config {
    sw_retry_config {
        attempts: SW_DEFAULT,
        idempotent: SW_DEFAULT,
        on_retry_after: SW_DEFAULT,
        max_retry_after_ns: SW_DEFAULT,
    }
}

/// Timeouts of which none is stated; all must be.
#[unsafe(no_mangle)]
pub extern "C" fn sw_timeouts_config_default() -> sw_timeouts_config {
    sw_timeouts_config { connect_ns: SW_DEFAULT, attempt_ns: SW_DEFAULT, total_ns: SW_DEFAULT }
}

/// Why rules are impossible, as a sentence; see `sw_circuit_breaker_config_explain`.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_config_explain(
    config: *const sw_retry_config,
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

/// Why timeouts are impossible, as a sentence; see `sw_circuit_breaker_config_explain`.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_timeouts_config_explain(
    config: *const sw_timeouts_config,
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
