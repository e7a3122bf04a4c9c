//! What broke in other people's rate limiters: each public report with its trigger, and the right
//! behaviour here. Reports about what only a face does (waiters, headers, shared stores) are tests of
//! that face.

mod common;

use common::{S, millis, ms, ns, secs, words};
use seawall::config::{Config as _, Invalid, parse_rate, parse_span, rate_from_float};
use seawall::{Fill, Instant, Reason, Refund, TokenBucket, TokenBucketConfig as Config, When};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const DAY: u64 = 86_400 * S;

fn bucket(config: Config) -> TokenBucket {
    TokenBucket::new(&config, Instant::ZERO).unwrap_or_else(|error| panic!("{error}"))
}

/// When it says to ask again.
fn told(bucket: &TokenBucket, cost: u64, now: Instant) -> Instant {
    let no = bucket.try_acquire(cost, now).expect_err("a refusal");
    let When::At(at) = no.when else { panic!("an exact instant: {no:?}") };
    at
}

mod idle {
    use super::*;

    // boinkor-net/governor#249, #107, PR#251: burst 5, drain 5, advance 2 s, 6 admitted
    #[test]
    fn six_of_five_are_never_admitted_at_once() {
        for capacity in 1..=8u64 {
            for idle in [0, 1, S / 3, S, 2 * S, 10 * S, DAY] {
                let bucket = bucket(Config::per_second(1, capacity));
                (0..capacity).for_each(|_| assert!(bucket.try_acquire(1, ns(0)).is_ok()));
                let granted = (0..20).filter(|_| bucket.try_acquire(1, ns(idle)).is_ok()).count() as u64;
                assert!(granted <= capacity, "{granted} of {capacity} after {idle} ns");
            }
        }
    }

    // bucket4j#51 (refill times elapsed overflows, negative tokens); leaky-bucket PR#30, #26 (unlimited tokens);
    // pelikan-io/rustcommon#36
    #[test]
    fn a_long_idle_time_grants_the_capacity_and_no_more() {
        for years in [1, 5, 9, 100, 500] {
            let bucket = bucket(Config::per_second(1_000_000, 10));
            let now = ns(years * 365 * DAY);
            let granted = (0..1_000).filter(|_| bucket.try_acquire(1, now).is_ok()).count();
            assert_eq!(granted, 10, "{years} years");
        }
    }

    // glide-mq PR#281: last_refill not advanced while full, so the idle time is paid out later
    #[test]
    fn time_while_full_is_not_saved_up() {
        let bucket = bucket(Config::per_second(1, 5));
        for _ in 0..5 {
            assert!(bucket.peek(5, secs(1_000)).is_ok());
        }
        let _ = bucket.try_acquire(5, secs(1_000)).unwrap();
        assert_eq!(told(&bucket, 1, secs(1_000)), secs(1_001));
    }

    // rigtorp/TokenBucket PR#6: not full at boot, when the clock shows less than the time to fill
    #[test]
    fn full_at_boot() {
        let bucket = bucket(Config::per_second(1, 1_000_000));
        assert!(bucket.try_acquire(1_000_000, ns(1)).is_ok());
    }

    // redisson#2072, #2931 (first acquire over-grants); aiolimiter#90, #200, #298, #63 ("2 per 10 s" admits 3 in 5 s)
    #[test]
    fn the_first_burst_is_the_capacity_and_the_next_token_takes_its_interval() {
        let bucket = bucket(Config::new().rate(2).period(Duration::from_secs(10)).capacity(2));
        let granted: Vec<u64> = (0..=10).filter(|&second| bucket.try_acquire(1, secs(second)).is_ok()).collect();
        assert_eq!(granted, [0, 1, 5, 10], "two at once if asked for, then one in five seconds");
    }

    // aspnetcore, .NET #101612, slowapi#2: a fixed window admits twice the limit across its boundary
    #[test]
    fn no_boundary_doubles_the_burst() {
        let bucket = bucket(Config::per_second(10, 10));
        let granted = (990..1_010).filter(|&now| bucket.try_acquire(1, ms(now)).is_ok()).count();
        assert_eq!(granted, 10, "twenty milliseconds around a full second");
    }
}

