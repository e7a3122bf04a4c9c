//! The circuit breaker.

use core::ffi::c_char;

use core_seawall::{CircuitBreaker, Instant, Mode, Outcome, Settlement, WindowWord, window_words};

use crate::caller::{Caller, Wanted};
use crate::circuit_breaker_config::{self, SW_DEFAULT, sw_circuit_breaker_config};
use crate::decision::{sw_rejection, sw_transition};
use crate::permit::{self, sw_permit};
use crate::status::{status, sw_status};
use crate::text;

/// A circuit breaker: stops calling what is down, and finds out when it is up again. Zero is its static
/// initialiser and means unconfigured: every operation refuses it until `sw_circuit_breaker_init`.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct sw_circuit_breaker {
    opaque: [u64; 33],
}

/// All figures of a circuit breaker at one instant.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_snapshot {
    /// Open: until when. Half-open with trials out: when their lease ends. Else 0.
    pub until_ns: u64,
    /// When it changed its state last, to the microsecond; 0 when that is not known.
    pub changed_at_ns: u64,
    /// The measured state, an `enum sw_state`; a breaker whose open period is over reads half-open.
    pub state: u32,
    /// The chosen mode, an `enum sw_mode`.
    pub mode: u32,
    /// Why it changed its state last, an `enum sw_cause`; 0 when that is not known.
    pub cause: u32,
    /// The generation, 18 bits.
    pub generation: u32,
    /// Calls judged: in the window, failed in a row, or settled trials. While open: those that opened
    /// it, if they are still known.
    pub calls: u32,
    /// How many of them failed.
    pub failed: u32,
    /// How many of them were slow.
    pub slow: u32,
    /// `failed / calls` in parts per million; SW_NO_RATE below `minimum_calls` and in consecutive mode.
    pub failure_rate_ppm: u32,
    /// `slow / calls` likewise.
    pub slow_rate_ppm: u32,
    /// Half-open: trials that are out.
    pub trials_in_flight: u32,
    /// Half-open: trials that succeeded.
    pub trials_succeeded: u32,
    /// The most trials of a half-open round.
    pub trials: u32,
    /// How many times in a row it has reopened without closing, at most 15.
    pub reopened: u32,
    /// 0.
    pub reserved: u32,
}

/// There are too few calls for a rate.
pub const SW_NO_RATE: u32 = 0xFFFF_FFFF;

/// A breaker of any window.
pub(crate) type Breaker = CircuitBreaker<[WindowWord]>;

/// A breaker with the words behind it that it was initialised with.
fn whole<'a>(caller: Caller<'a>, breaker: *const sw_circuit_breaker) -> Result<&'a Breaker, sw_status> {
    let alone: &CircuitBreaker = caller.state(breaker)?;
    caller.storage(breaker, size_of::<CircuitBreaker>() + alone.words_behind() * size_of::<WindowWord>())
}

/// A breaker that has been configured.
pub(crate) fn configured<'a>(caller: Caller<'a>, breaker: *const sw_circuit_breaker) -> Result<&'a Breaker, sw_status> {
    let breaker = whole(caller, breaker)?;
    if breaker.is_configured() { Ok(breaker) } else { Err(sw_status::SW_ERR_UNCONFIGURED) }
}

/// Configures a breaker, closed and with nothing learnt. Nobody else may use it meanwhile. To change a
/// breaker that is in use, see `sw_circuit_breaker_configure`.
///
/// SW_ERR_CONFIG: the configuration is impossible, and the breaker is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_init(
    breaker: *mut sw_circuit_breaker,
    config: *const sw_circuit_breaker_config,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let breaker: &CircuitBreaker = caller.state(breaker)?;
        let config = circuit_breaker_config::read(caller, config)?;
        breaker.init(&config).map_err(|_| sw_status::SW_ERR_CONFIG)?;
        Ok(sw_status::SW_OK)
    })
}

