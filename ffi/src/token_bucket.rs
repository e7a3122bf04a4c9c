//! The token bucket.

use core::ffi::c_char;
use core::time::Duration;

use core_seawall::{Grant, Instant, Refund, Rejection, TokenBucket, TokenBucketConfig};

use crate::caller::{Caller, Wanted};
use crate::circuit_breaker::refusal;
use crate::circuit_breaker_config::SW_DEFAULT;
use crate::decision::sw_rejection;
use crate::names;
use crate::reservation::{self, sw_reservation};
use crate::status::{status, sw_status};
use crate::text;

/// A token bucket: an average rate, and a burst after a pause. Zero is its static initialiser and means
/// unconfigured: every operation refuses it until `sw_token_bucket_init`.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct sw_token_bucket {
    opaque: [u64; 11],
}

/// How fast, and how much at once. Begin with `sw_token_bucket_config_default()`; `rate` and `capacity`
/// must be set. Meaning, range and default of each field are told at `enum sw_token_bucket_field`
/// (seawall_constants.h).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_token_bucket_config {
    pub period_ns: u64,
    pub rate: u64,
    pub capacity: u64,
    /// An `enum sw_fill`.
    pub start: u64,
}

/// A yes, with what is left. All zero when it was no.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct sw_grant {
    /// How many tokens are left.
    pub remaining: u64,
    /// How long until the bucket is full again.
    pub reset_after_ns: u64,
}

/// How much of a reservation was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sw_refund {
    /// All of it.
    SW_REFUND_FULL = 1,
    /// Some of it: others have taken tokens since, and part would have flowed over without it.
    SW_REFUND_PART = 2,
    /// None: others wait for instants that count on it, the bucket was reconfigured, or it would all
    /// have flowed over.
    SW_REFUND_NOTHING = 3,
}

impl sw_token_bucket_config {
    fn core(&self) -> TokenBucketConfig {
        let fields: [u64; TokenBucketConfig::FIELDS.len()] = [self.period_ns, self.rate, self.capacity, self.start];
        let given = fields.into_iter().enumerate().filter(|&(_, value)| value != SW_DEFAULT);
        given.fold(TokenBucketConfig::new(), |config, (place, value)| config.with(place, value))
    }
}

/// A bucket that has been configured.
pub(crate) fn configured<'a>(caller: Caller<'a>, bucket: *const sw_token_bucket) -> Result<&'a TokenBucket, sw_status> {
    let bucket: &TokenBucket = caller.state(bucket)?;
    if bucket.is_configured() { Ok(bucket) } else { Err(sw_status::SW_ERR_UNCONFIGURED) }
}

/// A configuration with every field at its default; `rate` and `capacity` have none and must be set.
#[unsafe(no_mangle)]
pub extern "C" fn sw_token_bucket_config_default() -> sw_token_bucket_config {
    sw_token_bucket_config { period_ns: SW_DEFAULT, rate: SW_DEFAULT, capacity: SW_DEFAULT, start: SW_DEFAULT }
}

/// Why a configuration is impossible, as a sentence; see `sw_circuit_breaker_config_explain`.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_token_bucket_config_explain(
    config: *const sw_token_bucket_config,
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

/// Configures a bucket that starts at `now_ns`, full unless `start` says otherwise. Nobody else may use
/// it meanwhile. To change a bucket that is in use, see `sw_token_bucket_configure`.
///
/// SW_ERR_CONFIG: the configuration is impossible, and the bucket is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_token_bucket_init(
    bucket: *mut sw_token_bucket,
    config: *const sw_token_bucket_config,
    now_ns: u64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let bucket: &TokenBucket = caller.state(bucket)?;
        let config = caller.read(config)?.core();
        bucket.init(&config, Instant::from_nanos(now_ns)).map_err(|_| sw_status::SW_ERR_CONFIG)?;
        Ok(sw_status::SW_OK)
    })
}

fn answer(
    verdict: Result<Grant, Rejection>,
    grant: &Wanted<'_, sw_grant>,
    rejection: &Wanted<'_, sw_rejection>,
) -> sw_status {
    match verdict {
        Ok(yes) => {
            grant.put(|| sw_grant {
                remaining: yes.remaining(),
                reset_after_ns: u64::try_from(yes.reset_after().as_nanos()).unwrap_or(u64::MAX),
            });
            rejection.put(sw_rejection::default);
            sw_status::SW_OK
        }
        Err(no) => {
            grant.put(sw_grant::default);
            rejection.put(|| no.into());
            refusal(no.reason)
        }
    }
}