mod waits {
    use super::*;

    // brandur/redis-cell#56 (rounded down: the wait gives another 429); dragonflydb/dragonfly#1008 (always a second more)
    #[test]
    fn who_waits_as_told_is_admitted_and_a_nanosecond_earlier_is_not() {
        for rate in [1, 3, 7, 1_000, 1_000_003] {
            let bucket = bucket(Config::per_second(rate, 2));
            let mut now = ns(0);
            for _ in 0..50 {
                while bucket.try_acquire(1, now).is_ok() {}
                let at = told(&bucket, 1, now);
                assert!(bucket.peek(1, ns(at.as_nanos() - 1)).is_err());
                assert!(bucket.peek(1, at).is_ok());
                now = at;
            }
        }
    }

    // KumoCorp/kumomta PR#282: retry_after of zero or less read as "not limited"
    #[test]
    fn a_refusal_is_a_refusal_and_its_wait_is_never_zero() {
        for rate in [1, 1_000, 1_000_000_000, 10_000_000_000] {
            let bucket = bucket(Config::per_second(rate, 1));
            let _ = bucket.try_acquire(1, secs(1)).unwrap();
            assert!(told(&bucket, 1, secs(1)) > secs(1));
        }
    }

    // scylladb/seastar PR#1722: the wait rounds to nothing, and a caller spins
    #[test]
    fn the_shortest_wait_is_a_nanosecond_and_enough() {
        let bucket = bucket(Config::per_second(10_000_000_000, 3));
        let _ = bucket.try_acquire(3, ns(5)).unwrap();
        let at = told(&bucket, 1, ns(5));
        assert_eq!(at, ns(6));
        assert!(bucket.try_acquire(1, at).is_ok());
    }

    // kent8192/reinhardt-web#2246: the fraction of an interval is lost with each refill
    #[test]
    fn no_fraction_of_a_token_is_lost_by_asking() {
        let (asked, quiet) = (bucket(Config::per_second(3, 10)), bucket(Config::per_second(3, 10)));
        for bucket in [&asked, &quiet] {
            bucket.drain(secs(0));
        }
        for poll in 0..1_000 {
            let _ = asked.peek(10, ms(poll)).is_ok();
            let _ = asked.try_acquire(10, ms(poll)).is_ok();
        }
        assert_eq!(told(&asked, 10, secs(1)), told(&quiet, 10, secs(1)));
    }

    // .NET runtime #92557, #129036, #77991, aspnetcore #52411: the whole window, or nothing, instead of the next permit
    #[test]
    fn the_wait_is_that_of_the_next_tokens_not_of_a_window() {
        let bucket = bucket(Config::new().rate(60).period(Duration::from_secs(60)).capacity(60));
        let _ = bucket.try_acquire(60, secs(0)).unwrap();
        assert_eq!((told(&bucket, 1, secs(0)), told(&bucket, 5, secs(0))), (secs(1), secs(5)));
    }

    // .NET #74056: a timer that refills makes the rate 1.5 times slower; #118112 asks for none
    #[test]
    fn the_rate_needs_no_timer() {
        let bucket = bucket(Config::per_second(100, 1));
        let granted = (0..10_000).filter(|&now| bucket.try_acquire(1, ms(now)).is_ok()).count();
        assert_eq!(granted, 1_000, "ten seconds at a hundred a second");
    }
}

mod numbers {
    use super::*;

    // brandur/redis-cell#80: above a thousand a second "zero rates are not supported"
    #[test]
    fn more_than_a_thousand_a_second_and_less_than_one_a_day_is_no_limit_of_ours() {
        for rate in [1_001, 244_140, 1_000_000, 999_999_937, 10_000_000_000] {
            let bucket = bucket(Config::per_second(rate, 1_000));
            let _ = bucket.try_acquire(1_000, secs(0)).unwrap();
            let all = told(&bucket, 1_000, secs(0)).as_nanos() as f64 / 1e9;
            let exact = 1_000.0 / rate as f64;
            assert!(all >= exact && all <= exact * 1.000_245 + 1e-9, "{rate}: {all} for {exact}");
        }
    }

