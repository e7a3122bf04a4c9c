//! Backoff and jitter, and the other places where many act at once.

use core::ffi::c_char;
use core::time::Duration;

use core_seawall::config::Ratio;
use core_seawall::retry::{Reconnect, Schedule, ttl};
use core_seawall::{Backoff, BackoffConfig, Instant};

use crate::caller::Caller;
use crate::circuit_breaker_config::SW_DEFAULT;
use crate::names;
use crate::status::{status, sw_status};
use crate::text;

/// How long to wait before trying again: a plain value that may be copied. Zero means unconfigured: it is
/// refused until `sw_backoff_init`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_backoff {
    opaque: [u64; 7],
}

/// How long to wait before trying again. Begin with `sw_backoff_config_default()`. Meaning, range and
/// default of each field are told at `enum sw_backoff_field` (seawall_constants.h).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_backoff_config {
    pub base_ns: u64,
    pub cap_ns: u64,
    /// An `enum sw_growth`.
    pub growth: u64,
    pub factor_permille: u64,
    /// An `enum sw_jitter`.
    pub jitter: u64,
    pub spread_ppm: u64,
}

/// Work that recurs at a phase of its own: a plain value that may be copied. Zero is a period of a
/// nanosecond.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_schedule {
    /// Every so often.
    pub period_ns: u64,
    /// How long after the beginning of a period it is due.
    pub phase_ns: u64,
}

/// A connection that is made again whenever it is lost. Not for several threads at once.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_reconnect {
    opaque: [u64; 11],
}

impl sw_backoff_config {
    fn core(&self) -> BackoffConfig {
        let fields: [u64; BackoffConfig::FIELDS.len()] =
            [self.base_ns, self.cap_ns, self.growth, self.factor_permille, self.jitter, self.spread_ppm];
        let given = fields.into_iter().enumerate().filter(|&(_, value)| value != SW_DEFAULT);
        given.fold(BackoffConfig::new(), |config, (place, value)| config.with(place, value))
    }
}

/// A configuration with every field at its default.
#[unsafe(no_mangle)]
pub extern "C" fn sw_backoff_config_default() -> sw_backoff_config {
    sw_backoff_config {
        base_ns: SW_DEFAULT,
        cap_ns: SW_DEFAULT,
        growth: SW_DEFAULT,
        factor_permille: SW_DEFAULT,
        jitter: SW_DEFAULT,
        spread_ppm: SW_DEFAULT,
    }
}

/// Why a configuration is impossible, as a sentence; see `sw_circuit_breaker_config_explain`.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_backoff_config_explain(
    config: *const sw_backoff_config,
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

/// Makes a backoff.
///
/// SW_ERR_CONFIG: the configuration is impossible, and the backoff is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_backoff_init(backoff: *mut sw_backoff, config: *const sw_backoff_config) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let out = caller.out(backoff)?;
        let made = Backoff::new(&caller.read(config)?.core()).map_err(|_| sw_status::SW_ERR_CONFIG)?;
        out.put(|| sw_backoff { opaque: made.to_words() });
        Ok(sw_status::SW_OK)
    })
}

/// A backoff that has been configured.
pub(crate) fn configured(caller: Caller<'_>, backoff: *const sw_backoff) -> Result<Backoff, sw_status> {
    let backoff = Backoff::from_words(caller.read(backoff)?.opaque);
    if backoff.is_configured() { Ok(backoff) } else { Err(sw_status::SW_ERR_UNCONFIGURED) }
}

/// The wait before retry `retry`, counted from 0. `previous_ns` is the wait before that one, 0 at first;
/// only decorrelated jitter looks at it. `r` is randomness; 0 for none, and then there is no jitter.
///
/// Thread- and signal-safe: it reads the backoff only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_backoff_delay(
    backoff: *const sw_backoff,
    retry: u32,
    previous_ns: u64,
    r: u64,
    wait_ns: *mut u64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let out = caller.out(wait_ns)?;
        let wait = configured(caller, backoff)?.delay(retry, Duration::from_nanos(previous_ns), r);
        out.put(|| nanos(wait));
        Ok(sw_status::SW_OK)
    })
}