/// Configures a breaker with storage for a longer window: `bytes` bytes, as SW_CIRCUIT_BREAKER_STORAGE declares
/// them. All other functions take it by its address, like a plain one.
///
/// SW_ERR_STORAGE: not even a plain breaker fits. SW_ERR_CONFIG: the configuration is impossible, or its window
/// needs more words (`sw_circuit_breaker_config_words`); the breaker is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_init_with(
    breaker: *mut sw_circuit_breaker,
    bytes: usize,
    config: *const sw_circuit_breaker_config,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        // More words than the longest window needs stay unused.
        const MOST: usize = size_of::<CircuitBreaker>() + window_words(u64::MAX) * size_of::<WindowWord>();
        let breaker: &Breaker = caller.storage(breaker, bytes.min(MOST))?;
        let config = circuit_breaker_config::read(caller, config)?;
        breaker.init(&config).map_err(|_| sw_status::SW_ERR_CONFIG)?;
        Ok(sw_status::SW_OK)
    })
}

/// Asks for a permit. SW_OK: make the call, then settle the permit. SW_REFUSED: do not; `rejection`
/// says why and when to ask again, and nothing has changed (unless `expired_trials` is "open" and the
/// trials have just expired, which opens it). On SW_REFUSED and on errors the permit is empty.
///
/// `r` is randomness for the jitter of an open period that may begin here; 0 for none.
/// `rejection` and `transition` may be NULL. In shadow mode the answer is SW_OK and `rejection` holds
/// what it would have said.
///
/// Thread- and signal-safe. What others did before settling is visible to whoever is admitted because
/// of it. Cost: closed and healthy one load, and nothing is written but the permit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_admit(
    breaker: *mut sw_circuit_breaker,
    now_ns: u64,
    r: u64,
    permit: *mut sw_permit,
    rejection: *mut sw_rejection,
    transition: *mut sw_transition,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let permit = caller.out(permit)?;
        let rejection = caller.wanted(rejection)?;
        let transition = caller.wanted(transition)?;
        let breaker = match whole(caller, breaker) {
            Ok(breaker) => breaker,
            Err(error) => {
                permit.put(|| sw_permit::EMPTY);
                return Err(error);
            }
        };
        let now = Instant::from_nanos(now_ns);
        match breaker.admit_clean() {
            Some(token) => {
                permit.put(|| sw_permit::granted(token, now));
                rejection.put(sw_rejection::default);
                transition.put(sw_transition::default);
                Ok(sw_status::SW_OK)
            }
            None => Ok(admit_in_full(breaker, now, r, &permit, &rejection, &transition)),
        }
    })
}

/// Out of line, so that the clean path keeps nothing for it.
#[inline(never)]
fn admit_in_full(
    breaker: &Breaker,
    now: Instant,
    r: u64,
    permit: &Wanted<'_, sw_permit>,
    rejection: &Wanted<'_, sw_rejection>,
    transition: &Wanted<'_, sw_transition>,
) -> sw_status {
    let admission = breaker.try_admit(now, r);
    transition.put(|| sw_transition::of(admission.transition));
    match admission.verdict {
        Ok(token) => {
            permit.put(|| sw_permit::granted(token, now));
            rejection.put(|| sw_rejection::of(admission.bypassed));
            sw_status::SW_OK
        }
        Err(no) => {
            permit.put(|| sw_permit::EMPTY);
            rejection.put(|| no.into());
            refusal(no.reason)
        }
    }
}

/// The status of a refusal: what was never configured is a mistake of the caller's.
pub(crate) fn refusal(reason: core_seawall::Reason) -> sw_status {
    match reason {
        core_seawall::Reason::Unconfigured => sw_status::SW_ERR_UNCONFIGURED,
        _ => sw_status::SW_REFUSED,
    }
}

fn settle(
    caller: Caller<'_>,
    breaker: *mut sw_circuit_breaker,
    permit: *mut sw_permit,
    outcome: Outcome,
    (now_ns, r): (u64, u64),
    transition: *mut sw_transition,
) -> sw_status {
    status(|| {
        let breaker = whole(caller, breaker)?;
        let transition = caller.wanted(transition)?;
        transition.put(sw_transition::default);
        let (token, granted) = permit::take(caller, permit)?;
        let settled = breaker.settle(token, outcome, granted, Instant::from_nanos(now_ns), r);
        transition.put(|| sw_transition::of(settled.transition));
        match settled.settlement {
            Settlement::Counted => Ok(sw_status::SW_OK),
            Settlement::Neutral => Ok(sw_status::SW_NEUTRAL),
            _ if breaker.is_configured() => Ok(sw_status::SW_STALE),
            _ => Err(sw_status::SW_ERR_UNCONFIGURED),
        }
    })
}