    // governor: `Quota::with_period(20e9 s)` is accepted, then the constructor panics
    #[test]
    fn a_period_of_20e9_seconds_is_an_error_and_no_panic() {
        let config = Config::new().rate(1).capacity(1).period(Duration::from_secs(20_000_000_000));
        let error = TokenBucket::new(&config, Instant::ZERO).unwrap_err();
        assert!(error.to_string().starts_with("token_bucket.period: "), "{error}");
        assert!(TokenBucket::new(&Config::new().rate(1).capacity(1).period(Duration::MAX), Instant::ZERO).is_err());
    }

    // golang/go#47221, #39984: rate 0 divides by zero, or lets everything through; SPEC A50
    #[test]
    fn a_rate_of_nothing_is_refused_at_construction_and_while_running() {
        let error = TokenBucket::new(&Config::per_second(0, 5), Instant::ZERO).unwrap_err();
        assert!(error.to_string().starts_with("token_bucket.rate: 0 is not allowed"), "{error}");
        let bucket = bucket(Config::per_second(5, 5));
        assert!(bucket.configure(&Config::per_second(0, 5), secs(0)).is_err());
        assert_eq!((0..9).filter(|_| bucket.try_acquire(1, secs(0)).is_ok()).count(), 5);
    }

    // sentinel-golang WarmUp: NaN, and `count > NaN` lets everything through
    #[test]
    fn nan_and_infinity_are_no_rate_and_no_capacity() {
        assert_eq!(rate_from_float(f64::NAN, S), Err(Invalid::NotANumber));
        assert_eq!(rate_from_float(f64::INFINITY, S), Err(Invalid::Infinite));
        assert_eq!(rate_from_float(-1.0, S), Err(Invalid::Negative));
        let capacity = Config::FIELDS.iter().find(|field| field.name == "capacity").unwrap();
        assert_eq!(capacity.from_float(f64::NAN, 1), Err(Invalid::NotANumber));
        assert_eq!(capacity.from_float(2.5, 1), Err(Invalid::Fraction));
    }

    // sentinel-golang WarmUp: 0.1 per 10 s is accepted and lets everything through
    #[test]
    fn a_fraction_of_a_token_a_second_is_a_longer_period() {
        let (count, period) = rate_from_float(0.1, 10 * S).unwrap();
        let bucket = bucket(Config::new().rate(count).period(Duration::from_nanos(period)).capacity(1));
        let _ = bucket.try_acquire(1, secs(0)).unwrap();
        assert_eq!(told(&bucket, 1, secs(0)), secs(100));
        assert_eq!(parse_rate("1/100s"), Ok((1, 100 * S)));
    }

    // resilience4j (int overflow: reserve 10^9 four times, the fourth waits 0 and permits wrap to 1.29e9)
    #[test]
    fn four_reservations_of_a_thousand_million_each_wait_their_turn() {
        let million_million = 1_000_000_000;
        let bucket = bucket(Config::per_second(million_million, million_million));
        let waits: Vec<_> = (0..4)
            .map(|_| bucket.reserve(million_million, Duration::from_secs(5), secs(0)).unwrap().at().as_nanos() / S)
            .collect();
        assert_eq!(waits, [0, 1, 2, 3]);
        assert!(bucket.try_acquire(1, secs(0)).is_err());
    }

    // urllib3 PR#3743, grpc-gateway PR#7382, RLF#71, #231: numbers beyond what a word holds
    #[test]
    fn sums_at_the_end_of_time_saturate() {
        let bucket = TokenBucket::new(&Config::per_second(1, 5).start(Fill::Empty), Instant::MAX).unwrap();
        assert_eq!(told(&bucket, 5, Instant::MAX), Instant::MAX);
        assert_eq!(bucket.reserve(5, Duration::MAX, Instant::MAX).map(|held| held.at()), Ok(Instant::MAX));
        assert_eq!(parse_span("99999999999999999999h"), Err(Invalid::TooLarge));
    }

