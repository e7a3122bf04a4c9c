//! The token bucket's specification, a sentence per test.

mod common;

use common::{MS, S, millis, ms, ns, secs, words};
use seawall::{
    Clocked, Fill, Instant, ManualClock, Reason, Refund, Rejection, TokenBucket, TokenBucketConfig as Config, When,
};
use std::time::Duration;

const DAY: u64 = 86_400 * S;

fn bucket(config: Config) -> TokenBucket {
    TokenBucket::new(&config, Instant::ZERO).unwrap_or_else(|error| panic!("{error}"))
}

/// One a day, two an hour ... to 10^10 a second.
fn rates() -> Vec<Config> {
    let per = |rate, period| Config::new().rate(rate).period(Duration::from_nanos(period));
    vec![
        per(1, DAY),
        per(7, DAY),
        per(2, 3_600 * S),
        per(1, 365 * DAY / 365),
        per(1, S),
        per(3, S),
        per(999, S),
        per(100_000, S),
        per(244_141, S),
        per(1_000_000, S),
        per(123_456_789, S),
        per(1_000_000_000, S),
        per(9_999_999_999, S),
        per(10_000_000_000, S),
        per(10, 1),
    ]
}

/// Why it refuses, which it must.
fn refusal(bucket: &TokenBucket, cost: u64, now: Instant) -> Rejection {
    let before = words(bucket);
    let refused = bucket.try_acquire(cost, now).expect_err("a refusal");
    assert_eq!(words(bucket), before, "a refusal writes nothing");
    refused
}

fn at(rejection: Rejection) -> Instant {
    let When::At(at) = rejection.when else { panic!("an exact instant: {rejection:?}") };
    at
}

/// How many tokens are there.
fn left(bucket: &TokenBucket, now: Instant) -> u64 {
    bucket.peek(0, now).expect("nothing is always there").remaining()
}

mod taking {
    use super::*;

    #[test]
    fn exactly_capacity_is_admitted_at_once() {
        for config in rates() {
            let bucket = bucket(config.capacity(100));
            for _ in 0..100 {
                assert!(bucket.try_acquire(1, Instant::ZERO).is_ok());
            }
            assert_eq!(refusal(&bucket, 1, Instant::ZERO).reason, Reason::RateLimited);
        }
    }

    #[test]
    fn a_refused_caller_is_admitted_at_the_instant_it_was_told_and_not_before() {
        for config in rates() {
            for cost in [1, 2, 50, 100] {
                let bucket = bucket(config.capacity(100));
                let _ = bucket.try_acquire(100, ns(12_345)).unwrap();
                let at = at(refusal(&bucket, cost, ns(12_345)));
                let _ = refusal(&bucket, cost, ns(at.as_nanos() - 1));
                assert!(bucket.try_acquire(cost, at).is_ok(), "{cost} of {config:?}");
            }
        }
    }

    #[test]
    fn the_rate_is_never_above_what_was_configured_and_below_by_at_most_one_in_4096() {
        for config in rates() {
            let field = |name| {
                let place = Config::FIELDS.iter().position(|field| field.name == name).unwrap();
                u128::from(seawall::config::Config::get(&config, place).unwrap())
            };
            let (rate, period) = (field("rate"), field("period"));
            for cost in [1u64, 7, 100] {
                let bucket = bucket(config.capacity(100));
                bucket.drain(Instant::ZERO);
                let wait = u128::from(at(refusal(&bucket, cost, Instant::ZERO)).as_nanos());
                let exact = u128::from(cost) * period;
                assert!(wait * rate >= exact, "{cost} of {config:?} too early");
                assert!((wait - 1) * rate * 4096 < exact * 4097, "{cost} of {config:?} too late: {wait}");
            }
        }
    }