/// The longest wait before retry `retry`, counted from 0 (but for decorrelated jitter, which goes by the
/// wait before).
///
/// Thread- and signal-safe: it reads the backoff only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_backoff_ceiling(backoff: *const sw_backoff, retry: u32, wait_ns: *mut u64) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let out = caller.out(wait_ns)?;
        let wait = configured(caller, backoff)?.ceiling(retry);
        out.put(|| nanos(wait));
        Ok(sw_status::SW_OK)
    })
}

/// How long a cached value may live: `span_ns` less up to the share `spread_ppm`, drawn by `r`; all of it
/// when `r` is 0. Never more than `span_ns`. A share above one counts as one.
#[unsafe(no_mangle)]
pub extern "C" fn sw_ttl_ns(span_ns: u64, spread_ppm: u32, r: u64) -> u64 {
    nanos(ttl(Duration::from_nanos(span_ns), Ratio::ppm(spread_ppm), r))
}

/// Work that recurs every `period_ns`, at a phase within the first `spread_ppm` of it that is drawn from
/// `seed`: give it something lasting, such as a hash of the host's name. A period of 0 counts as 1 ns.
#[unsafe(no_mangle)]
pub extern "C" fn sw_schedule_make(period_ns: u64, spread_ppm: u32, seed: u64) -> sw_schedule {
    let schedule = Schedule::new(Duration::from_nanos(period_ns), Ratio::ppm(spread_ppm), seed);
    sw_schedule { period_ns: period_ns.max(1), phase_ns: nanos(schedule.phase()) }
}

/// When it is due next: after `now_ns`, at most a period later; UINT64_MAX when the clock ends before that.
#[unsafe(no_mangle)]
pub extern "C" fn sw_schedule_next_ns(schedule: sw_schedule, now_ns: u64) -> u64 {
    let sw_schedule { period_ns, phase_ns } = schedule;
    let schedule = Schedule::at_phase(Duration::from_nanos(period_ns), Duration::from_nanos(phase_ns));
    schedule.next(Instant::from_nanos(now_ns)).as_nanos()
}

/// A connection that has not been made yet. Once it has held for `stable_after_ns`, the waits start over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_reconnect_init(
    reconnect: *mut sw_reconnect,
    backoff: *const sw_backoff,
    stable_after_ns: u64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let out = caller.out(reconnect)?;
        let made = Reconnect::new(configured(caller, backoff)?, Duration::from_nanos(stable_after_ns));
        out.put(|| sw_reconnect { opaque: made.to_words() });
        Ok(sw_status::SW_OK)
    })
}

/// The connection was made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_reconnect_connected(reconnect: *mut sw_reconnect, now_ns: u64) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let mut link = connection(caller, reconnect)?;
        link.connected(Instant::from_nanos(now_ns));
        caller.out(reconnect)?.put(|| sw_reconnect { opaque: link.to_words() });
        Ok(sw_status::SW_OK)
    })
}

/// The connection was lost, or could not be made: how long to wait before the next try. `r` is randomness;
/// 0 for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_reconnect_lost(
    reconnect: *mut sw_reconnect,
    now_ns: u64,
    r: u64,
    wait_ns: *mut u64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let out = caller.out(wait_ns)?;
        let mut link = connection(caller, reconnect)?;
        let wait = link.lost(Instant::from_nanos(now_ns), r);
        caller.out(reconnect)?.put(|| sw_reconnect { opaque: link.to_words() });
        out.put(|| nanos(wait));
        Ok(sw_status::SW_OK)
    })
}

fn connection(caller: Caller<'_>, reconnect: *const sw_reconnect) -> Result<Reconnect, sw_status> {
    let link = Reconnect::from_words(caller.read(reconnect)?.opaque);
    if link.is_configured() { Ok(link) } else { Err(sw_status::SW_ERR_UNCONFIGURED) }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