/// The call worked. `now_ns` decides whether it was slow, where `slow_after_ns` is set. Empties the
/// permit.
///
/// SW_OK: it counted. SW_NEUTRAL: the permit was a bypass. SW_STALE: the state has changed since it was
/// granted. SW_ERR_SETTLED: the permit is empty; of several threads that settle one permit, one does.
/// `r`: randomness for an open period that may begin here; 0 for none. `transition` may be NULL.
///
/// Thread- and signal-safe. What the caller did before is visible to whoever is admitted because of it.
/// Cost: one exchange on the permit; closed and healthy, the breaker is read and not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_success(
    breaker: *mut sw_circuit_breaker,
    permit: *mut sw_permit,
    now_ns: u64,
    r: u64,
    transition: *mut sw_transition,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    settle(caller, breaker, permit, Outcome::Success, (now_ns, r), transition)
}

/// The dependency failed. Otherwise as `sw_circuit_breaker_success`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_failure(
    breaker: *mut sw_circuit_breaker,
    permit: *mut sw_permit,
    now_ns: u64,
    r: u64,
    transition: *mut sw_transition,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    settle(caller, breaker, permit, Outcome::Failure, (now_ns, r), transition)
}

/// The dependency failed and said that it will be back at `until_ns` (Retry-After): the breaker opens
/// until then, at most `max_retry_after_ns` from now. An instant that has passed makes it a plain failure.
/// Otherwise as `sw_circuit_breaker_success`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_failure_until(
    breaker: *mut sw_circuit_breaker,
    permit: *mut sw_permit,
    until_ns: u64,
    now_ns: u64,
    r: u64,
    transition: *mut sw_transition,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    let outcome = Outcome::FailureUntil(Instant::from_nanos(until_ns));
    settle(caller, breaker, permit, outcome, (now_ns, r), transition)
}

/// The call says nothing about the dependency: cancelled, the caller's own mistake, refused by another
/// guard of ours. The place of a trial is free again. SW_NEUTRAL when done, else as
/// `sw_circuit_breaker_success`.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_ignore(
    breaker: *mut sw_circuit_breaker,
    permit: *mut sw_permit,
    now_ns: u64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    settle(caller, breaker, permit, Outcome::Ignored, (now_ns, 0), core::ptr::null_mut())
}

/// Opens it by hand: until `until_ns`, at most `max_retry_after_ns` from now, or for the configured period
/// when `until_ns` is SW_DEFAULT. `r` as everywhere. `transition` may be NULL.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_trip(
    breaker: *mut sw_circuit_breaker,
    until_ns: u64,
    now_ns: u64,
    r: u64,
    transition: *mut sw_transition,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let breaker = configured(caller, breaker)?;
        let transition = caller.wanted(transition)?;
        let until = (until_ns != SW_DEFAULT).then(|| Instant::from_nanos(until_ns));
        let change = breaker.trip(Instant::from_nanos(now_ns), until, r);
        transition.put(|| sw_transition::of(change));
        Ok(sw_status::SW_OK)
    })
}

/// Half-opens it by hand, whatever it was. There is no transition when it was half-open already.
/// `transition` may be NULL.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_half_open(
    breaker: *mut sw_circuit_breaker,
    now_ns: u64,
    transition: *mut sw_transition,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let breaker = configured(caller, breaker)?;
        let transition = caller.wanted(transition)?;
        let change = breaker.half_open(Instant::from_nanos(now_ns));
        transition.put(|| sw_transition::of(change));
        Ok(sw_status::SW_OK)
    })
}