    #[test]
    fn nothing_costs_nothing_and_tells_what_is_there() {
        let bucket = bucket(Config::per_second(1, 5));
        let _ = bucket.try_acquire(2, secs(0)).unwrap();
        let before = words(&bucket);
        let grant = bucket.try_acquire(0, secs(0)).unwrap();
        assert_eq!((grant.remaining(), grant.reset_after()), (3, Duration::from_secs(2)));
        assert_eq!(words(&bucket), before);
        let _ = bucket.reserve(5, Duration::MAX, secs(0)).unwrap();
        let _ = bucket.reserve(5, Duration::MAX, secs(0)).unwrap();
        assert_eq!(bucket.try_acquire(0, secs(0)).unwrap().remaining(), 0, "also in debt");
        assert_eq!(bucket.reserve(0, Duration::ZERO, secs(0)).unwrap().at(), secs(0));
    }

    #[test]
    fn nothing_costs_nothing_in_the_deepest_debt_and_on_a_clock_that_went_back() {
        let bucket = bucket(Config::per_second(10_000_000_000, 1));
        while bucket.reserve(1, Duration::MAX, secs(2)).is_ok() {
            if let Ok(wait) = bucket.reserve(0, Duration::ZERO, secs(2)) {
                assert_eq!(wait.at(), secs(2));
            }
            bucket.configure(&Config::per_second(10_000_000_000, 1_000_000_000), secs(2)).unwrap();
            if bucket.reserve(1_000_000_000, Duration::MAX, secs(2)).is_err() {
                break;
            }
        }
        assert_eq!(bucket.reserve(0, Duration::ZERO, ms(1_500)).map(|held| held.at()), Ok(ms(1_500)));
    }

    #[test]
    fn a_cost_above_the_capacity_can_never_be_admitted() {
        let bucket = bucket(Config::per_second(5, 20));
        for cost in [21, 22, u64::MAX] {
            let no = refusal(&bucket, cost, secs(0));
            assert_eq!((no.reason, no.when), (Reason::ExceedsCapacity, When::Never));
            assert_eq!(bucket.peek(cost, secs(0)).unwrap_err(), no);
            assert_eq!(bucket.reserve(cost, Duration::MAX, secs(0)).unwrap_err(), no);
        }
        assert!(bucket.try_acquire(20, secs(0)).is_ok());
    }

    #[test]
    fn peeking_answers_as_taking_would_and_takes_nothing() {
        let bucket = bucket(Config::per_second(10, 10));
        for now in 0..50u64 {
            for cost in [0, 1, 5, 10, 11] {
                let before = words(&bucket);
                let peeked = bucket.peek(cost, ms(now * 37));
                assert_eq!(words(&bucket), before);
                if now % 7 == cost % 7 {
                    assert_eq!(bucket.try_acquire(cost, ms(now * 37)), peeked);
                }
            }
        }
    }

    #[test]
    fn however_long_it_was_idle_no_more_than_the_capacity_is_there() {
        for config in rates() {
            let bucket = bucket(config.capacity(5));
            for idle in [1, S, DAY, 30 * DAY, 400 * DAY] {
                let now = ns(idle);
                let granted = (0..20).filter(|_| bucket.try_acquire(1, now).is_ok()).count() as u64;
                assert!(granted <= 5, "{granted} after {idle} ns at {config:?}");
            }
        }
    }

    #[test]
    fn asking_often_changes_nothing() {
        let bucket = bucket(Config::per_second(1, 1));
        let _ = bucket.try_acquire(1, secs(10)).unwrap();
        for poll in 0..1_000 {
            assert_eq!(at(refusal(&bucket, 1, ms(10_000 + poll))), secs(11));
        }
        assert!(bucket.try_acquire(1, secs(11)).is_ok());
    }

    #[test]
    fn remaining_and_reset_are_exact() {
        let bucket = bucket(Config::per_second(3, 7));
        let mut now = 0;
        for step in 1..200 {
            now += step * 7 * MS;
            if let Ok(grant) = bucket.try_acquire(step % 4, ns(now)) {
                let remaining = grant.remaining();
                assert!(bucket.peek(remaining, ns(now)).is_ok());
                assert!(remaining == 7 || bucket.peek(remaining + 1, ns(now)).is_err());
                let full = now + grant.reset_after().as_nanos() as u64;
                assert!(bucket.peek(7, ns(full)).is_ok());
                assert!(full == now || bucket.peek(7, ns(full - 1)).is_err());
            }
        }
    }
}