    // SPEC A50, leaky-bucket acquire(25) with max 10, GCRA's retry -1: a cost above the capacity
    #[test]
    fn a_cost_above_the_capacity_is_never_and_no_finite_wait() {
        let bucket = bucket(Config::per_second(5, 10));
        for cost in [11, 25, u64::MAX] {
            let no = bucket.try_acquire(cost, secs(0)).unwrap_err();
            assert_eq!((no.reason, no.when, no.retry_after(secs(0))), (Reason::ExceedsCapacity, When::Never, None));
        }
    }
}

mod clocks {
    use super::*;

    // governor#299, quanta#111, #58, #99: a clock that is not monotonic across cores rejects before the burst is used
    #[test]
    fn a_skew_between_cores_costs_no_token_and_creates_none() {
        let bucket = bucket(Config::per_second(1, 100));
        let granted = (0..200u64).filter(|i| bucket.try_acquire(1, ns(10 * S + i % 3 * 500)).is_ok()).count();
        assert_eq!(granted, 100);
    }

    // golang/go#71360, #65508, #23145, time PR 25: an older `now` moves `last` back, the limit exceeded 5000 times
    #[test]
    fn an_older_now_does_not_turn_the_bucket_back() {
        let bucket = bucket(Config::per_second(1, 1));
        let granted = (0..10_000).filter(|i| bucket.try_acquire(1, ms(100_000 - (i % 2) * 900)).is_ok()).count();
        assert_eq!(granted, 1);
    }

    // juju/ratelimit#26, #22 (a rollback blocks for ever); botocore (negative tokens): back by less than the slack
    #[test]
    fn a_rollback_delays_by_its_own_size_at_most() {
        let bucket = bucket(Config::per_second(10, 1));
        let _ = bucket.try_acquire(1, secs(3_600)).unwrap();
        assert_eq!(told(&bucket, 1, secs(0)), ms(3_600_100));
        // A year back is another clock, and nobody waits for a year.
        let _ = bucket.try_acquire(1, ns(365 * DAY)).unwrap();
        assert!(bucket.try_acquire(1, secs(1)).is_ok());
    }

    // RLF#238 (timers late, negative waits, never resets), nestjs/throttler#2629: expiry is decided when somebody reads
    #[test]
    fn nothing_has_to_run_between_two_questions() {
        let bucket = bucket(Config::per_second(1, 1));
        let _ = bucket.try_acquire(1, secs(0)).unwrap();
        assert_eq!(bucket.peek(0, secs(100)).unwrap().remaining(), 1);
    }
}

mod reservations {
    use super::*;

    // golang/go#52584: a failed reservation lengthens later delays
    #[test]
    fn a_refused_reservation_takes_nothing() {
        let bucket = bucket(Config::per_second(1, 1));
        let _ = bucket.try_acquire(1, secs(0)).unwrap();
        let before = words(&bucket);
        (0..100).for_each(|_| assert!(bucket.reserve(1, millis(10), secs(0)).is_err()));
        assert_eq!(words(&bucket), before);
        assert_eq!(told(&bucket, 1, secs(0)), secs(1));
    }

    // cadence PR#6030: Cancel does not restore
    #[test]
    fn a_cancelled_reservation_gives_its_tokens_back() {
        let bucket = bucket(Config::per_second(1, 10));
        let held = bucket.reserve(10, Duration::MAX, secs(0)).unwrap();
        assert_eq!(bucket.cancel(held, secs(0)), Refund::Full);
        assert!(bucket.try_acquire(10, secs(0)).is_ok());
    }

    // leaky-bucket (mem::forget of the core future blocks for ever), failsafe#393: a waiter that goes away
    #[test]
    fn a_reservation_that_is_forgotten_costs_its_own_tokens_only() {
        let bucket = bucket(Config::per_second(1, 2));
        let _ = bucket.reserve(2, Duration::MAX, secs(0)).map(std::mem::forget);
        assert!(bucket.try_acquire(2, secs(2)).is_ok());
    }