/// Closes it by hand and forgets everything learnt; permits that are out become stale.
/// `transition` may be NULL.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_reset(
    breaker: *mut sw_circuit_breaker,
    now_ns: u64,
    transition: *mut sw_transition,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let breaker = configured(caller, breaker)?;
        let transition = caller.wanted(transition)?;
        let change = breaker.reset(Instant::from_nanos(now_ns));
        transition.put(|| sw_transition::of(change));
        Ok(sw_status::SW_OK)
    })
}

/// Changes the configuration while it is in use. State, window and trials are kept as far as they fit.
///
/// SW_ERR_CONFIG: impossible, see `sw_circuit_breaker_config_explain`. SW_ERR_BUSY: three other changes
/// are stopped half-way. Nothing has changed then.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_configure(
    breaker: *mut sw_circuit_breaker,
    config: *const sw_circuit_breaker_config,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let breaker = configured(caller, breaker)?;
        breaker.configure(&circuit_breaker_config::read(caller, config)?)?;
        Ok(sw_status::SW_OK)
    })
}

/// Changes the mode alone, an `enum sw_mode`; what was learnt is kept. `previous` may be NULL.
///
/// SW_ERR_VALUE: there is no such mode. SW_ERR_BUSY as for `sw_circuit_breaker_configure`.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_set_mode(
    breaker: *mut sw_circuit_breaker,
    mode: u32,
    previous: *mut u32,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let breaker = configured(caller, breaker)?;
        let previous = caller.wanted(previous)?;
        let chosen = Mode::from_number(u64::from(mode));
        if chosen as u32 != mode {
            return Err(sw_status::SW_ERR_VALUE);
        }
        let before = breaker.set_mode(chosen)?;
        previous.put(|| before as u32);
        Ok(sw_status::SW_OK)
    })
}

/// The measured state, an `enum sw_state`; a breaker whose open period is over reads half-open.
///
/// Thread- and signal-safe. Changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_state(
    breaker: *const sw_circuit_breaker,
    now_ns: u64,
    state: *mut u32,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let breaker = configured(caller, breaker)?;
        let state = caller.out(state)?;
        let now = breaker.state(Instant::from_nanos(now_ns));
        state.put(|| now as u32);
        Ok(sw_status::SW_OK)
    })
}

/// All figures at once.
///
/// Thread- and signal-safe. Changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_snapshot(
    breaker: *const sw_circuit_breaker,
    now_ns: u64,
    snapshot: *mut sw_snapshot,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let breaker = configured(caller, breaker)?;
        let out = caller.out(snapshot)?;
        let figures = breaker.snapshot(Instant::from_nanos(now_ns)).ok_or(sw_status::SW_ERR_UNCONFIGURED)?;
        out.put(|| sw_snapshot {
            until_ns: figures.until.map_or(0, Instant::as_nanos),
            changed_at_ns: figures.changed_at.map_or(0, Instant::as_nanos),
            state: figures.state as u32,
            mode: figures.mode as u32,
            cause: figures.cause.map_or(0, |cause| u32::from(cause.number())),
            generation: figures.generation,
            calls: figures.calls,
            failed: figures.failed,
            slow: figures.slow,
            failure_rate_ppm: figures.failure_rate_ppm.unwrap_or(SW_NO_RATE),
            slow_rate_ppm: figures.slow_rate_ppm.unwrap_or(SW_NO_RATE),
            trials_in_flight: figures.trials_in_flight,
            trials_succeeded: figures.trials_succeeded,
            trials: figures.trials,
            reopened: figures.reopened,
            reserved: 0,
        });
        Ok(sw_status::SW_OK)
    })
}

/// State and figures as a sentence: "open: 11 of the last 20 calls failed; next trial in 17.7 s". For
/// what is no configured breaker, the sentence of the error.
///
/// Writes at most `size` bytes with the NUL and returns the sentence's length without it, as snprintf
/// does; at most 160. `text` may be NULL when `size` is 0.
///
/// Thread- and signal-safe. Changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_circuit_breaker_explain(
    breaker: *const sw_circuit_breaker,
    now_ns: u64,
    text: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    match configured(caller, breaker) {
        Ok(breaker) => text::put(caller, text, size, breaker.explain(Instant::from_nanos(now_ns))),
        Err(error) => text::put(caller, text, size, crate::names::sentence(error)),
    }
}