mod starting {
    use super::*;

    #[test]
    fn full_unless_stated_otherwise() {
        assert_eq!(left(&bucket(Config::per_second(5, 20)), secs(0)), 20);
        let empty = TokenBucket::new(&Config::per_second(5, 20).start(Fill::Empty), secs(100)).unwrap();
        assert_eq!(left(&empty, secs(100)), 0);
        assert_eq!(at(refusal(&empty, 1, secs(100))), ms(100_200));
    }

    #[test]
    fn full_at_boot_when_the_clock_shows_less_than_the_time_to_fill() {
        static BUCKET: std::sync::LazyLock<TokenBucket> =
            std::sync::LazyLock::new(|| bucket(Config::per_second(1, 1_000)));
        assert!(BUCKET.try_acquire(1_000, ns(1)).is_ok());
    }

    #[test]
    fn state_that_was_never_configured_refuses_and_says_so() {
        let mut memory = [0u64; size_of::<TokenBucket>() / 8];
        // SAFETY: the memory is aligned, large enough, and nobody else's for as long as `bucket` lives.
        let bucket: &TokenBucket = unsafe { seawall::place(memory.as_mut_ptr(), size_of_val(&memory)) }.unwrap();
        for no in [bucket.try_acquire(1, secs(0)).err(), bucket.peek(0, secs(0)).err()] {
            assert_eq!(no.map(|no| (no.reason, no.when)), Some((Reason::Unconfigured, When::Never)));
        }
        bucket.init(&Config::per_second(1, 1), secs(0)).unwrap();
        assert!(bucket.try_acquire(1, secs(0)).is_ok());
    }
}

mod reserving {
    use super::*;

    #[test]
    fn first_reserved_first_served() {
        let bucket = bucket(Config::per_second(1, 2));
        let at: Vec<_> = [2, 1, 2].map(|cost| bucket.reserve(cost, Duration::MAX, secs(0)).unwrap().at()).to_vec();
        assert_eq!(at, [secs(0), secs(1), secs(3)]);
        assert_eq!(self::at(refusal(&bucket, 1, secs(0))), secs(4), "who comes later waits behind them");
    }

    #[test]
    fn a_longer_wait_than_stated_is_refused_and_takes_nothing() {
        let bucket = bucket(Config::per_second(1, 1));
        let _ = bucket.try_acquire(1, secs(0)).unwrap();
        let before = words(&bucket);
        let no = bucket.reserve(1, millis(999), secs(0)).unwrap_err();
        assert_eq!((no.reason, at(no)), (Reason::RateLimited, secs(1)));
        assert_eq!(words(&bucket), before);
        assert_eq!(bucket.reserve(1, millis(1_000), secs(0)).unwrap().at(), secs(1));
    }

    #[test]
    fn cancelled_before_others_came_it_was_never_made() {
        let bucket = bucket(Config::per_second(1, 5));
        let _ = bucket.try_acquire(3, secs(10)).unwrap();
        let held = bucket.reserve(4, Duration::MAX, secs(10)).unwrap();
        assert_eq!((left(&bucket, secs(10)), held.cost(), held.at()), (0, 4, secs(12)));
        assert_eq!(bucket.cancel(held, secs(11)), Refund::Full);
        assert_eq!(left(&bucket, secs(11)), 3);
    }

    #[test]
    fn cancelled_after_others_came_it_gives_back_what_had_not_flowed_over() {
        for (after, refund, remaining) in
            [(0, Refund::Full, 9), (3, Refund::Part, 9), (8, Refund::Nothing, 9), (20, Refund::Nothing, 9)]
        {
            let bucket = bucket(Config::per_second(1, 10));
            let held = bucket.reserve(8, Duration::MAX, secs(100)).unwrap();
            let now = secs(100 + after);
            let _ = bucket.try_acquire(1, now).unwrap();
            assert_eq!(bucket.cancel(held, now), refund, "after {after} s");
            assert_eq!(left(&bucket, now), remaining, "as if it had not been made, after {after} s");
        }
    }

