//! Instants cut down to a few bits that stay right for years.
//!
//! A deadline is kept in units of 2^20 ns (1.05 ms), rounded up, and only its low bits are stored:
//! `k` bits repeat every 2^k units. Telling "not yet" from "long ago" in a number that wraps is done
//! by range, not by half: a deadline is *live* when it lies ahead of `now` by at most `limit`, the
//! longest it can have been set for plus the [`SLACK`](crate::time::SLACK) for a clock that went
//! back. Anything else has expired.
//!
//! | bits | repeats after |
//! |---|---|
//! | 25 | 9.8 h |
//! | 37 | 4.6 years |
//!
//! The price: a deadline that nobody looked at for a whole repetition (and up to `limit` less) looks
//! live once more, for at most `limit`. It can only make somebody wait, never admit anything.

use crate::time::{Instant, SLACK_NS};

/// One unit is `1 << UNIT` nanoseconds.
pub(crate) const UNIT: u32 = 20;

/// The slack for a clock that went back, in units.
pub(crate) const SLACK_UNITS: u64 = SLACK_NS >> UNIT;

/// A span in units, rounded up: never shorter than asked.
pub(crate) const fn units(nanos: u64) -> u64 {
    nanos.div_ceil(1 << UNIT)
}

/// The present, rounded down to a unit.
pub(crate) const fn present(now: Instant) -> u64 {
    now.as_nanos() >> UNIT
}

/// The unit in which the instant `nanos` has passed for certain.
pub(crate) const fn passed(nanos: u64) -> u64 {
    units(nanos)
}

/// How many units a stored deadline lies ahead of `now`; `None` when it has expired.
pub(crate) const fn ahead(stored: u64, mask: u64, now: Instant, limit: u64) -> Option<u64> {
    let distance = stored.wrapping_sub(present(now)) & mask;
    if distance == 0 || distance > limit { None } else { Some(distance) }
}

/// The instant that lies `distance` units ahead of `now`'s unit, at most [`Instant::MAX`].
pub(crate) const fn instant(now: Instant, distance: u64) -> Instant {
    let unit = present(now).saturating_add(distance);
    if unit > u64::MAX >> UNIT { Instant::MAX } else { Instant::from_nanos(unit << UNIT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: u64 = (1 << 25) - 1;

    fn stored(now: u64, span: u64) -> u64 {
        passed(now + span) & MASK
    }

    #[test]
    fn a_deadline_is_never_early_and_at_most_one_unit_late() {
        for now in [0, 1, 12_345_678, u64::MAX / 2] {
            for span in [1, 999_999, 1 << UNIT, 30_000_000_000] {
                let deadline = stored(now, span);
                let limit = units(span) + SLACK_UNITS + 1;
                let just_before = Instant::from_nanos(now + span - 1);
                assert!(ahead(deadline, MASK, just_before, limit).is_some(), "{now} + {span}");
                let one_later = Instant::from_nanos(now + span + (1 << UNIT));
                assert!(ahead(deadline, MASK, one_later, limit).is_none(), "{now} + {span}");
            }
        }
    }

    #[test]
    fn a_step_back_within_the_slack_keeps_it_live_and_a_larger_one_expires_it() {
        let now = 1 << 50;
        let deadline = stored(now, 1_000_000_000);
        let limit = units(1_000_000_000) + SLACK_UNITS;
        let back = |by: u64| Instant::from_nanos(now - by);
        assert!(ahead(deadline, MASK, back(60_000_000_000), limit).is_some());
        assert!(ahead(deadline, MASK, back(80_000_000_000), limit).is_none());
    }

    #[test]
    fn long_idleness_leaves_it_expired() {
        let deadline = stored(0, 1_000_000_000);
        let limit = units(1_000_000_000) + SLACK_UNITS;
        for hours in 1..9 {
            let now = Instant::from_nanos(hours * 3_600_000_000_000);
            assert!(ahead(deadline, MASK, now, limit).is_none(), "{hours} h");
        }
    }

    #[test]
    fn the_limit_itself_is_live_and_the_next_unit_is_not() {
        let now = Instant::from_nanos(5 << UNIT);
        assert_eq!(ahead(5 + 100, MASK, now, 100), Some(100));
        assert_eq!(ahead(5 + 101, MASK, now, 100), None);
        assert_eq!(ahead(5, MASK, now, 100), None, "what is due has expired");
    }

    #[test]
    fn the_end_of_time_saturates() {
        let last = u64::MAX >> UNIT << UNIT;
        assert_eq!(
            instant(Instant::from_nanos(last - (1 << UNIT)), 1),
            Instant::from_nanos(last),
            "the last whole unit"
        );
        assert_eq!(instant(Instant::MAX, 5), Instant::MAX);
        assert_eq!(instant(Instant::from_nanos(3 << UNIT), 2), Instant::from_nanos(5 << UNIT));
    }
}