/// Takes `cost` tokens now, or none. A cost of 0 takes nothing and tells what is there.
///
/// SW_OK: taken. SW_REFUSED: nothing has changed, and `rejection` holds the exact instant at which it
/// would be admitted, or "never" when the cost is above the capacity. `grant` and `rejection` may be
/// NULL.
///
/// Thread- and signal-safe. Cost: one compare-and-swap when taken; a refusal writes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_token_bucket_try_acquire(
    bucket: *mut sw_token_bucket,
    cost: u64,
    now_ns: u64,
    grant: *mut sw_grant,
    rejection: *mut sw_rejection,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let bucket: &TokenBucket = caller.state(bucket)?;
        let (grant, rejection) = (caller.wanted(grant)?, caller.wanted(rejection)?);
        Ok(answer(bucket.try_acquire(cost, Instant::from_nanos(now_ns)), &grant, &rejection))
    })
}

/// What `sw_token_bucket_try_acquire` would answer, taking nothing.
///
/// Thread- and signal-safe. Changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_token_bucket_peek(
    bucket: *const sw_token_bucket,
    cost: u64,
    now_ns: u64,
    grant: *mut sw_grant,
    rejection: *mut sw_rejection,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let bucket: &TokenBucket = caller.state(bucket)?;
        let (grant, rejection) = (caller.wanted(grant)?, caller.wanted(rejection)?);
        Ok(answer(bucket.peek(cost, Instant::from_nanos(now_ns)), &grant, &rejection))
    })
}

/// Takes `cost` tokens, running into debt when they are not there yet: `reservation.at_ns` says from
/// when on they may be used, at most `max_wait_ns` from now. First reserved, first served.
///
/// SW_OK: taken; wait, then use them, or cancel. SW_REFUSED: nothing was taken; `rejection` holds the
/// instant at which they would be good when that is too far off. `rejection` may be NULL.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_token_bucket_reserve(
    bucket: *mut sw_token_bucket,
    cost: u64,
    max_wait_ns: u64,
    now_ns: u64,
    reservation: *mut sw_reservation,
    rejection: *mut sw_rejection,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let reservation = caller.out(reservation)?;
        let rejection = caller.wanted(rejection)?;
        reservation.put(|| sw_reservation::EMPTY);
        let bucket: &TokenBucket = caller.state(bucket)?;
        match bucket.reserve(cost, Duration::from_nanos(max_wait_ns), Instant::from_nanos(now_ns)) {
            Ok(made) => {
                reservation.put(|| sw_reservation::made(&made));
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

/// Gives an unused reservation back and empties it. `refund` (an `enum sw_refund`) says how much of it
/// came back; it may be NULL.
///
/// SW_ERR_SETTLED: it is empty; of several threads that cancel one reservation, one does.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_token_bucket_cancel(
    bucket: *mut sw_token_bucket,
    reservation: *mut sw_reservation,
    now_ns: u64,
    refund: *mut u32,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let bucket = configured(caller, bucket)?;
        let refund = caller.wanted(refund)?;
        let given_back = bucket.cancel(reservation::take(caller, reservation)?, Instant::from_nanos(now_ns));
        refund.put(|| {
            let refund = match given_back {
                Refund::Full => sw_refund::SW_REFUND_FULL,
                Refund::Part => sw_refund::SW_REFUND_PART,
                _ => sw_refund::SW_REFUND_NOTHING,
            };
            refund as u32
        });
        Ok(sw_status::SW_OK)
    })
}

/// Takes all tokens that are there.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_token_bucket_drain(bucket: *mut sw_token_bucket, now_ns: u64) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        configured(caller, bucket)?.drain(Instant::from_nanos(now_ns));
        Ok(sw_status::SW_OK)
    })
}

/// Fills the bucket.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_token_bucket_reset(bucket: *mut sw_token_bucket, now_ns: u64) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        configured(caller, bucket)?.reset(Instant::from_nanos(now_ns));
        Ok(sw_status::SW_OK)
    })
}

/// Changes rate and capacity while it is in use. What has flowed in until `now_ns` did so at the old
/// rate; the tokens that are there stay, as far as they fit; a debt stays a debt.
///
/// SW_ERR_CONFIG: impossible, see `sw_token_bucket_config_explain`. SW_ERR_BUSY: three other changes are
/// stopped half-way. Nothing has changed then.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_token_bucket_configure(
    bucket: *mut sw_token_bucket,
    config: *const sw_token_bucket_config,
    now_ns: u64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let bucket = configured(caller, bucket)?;
        bucket.configure(&caller.read(config)?.core(), Instant::from_nanos(now_ns))?;
        Ok(sw_status::SW_OK)
    })
}
