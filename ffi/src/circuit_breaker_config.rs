//! The circuit breaker's configuration as C writes it.

use core::ffi::c_char;

use core_seawall::CircuitBreakerConfig;

use crate::caller::Caller;
use crate::names;
use crate::status::sw_status;
use crate::text;

/// A field, or an argument where it says so, with this value is left at its default. It is no possible
/// value of any field; UINT64_MAX and 0 are refused like any other value out of range.
pub const SW_DEFAULT: u64 = 0xFFFF_FFFF_FFFF_DEFA;

/// How a circuit breaker judges. Begin with `sw_circuit_breaker_config_default()` and set what you
/// want otherwise. Consecutive mode unless one of `failure_rate_ppm`, `window`, `window_span_ns`,
/// `minimum_calls` and `slow_rate_ppm` is set, which make it rate mode. Meaning, range and default of each field are told
/// at `enum sw_circuit_breaker_field` (seawall_constants.h). Spans are nanoseconds, ratios parts per
/// million.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_circuit_breaker_config {
    pub failure_threshold: u64,
    pub failure_rate_ppm: u64,
    pub window: u64,
    pub window_span_ns: u64,
    pub buckets: u64,
    pub minimum_calls: u64,
    pub slow_after_ns: u64,
    pub slow_rate_ppm: u64,
    pub trials: u64,
    pub close_after: u64,
    pub reset_after_ns: u64,
    /// 2000 doubles the open period with each reopening.
    pub reset_factor_permille: u64,
    pub reset_cap_ns: u64,
    pub reset_jitter_ppm: u64,
    pub max_retry_after_ns: u64,
    pub trial_timeout_ns: u64,
    /// An `enum sw_expired_trials`.
    pub expired_trials: u64,
    /// An `enum sw_mode`.
    pub mode: u64,
}

impl sw_circuit_breaker_config {
    /// The fields in the order of `CircuitBreakerConfig::FIELDS`.
    fn fields(&self) -> [u64; CircuitBreakerConfig::FIELDS.len()] {
        [
            self.failure_threshold,
            self.failure_rate_ppm,
            self.window,
            self.window_span_ns,
            self.buckets,
            self.minimum_calls,
            self.slow_after_ns,
            self.slow_rate_ppm,
            self.trials,
            self.close_after,
            self.reset_after_ns,
            self.reset_factor_permille,
            self.reset_cap_ns,
            self.reset_jitter_ppm,
            self.max_retry_after_ns,
            self.trial_timeout_ns,
            self.expired_trials,
            self.mode,
        ]
    }

    pub(crate) fn core(&self) -> CircuitBreakerConfig {
        let given = self.fields().into_iter().enumerate().filter(|&(_, value)| value != SW_DEFAULT);
        given.fold(CircuitBreakerConfig::new(), |config, (place, value)| config.with(place, value))
    }
}

/// How many words the configuration's window needs behind the breaker (SW_CIRCUIT_BREAKER_STORAGE): 0 for a plain
/// one, and when `config` is NULL or misaligned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_config_words(config: *const sw_circuit_breaker_config) -> usize {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    read(caller, config).map_or(0, |config| config.words())
}

/// A configuration with every field at its default: consecutive mode, 5 failures, 30 s.
#[unsafe(no_mangle)]
pub extern "C" fn sw_circuit_breaker_config_default() -> sw_circuit_breaker_config {
    sw_circuit_breaker_config {
        failure_threshold: SW_DEFAULT,
        failure_rate_ppm: SW_DEFAULT,
        window: SW_DEFAULT,
        window_span_ns: SW_DEFAULT,
        buckets: SW_DEFAULT,
        minimum_calls: SW_DEFAULT,
        slow_after_ns: SW_DEFAULT,
        slow_rate_ppm: SW_DEFAULT,
        trials: SW_DEFAULT,
        close_after: SW_DEFAULT,
        reset_after_ns: SW_DEFAULT,
        reset_factor_permille: SW_DEFAULT,
        reset_cap_ns: SW_DEFAULT,
        reset_jitter_ppm: SW_DEFAULT,
        max_retry_after_ns: SW_DEFAULT,
        trial_timeout_ns: SW_DEFAULT,
        expired_trials: SW_DEFAULT,
        mode: SW_DEFAULT,
    }
}

