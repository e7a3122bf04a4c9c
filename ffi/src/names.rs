//! Names of what is numbered, the same in every language. Written out, and compared with the core's in
//! a test: C wants a NUL at the end.

use core::ffi::{CStr, c_char};

use crate::status::sw_status;
use crate::text;

const UNKNOWN: &CStr = c"unknown";

/// What a status means, as a sentence; never NULL. Thread- and signal-safe, like all functions that
/// return a name.
#[unsafe(no_mangle)]
pub extern "C" fn sw_strerror(status: i32) -> *const c_char {
    meaning(status).as_ptr()
}

/// The sentence of a status, for text.
pub(crate) fn sentence(status: sw_status) -> &'static str {
    text::of(meaning(status as i32))
}

fn meaning(status: i32) -> &'static CStr {
    match status {
        0 => c"done",
        1 => c"refused; the rejection says why and when to ask again",
        2 => c"settled, and counted for nothing",
        3 => c"the settlement came from before the last change of state and changed nothing",
        4 => c"there is no event yet",
        -1 => c"a pointer that must not be NULL is",
        -2 => c"a pointer is not aligned as its type must be",
        -3 => c"the storage is too small",
        -4 => c"the state was never configured; initialise it first",
        -5 => c"the configuration is impossible",
        -6 => c"three other changes of this configuration are under way; try again",
        -7 => c"the permit or reservation is empty: it was settled already, or never granted",
        -8 => c"a number is none of its enumeration",
        -9 => c"the system has no randomness to give",
        _ => UNKNOWN,
    }
}

/// The name of an `enum sw_layer`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_layer_name(layer: u32) -> *const c_char {
    match layer {
        1 => c"circuit_breaker",
        2 => c"rate_limit",
        3 => c"retry",
        4 => c"retry_budget",
        5 => c"deadline",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The name of an `enum sw_reason`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_reason_name(reason: u32) -> *const c_char {
    match reason {
        1 => c"unconfigured",
        10 => c"open",
        11 => c"trials_busy",
        12 => c"forced_open",
        20 => c"rate_limited",
        21 => c"exceeds_capacity",
        30 => c"budget_empty",
        40 => c"deadline_exceeded",
        41 => c"wont_finish",
        42 => c"timed_out",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The name of an `enum sw_cause`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_cause_name(cause: u32) -> *const c_char {
    match cause {
        1 => c"failure_threshold",
        2 => c"failure_rate",
        3 => c"slow_rate",
        4 => c"retry_after",
        5 => c"trial_failed",
        6 => c"trials_succeeded",
        7 => c"trials_expired",
        8 => c"due",
        9 => c"tripped",
        10 => c"reset",
        11 => c"half_opened",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The name of an `enum sw_state`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_state_name(state: u32) -> *const c_char {
    match state {
        0 => c"closed",
        1 => c"open",
        2 => c"half-open",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The name of an `enum sw_mode`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_mode_name(mode: u32) -> *const c_char {
    match mode {
        0 => c"normal",
        1 => c"forced-open",
        2 => c"disabled",
        3 => c"shadow",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The name of an `enum sw_end`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_end_name(end: u32) -> *const c_char {
    match end {
        1 => c"success",
        2 => c"not_retryable",
        3 => c"not_idempotent",
        4 => c"attempts_used_up",
        5 => c"budget_empty",
        6 => c"told_to_stop",
        7 => c"told_too_long",
        8 => c"breaker_refused",
        9 => c"rate_limited",
        10 => c"deadline_exceeded",
        11 => c"timed_out",
        12 => c"wont_finish",
        13 => c"cancelled",
        14 => c"unconfigured",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The name of an `enum sw_failure`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_failure_name(failure: u32) -> *const c_char {
    match failure {
        1 => c"timeout",
        2 => c"connection",
        3 => c"status",
        4 => c"own_refusal",
        5 => c"cancelled",
        6 => c"inherited_deadline",
        7 => c"other",
        8 => c"transient",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The name of an `enum sw_evidence`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_evidence_name(evidence: u32) -> *const c_char {
    match evidence {
        1 => c"success",
        2 => c"failure",
        3 => c"ignored",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The name of an `enum sw_cut`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_cut_name(cut: u32) -> *const c_char {
    match cut {
        1 => c"timed_out",
        2 => c"deadline",
        3 => c"cancelled",
        4 => c"superseded",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The name of an `enum sw_pause`; "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn sw_pause_name(pause: u32) -> *const c_char {
    match pause {
        1 => c"attempts",
        2 => c"backoff",
        3 => c"rate_limit",
        _ => UNKNOWN,
    }
    .as_ptr()
}

/// The version of the library, as `major.minor.patch`.
#[unsafe(no_mangle)]
pub extern "C" fn sw_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => UNKNOWN,
    };
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_seawall::policy::{Cut, End, Pause};
    use core_seawall::{Cause, Evidence, Failure, Layer, Mode, Reason, State};
    use std::ffi::CStr;

    fn text(name: *const c_char) -> &'static str {
        // SAFETY: all names are constants of this file, with a NUL.
        unsafe { CStr::from_ptr(name) }.to_str().unwrap()
    }

    /// Every number of a byte has the core's name, or is unknown.
    fn agrees(ours: extern "C" fn(u32) -> *const c_char, core: impl Fn(u8) -> Option<&'static str>) {
        for number in 0..=u8::MAX {
            assert_eq!(text(ours(u32::from(number))), core(number).unwrap_or("unknown"), "{number}");
        }
        assert_eq!(text(ours(u32::MAX)), "unknown");
    }

    #[test]
    fn names_are_the_cores() {
        agrees(sw_layer_name, |n| Layer::from_number(n).map(Layer::name));
        agrees(sw_reason_name, |n| Reason::from_number(n).map(Reason::name));
        agrees(sw_cause_name, |n| Cause::from_number(n).map(Cause::name));
        agrees(sw_end_name, |n| End::from_number(n).map(End::name));
        agrees(sw_failure_name, |n| Failure::from_number(n).map(Failure::name));
        agrees(sw_evidence_name, |n| Evidence::from_number(n).map(Evidence::name));
        agrees(sw_cut_name, |n| Cut::from_number(n).map(Cut::name));
        agrees(sw_pause_name, |n| Pause::from_number(n).map(Pause::name));
        agrees(sw_mode_name, |n| Mode::NAMES.get(usize::from(n)).copied());
        agrees(sw_state_name, |n| (n <= 2).then(|| State::from_number(u64::from(n)).name()));
    }

    #[test]
    fn every_status_has_a_sentence_of_its_own() {
        let sentences: std::collections::HashSet<_> = sw_status::ALL.map(sentence).into_iter().collect();
        assert_eq!(sentences.len(), sw_status::ALL.len());
        assert!(!sentences.contains("unknown"));
        assert_eq!(text(sw_strerror(i32::MIN)), "unknown");
    }
}
