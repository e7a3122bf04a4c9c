//! A refusal in one number, so that saying no costs no object.
//!
//! A breaker's is `-(8 * wait + code)`, a token bucket's `-wait`, both in nanoseconds: a breaker's exact up
//! to 2^50 (13 days; the longest open period is 7), a bucket's rounded up to the next float. It is never 0,
//! which would read as a yes: a wait of 0, as at the end of time, is told as half a nanosecond.

use seawall::{Instant, Layer, Reason, Rejection, When};

/// The codes of a breaker's refusals, by reason and by whether there is an instant to ask again.
const OPEN: u64 = 1;
/// Open, and it was this question that opened it.
const OPENED: u64 = 2;
const TRIALS_BUSY: u64 = 3;
const TRIALS_BUSY_UNTIL: u64 = 4;
const FORCED_OPEN: u64 = 5;
const UNCONFIGURED: u64 = 6;

const LONGEST: u64 = (1 << 50) - 1;

/// A breaker's no.
pub(crate) fn breaker(rejection: &Rejection, opened: bool, now: Instant) -> f64 {
    let wait = rejection.at().map_or(0, |at| at.as_nanos().saturating_sub(now.as_nanos()).min(LONGEST));
    let code = match (rejection.reason, rejection.when) {
        (Reason::Open, _) if opened => OPENED,
        (Reason::Open, _) => OPEN,
        (Reason::TrialsBusy, When::Depends { estimate: None }) => TRIALS_BUSY,
        (Reason::TrialsBusy, _) => TRIALS_BUSY_UNTIL,
        (Reason::ForcedOpen, _) => FORCED_OPEN,
        _ => UNCONFIGURED,
    };
    -((8 * wait + code) as f64)
}

/// A token bucket's no; minus infinity where asking again will not help.
pub(crate) fn bucket(rejection: &Rejection, now: Instant) -> f64 {
    match rejection.at() {
        None => f64::NEG_INFINITY,
        Some(at) => -away_from_zero(at.as_nanos().saturating_sub(now.as_nanos())),
    }
}

/// A breaker's no again, as of instant 0.
pub(crate) fn of_breaker(code: f64) -> Rejection {
    let code = (-code).max(0.0) as u64;
    let at = Instant::from_nanos(code / 8);
    let (reason, when) = match code % 8 {
        OPEN | OPENED => (Reason::Open, When::At(at)),
        TRIALS_BUSY => (Reason::TrialsBusy, When::Depends { estimate: None }),
        TRIALS_BUSY_UNTIL => (Reason::TrialsBusy, When::Depends { estimate: Some(at) }),
        FORCED_OPEN => (Reason::ForcedOpen, When::Depends { estimate: None }),
        _ => (Reason::Unconfigured, When::Never),
    };
    Rejection::new(Layer::CircuitBreaker, reason, when)
}

/// A token bucket's no again, as of instant 0.
pub(crate) fn of_bucket(code: f64) -> Rejection {
    if code == f64::NEG_INFINITY {
        return Rejection::new(Layer::RateLimit, Reason::ExceedsCapacity, When::Never);
    }
    Rejection::new(Layer::RateLimit, Reason::RateLimited, When::At(Instant::from_nanos((-code).max(0.0) as u64)))
}

/// The least float that is at least `nanos` and more than 0: a wait is never told shorter than it is.
fn away_from_zero(nanos: u64) -> f64 {
    if nanos == 0 {
        return 0.5;
    }
    let near = nanos as f64;
    if (near as u64) < nanos { near.next_up() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_into_a_number_comes_back() {
        let now = Instant::from_nanos(5_000);
        let at = Instant::from_nanos(5_777);
        for (reason, when) in [
            (Reason::Open, When::At(at)),
            (Reason::TrialsBusy, When::Depends { estimate: None }),
            (Reason::TrialsBusy, When::Depends { estimate: Some(at) }),
            (Reason::ForcedOpen, When::Depends { estimate: None }),
            (Reason::Unconfigured, When::Never),
        ] {
            let rejection = Rejection::new(Layer::CircuitBreaker, reason, when);
            let again = of_breaker(breaker(&rejection, false, now));
            assert_eq!((again.reason, again.retry_after(Instant::ZERO)), (reason, rejection.retry_after(now)));
            assert_eq!(again.explain(Instant::ZERO), rejection.explain(now));
        }
        let limited = Rejection::new(Layer::RateLimit, Reason::RateLimited, When::At(at));
        assert_eq!(of_bucket(bucket(&limited, now)).explain(Instant::ZERO), limited.explain(now));
    }

    #[test]
    fn a_wait_never_becomes_a_yes_nor_shorter() {
        for nanos in [0, 1, 2, 999, 1_000, (1 << 53) + 1, u64::MAX - 1, u64::MAX] {
            let told = away_from_zero(nanos);
            assert!(told > 0.0 && told as u128 >= u128::from(nanos), "{nanos}: {told}");
            assert_eq!(of_bucket(-told).at().map(Instant::as_nanos), Some(told as u64));
        }
    }
}