    #[test]
    fn cancelled_while_others_wait_it_gives_back_nothing() {
        let bucket = bucket(Config::per_second(1, 1));
        let _ = bucket.try_acquire(1, secs(0)).unwrap();
        let first = bucket.reserve(1, Duration::MAX, secs(0)).unwrap();
        let second = bucket.reserve(1, Duration::MAX, secs(0)).unwrap();
        let before = words(&bucket);
        assert_eq!(bucket.cancel(first, secs(0)), Refund::Nothing);
        assert_eq!(words(&bucket), before);
        assert_eq!(bucket.cancel(second, secs(0)), Refund::Full);
        assert_eq!(at(refusal(&bucket, 1, secs(0))), secs(2));
    }

    #[test]
    fn a_reservation_survives_as_plain_words() {
        let bucket = bucket(Config::per_second(1, 5));
        let held = bucket.reserve(4, Duration::MAX, secs(1)).unwrap();
        let copy = seawall::Reservation::from_words(held.to_words());
        assert_eq!(copy, held);
        assert_eq!(bucket.cancel(copy, secs(1)), Refund::Full);
    }

    #[test]
    fn debt_ends_beyond_one_more_bucket_and_two_to_the_45_ticks() {
        // An interval of 2^30 ticks of a nanosecond: 2^45 ticks are 32 768 tokens.
        let config = Config::new().rate(1).period(Duration::from_nanos(1 << 30)).capacity(20_000);
        let bucket = bucket(config);
        for cost in [20_000, 20_000, 20_000, 12_768] {
            assert!(bucket.reserve(cost, Duration::MAX, secs(0)).is_ok(), "up to the limit itself");
        }
        let before = words(&bucket);
        assert_eq!(bucket.reserve(1, Duration::MAX, secs(0)).map_err(|no| no.reason), Err(Reason::RateLimited));
        assert_eq!(words(&bucket), before);
    }

    #[test]
    fn drained_there_is_nothing_and_a_debt_stays() {
        let bucket = bucket(Config::per_second(10, 5));
        bucket.drain(secs(0));
        assert_eq!(at(refusal(&bucket, 1, secs(0))), ms(100));
        let _ = bucket.reserve(5, Duration::MAX, secs(0)).unwrap();
        bucket.drain(secs(0));
        assert_eq!(at(refusal(&bucket, 1, secs(0))), ms(600));
        bucket.reset(secs(0));
        assert_eq!(left(&bucket, secs(0)), 5);
    }
}

mod live_configuration {
    use super::*;

    #[test]
    fn what_has_flowed_in_did_so_at_the_old_rate() {
        let bucket = bucket(Config::per_second(1, 10));
        bucket.drain(secs(0));
        bucket.configure(&Config::per_second(100, 10), secs(3)).unwrap();
        assert_eq!(left(&bucket, secs(3)), 3);
        assert_eq!(at(refusal(&bucket, 4, secs(3))), ms(3_010));
    }

    #[test]
    fn tokens_stay_as_far_as_they_fit() {
        let bucket = bucket(Config::per_second(1, 10));
        let _ = bucket.try_acquire(2, secs(0)).unwrap();
        for (capacity, want) in [(20, 8), (8, 8), (5, 5), (10, 5), (1, 1)] {
            bucket.configure(&Config::per_second(7, capacity), secs(0)).unwrap();
            assert_eq!(left(&bucket, secs(0)), want, "in {capacity}");
        }
    }

    #[test]
    fn a_debt_stays_a_debt() {
        let bucket = bucket(Config::per_second(1, 10));
        bucket.drain(secs(0));
        let _ = bucket.reserve(10, Duration::MAX, secs(0)).unwrap();
        bucket.configure(&Config::per_second(5, 3), secs(0)).unwrap();
        assert_eq!(at(refusal(&bucket, 1, secs(0))), ms(2_200), "eleven tokens at five a second");
    }

    #[test]
    fn a_rate_of_nothing_is_refused_and_changes_nothing() {
        let bucket = bucket(Config::per_second(1, 10));
        let before = words(&bucket);
        for config in [Config::per_second(0, 10), Config::per_second(1, 0), Config::new()] {
            assert!(bucket.configure(&config, secs(0)).is_err());
        }
        assert_eq!(words(&bucket), before);
    }