/// Why a configuration is impossible, as a sentence with field, value and allowed range:
/// "circuit_breaker.trials: 0 is not allowed; allowed are 1 to 15". Empty when it is possible.
///
/// Writes at most `size` bytes with the NUL and returns the sentence's length without it, as snprintf
/// does: 0 when the configuration is possible. `text` may be NULL when `size` is 0.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_config_explain(
    config: *const sw_circuit_breaker_config,
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

/// Reads a caller's configuration, which is checked by whoever uses it.
pub(crate) fn read(
    caller: Caller<'_>,
    config: *const sw_circuit_breaker_config,
) -> Result<CircuitBreakerConfig, sw_status> {
    Ok(caller.read(config)?.core())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_bucket::sw_token_bucket_config;
    use core_seawall::TokenBucketConfig;
    use core_seawall::config::{Field, Unit};
    use std::string::String;

    /// A configuration's field as C names it.
    fn c_name(field: &Field) -> String {
        let suffix = match field.unit {
            Unit::Span => "_ns",
            Unit::Ratio => "_ppm",
            Unit::Factor => "_permille",
            _ => "",
        };
        std::format!("{}{suffix}", field.name)
    }

    /// The struct's fields are the core's, in their order and with nothing between.
    fn agree<C>(ours: &[(&str, usize)], core: &[Field]) {
        assert_eq!(size_of::<C>(), core.len() * 8);
        for (place, field) in core.iter().enumerate() {
            assert_eq!(ours[place], (c_name(field).as_str(), place * 8));
        }
    }

    macro_rules! offsets {
        ($config:ident, $($field:ident),+) => {
            &[$((stringify!($field), core::mem::offset_of!($config, $field))),+]
        };
    }

    #[test]
    fn a_configuration_has_the_cores_fields_in_their_order() {
        agree::<sw_circuit_breaker_config>(
            offsets!(
                sw_circuit_breaker_config,
                failure_threshold,
                failure_rate_ppm,
                window,
                window_span_ns,
                buckets,
                minimum_calls,
                slow_after_ns,
                slow_rate_ppm,
                trials,
                close_after,
                reset_after_ns,
                reset_factor_permille,
                reset_cap_ns,
                reset_jitter_ppm,
                max_retry_after_ns,
                trial_timeout_ns,
                expired_trials,
                mode
            ),
            CircuitBreakerConfig::FIELDS,
        );
        agree::<sw_token_bucket_config>(
            offsets!(sw_token_bucket_config, period_ns, rate, capacity, start),
            TokenBucketConfig::FIELDS,
        );
    }

    /// Each field reaches its own place in the core, and the sentinel reaches none.
    #[test]
    fn each_field_reaches_its_own_place() {
        use core_seawall::config::Config;
        let mut config = sw_circuit_breaker_config_default();
        assert_eq!(config.core(), CircuitBreakerConfig::new());
        config.reset_jitter_ppm = 7;
        assert_eq!(config.core(), CircuitBreakerConfig::new().with(13, 7));
        let impossible = |field: &Field| field.min <= SW_DEFAULT && SW_DEFAULT <= field.max;
        assert!(!CircuitBreakerConfig::FIELDS.iter().any(impossible), "the sentinel is a value of a field");
        assert!(
            TokenBucketConfig::new().capacity(1).with(1, SW_DEFAULT).check().is_err(),
            "the sentinel is a possible rate"
        );
        assert_eq!(Config::get(&config.core(), 0), None);
    }
}