    // rustcommon#33 (first wait does not block), tower-resilience#363 (a waiter goes on without a permit)
    #[test]
    fn every_reservation_takes_its_tokens_the_first_and_the_second_wait_alike() {
        let bucket = bucket(Config::per_second(1, 1).start(Fill::Empty));
        let at: Vec<_> = (0..4).map(|_| bucket.reserve(1, Duration::MAX, secs(0)).unwrap().at()).collect();
        assert_eq!(at, [1, 2, 3, 4].map(secs));
    }

    // aiolimiter 1.3: a waiter for 8 of 10 starves behind a stream of small ones
    #[test]
    fn a_large_reservation_is_not_starved_by_small_ones() {
        let bucket = bucket(Config::per_second(10, 10));
        bucket.drain(secs(0));
        let large = bucket.reserve(8, Duration::MAX, secs(0)).unwrap();
        for now in 0..800 {
            assert!(bucket.try_acquire(1, ms(now)).is_err(), "what is reserved is not there for others");
        }
        assert_eq!(large.at(), ms(800));
    }
}

mod changes {
    use super::*;

    // pelikan-io/rustcommon#135: initial above max, or max lowered below what is there: subtract with overflow
    #[test]
    fn a_capacity_lowered_below_what_is_there_keeps_what_fits() {
        let bucket = bucket(Config::per_second(1, 1_000));
        bucket.configure(&Config::per_second(1, 3), secs(0)).unwrap();
        assert_eq!(bucket.peek(0, secs(0)).unwrap().remaining(), 3);
        assert!(bucket.try_acquire(4, secs(0)).is_err());
    }

    // rustcommon#35: the configured quantum is ignored
    #[test]
    fn every_option_of_a_change_takes_effect() {
        let bucket = bucket(Config::per_second(1, 1));
        bucket.configure(&Config::new().rate(6).period(Duration::from_secs(60)).capacity(2), secs(0)).unwrap();
        bucket.drain(secs(0));
        assert_eq!((told(&bucket, 1, secs(0)), told(&bucket, 2, secs(0))), (secs(10), secs(20)));
    }

    // fastify-rate-limit#215, #321, #304, ERL#648: checked at the first request, or by one store and not the other
    #[test]
    fn what_is_missing_is_said_at_construction() {
        for config in [Config::new(), Config::new().rate(1), Config::new().capacity(1)] {
            assert!(
                TokenBucket::new(&config, Instant::ZERO).unwrap_err().to_string().contains("nothing is not allowed")
            );
            assert!(config.check().is_err() && config.get(0).is_none());
        }
    }
}

mod threads {
    use super::*;

    // rustcommon#72, PR#73, twitter/rustcommon PR#64, aioduct#91, limits#26, #267, golang/go#71360: refill and take apart
    #[test]
    fn eight_threads_get_the_burst_and_the_rate_and_no_phantom_token() {
        let bucket = Arc::new(bucket(Config::per_second(1_000, 50)));
        let (granted, barrier) = (Arc::new(AtomicU64::new(0)), Arc::new(Barrier::new(8)));
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (bucket, granted, barrier) = (Arc::clone(&bucket), Arc::clone(&granted), Arc::clone(&barrier));
                thread::spawn(move || {
                    barrier.wait();
                    for now in 0..2_000u64 {
                        // A tenth of a millisecond a step; the threads' clocks differ a little.
                        let now = ns(now * 100_000 + thread * 977);
                        granted.fetch_add(u64::from(bucket.try_acquire(1, now).is_ok()), Ordering::Relaxed);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        let granted = granted.load(Ordering::Relaxed);
        assert!((200..=250).contains(&granted), "{granted} in 0.2 s of 50 and a thousand a second");
    }

    // limits (13.4 kB a key at 100 hits), pyrate-limiter 4.5.1 (a thread and 12.7 kB for each limiter), hyx (no loop at import)
    #[test]
    fn a_bucket_is_88_bytes_and_may_stand_in_a_static() {
        static BUCKET: TokenBucket = match TokenBucket::new(&Config::per_second(5, 20), Instant::ZERO) {
            Ok(bucket) => bucket,
            Err(_) => panic!("a possible configuration"),
        };
        assert!(BUCKET.try_acquire(20, secs(1)).is_ok());
        assert_eq!(size_of::<TokenBucket>(), 88);
    }
}