    #[test]
    fn a_reservation_from_before_gives_nothing_back() {
        let bucket = bucket(Config::per_second(1, 10));
        let held = bucket.reserve(5, Duration::MAX, secs(0)).unwrap();
        bucket.configure(&Config::per_second(2, 10), secs(0)).unwrap();
        assert_eq!(bucket.cancel(held, secs(0)), Refund::Nothing);
        assert_eq!(left(&bucket, secs(0)), 5);
    }
}

mod time {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_grants_nobody_more_and_delays_nobody_by_more_than_the_step() {
        let bucket = bucket(Config::per_second(1, 3));
        let _ = bucket.try_acquire(3, secs(100)).unwrap();
        let at = at(refusal(&bucket, 1, secs(100)));
        for back in [1, 10, 100] {
            assert_eq!(self::at(refusal(&bucket, 1, secs(100 - back))), at, "the same instant, {back} s back");
        }
        let _ = refusal(&bucket, 1, secs(100));
        assert!(bucket.try_acquire(1, secs(101)).is_ok());
        let _ = refusal(&bucket, 1, secs(101));
    }

    #[test]
    fn back_and_forth_flows_in_once() {
        let bucket = bucket(Config::per_second(1, 1));
        let granted = (0..1_000).filter(|i| bucket.try_acquire(1, secs(10 + i % 5)).is_ok()).count();
        assert!(granted <= 5, "{granted} in four seconds");
    }

    #[test]
    fn the_last_instant_is_one_like_any_other() {
        let bucket = TokenBucket::new(&Config::per_second(1, 3), Instant::MAX).unwrap();
        let _ = bucket.try_acquire(3, Instant::MAX).unwrap();
        assert_eq!(at(refusal(&bucket, 1, Instant::MAX)), Instant::MAX, "sums saturate");
    }
}

mod clocked {
    use super::*;

    #[test]
    fn the_clock_comes_along() {
        let clock = ManualClock::at(secs(0));
        let clocked = Clocked::new(bucket(Config::per_second(1, 1)), &clock);
        assert!(clocked.try_acquire(1).is_ok() && clocked.try_acquire(1).is_err());
        let held = clocked.reserve(1, Duration::from_secs(9)).unwrap();
        assert_eq!(clocked.cancel(held), Refund::Full);
        clock.advance(Duration::from_secs(1));
        assert!(clocked.try_acquire(1).is_ok());
    }
}

mod bad_input {
    use super::*;

    /// What nobody may configure, and what is said about it.
    #[test]
    fn is_refused_with_field_value_and_range() {
        let new = Config::new;
        let day = Duration::from_nanos(DAY);
        let table = [
            (new(), "token_bucket.rate: nothing is not allowed"),
            (new().rate(1), "token_bucket.capacity: nothing is not allowed"),
            (new().rate(0).capacity(1), "token_bucket.rate: 0 is not allowed"),
            (new().rate(1).capacity(0), "token_bucket.capacity: 0 is not allowed; allowed are 1 to 1099511627775"),
            (
                new().rate(10_000_000_001).capacity(1),
                "token_bucket.rate: 10000000001 is not allowed; allowed are 1 to 10000000000 (from one a day to 10^10 a second)",
            ),
            (
                new().rate(6).capacity(1).period(day * 7),
                "token_bucket.rate: 6 is not allowed; allowed are 7 to 6048000000000000 (from one a day to 10^10 a second)",
            ),
            (
                new().rate(1).capacity(417).period(day),
                "token_bucket.capacity: 417 is not allowed; allowed are 1 to 416 (at this rate it would take too long to fill)",
            ),
            (
                new().rate(1).capacity(1).period(Duration::ZERO),
                "token_bucket.period: 0 ns is not allowed; allowed are 1 ns to 365 d",
            ),
        ];
        for (config, text) in table {
            let error = TokenBucket::new(&config, Instant::ZERO).expect_err(text).to_string();
            assert!(error.starts_with(text), "{error}\n{text}");
            assert!(config.check().is_err());
        }
    }
}
