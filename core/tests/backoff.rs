//! Backoff and jitter, as their specification.

use core::time::Duration;

use seawall::retry::{Reconnect, Schedule, ttl};
use seawall::{Backoff, BackoffConfig, Factor, Growth, Instant, Jitter, Random, Ratio};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn backoff(config: BackoffConfig) -> Backoff {
    Backoff::new(&config).expect("a possible configuration")
}

/// The least and the greatest of many draws.
fn ends(backoff: &Backoff, retry: u32, previous: Duration) -> (Duration, Duration) {
    let draw = |r| backoff.delay(retry, previous, r);
    let random = Random::seeded(11);
    for _ in 0..1_000 {
        let wait = draw(random.next());
        assert!(wait >= draw(1) && wait <= draw(u64::MAX), "{wait:?} lies outside");
    }
    (draw(1), draw(u64::MAX))
}

#[test]
fn exponential_ceilings_double_up_to_the_cap() {
    let backoff = backoff(BackoffConfig::new());
    let ceilings: Vec<u64> = (0..7).map(|retry| backoff.ceiling(retry).as_millis() as u64).collect();
    assert_eq!(ceilings, [100, 200, 400, 800, 1_600, 2_000, 2_000]);
    assert_eq!(backoff.ceiling(u32::MAX), MS(2_000));
}

#[test]
fn linear_and_constant_growth() {
    let linear = backoff(BackoffConfig::new().growth(Growth::Linear).base(MS(300)).cap(MS(1_000)));
    assert_eq!([0, 1, 2, 3].map(|retry| linear.ceiling(retry)), [MS(300), MS(600), MS(900), MS(1_000)]);
    assert_eq!(linear.ceiling(u32::MAX), MS(1_000));
    let constant = backoff(BackoffConfig::new().growth(Growth::Constant).base(MS(300)));
    assert_eq!([0, 1, u32::MAX].map(|retry| constant.ceiling(retry)), [MS(300); 3]);
}

#[test]
fn a_fractional_factor_is_exact_to_the_nanosecond() {
    let backoff = backoff(BackoffConfig::new().base(MS(100)).cap(MS(60_000)).factor(Factor::thousandths(1_500)));
    assert_eq!([1, 2, 3].map(|retry| backoff.ceiling(retry).as_micros()), [150_000, 225_000, 337_500]);
}

#[test]
fn full_jitter_draws_from_nothing_to_the_ceiling() {
    let backoff = backoff(BackoffConfig::new());
    assert_eq!(ends(&backoff, 0, Duration::ZERO), (Duration::ZERO, MS(100)));
    assert_eq!(ends(&backoff, 9, Duration::ZERO), (Duration::ZERO, MS(2_000)));
}

#[test]
fn equal_jitter_keeps_half() {
    let backoff = backoff(BackoffConfig::new().jitter(Jitter::Equal));
    assert_eq!(ends(&backoff, 1, Duration::ZERO), (MS(100), MS(200)));
}

#[test]
fn decorrelated_jitter_goes_by_the_wait_before() {
    let backoff = backoff(BackoffConfig::new().jitter(Jitter::Decorrelated));
    assert_eq!(ends(&backoff, 0, Duration::ZERO), (MS(100), MS(300)));
    assert_eq!(ends(&backoff, 1, MS(250)), (MS(100), MS(750)));
    assert_eq!(ends(&backoff, 2, MS(1_900)), (MS(100), MS(2_000)), "the range is cut, not the draw");
}

#[test]
fn proportional_jitter_goes_both_ways_and_stays_below_the_cap() {
    let backoff = backoff(BackoffConfig::new().jitter(Jitter::Proportional).spread(Ratio::percent(25)));
    assert_eq!(ends(&backoff, 1, Duration::ZERO), (MS(150), MS(250)));
    assert_eq!(ends(&backoff, 9, Duration::ZERO), (MS(1_500), MS(2_000)), "at the cap the spread stays");
}

#[test]
fn without_randomness_there_is_no_jitter() {
    for (jitter, want) in [
        (Jitter::Full, MS(200)),
        (Jitter::Equal, MS(200)),
        (Jitter::Decorrelated, MS(300)),
        (Jitter::Proportional, MS(200)),
        (Jitter::None, MS(200)),
    ] {
        assert_eq!(backoff(BackoffConfig::new().jitter(jitter)).delay(1, Duration::ZERO, 0), want, "{jitter}");
    }
}

#[test]
fn no_input_is_too_much() {
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Decorrelated, Jitter::Proportional, Jitter::None] {
        for growth in [Growth::Exponential, Growth::Linear, Growth::Constant] {
            let day = Duration::from_secs(86_400);
            let config = BackoffConfig::new().jitter(jitter).growth(growth).cap(day).factor(Factor::times(100));
            for retry in [0, 1, 63, 64, u32::MAX] {
                for previous in [Duration::ZERO, day, Duration::MAX] {
                    for r in [0, 1, u64::MAX] {
                        assert!(backoff(config).delay(retry, previous, r) <= day);
                    }
                }
            }
        }
    }
}

#[test]
fn impossible_values_are_refused_with_field_value_and_range() {
    for (config, text) in [
        (BackoffConfig::new().base(Duration::ZERO), "backoff.base: 0 ns is not allowed; allowed are 1 ns to 24 h"),
        (
            BackoffConfig::new().base(MS(500)).cap(MS(100)),
            "backoff.cap: 100 ms is not allowed; allowed are 500 ms to 24 h (at least base)",
        ),
        (
            BackoffConfig::new().factor(Factor::thousandths(999)),
            "backoff.factor: 0.999 is not allowed; allowed are 1 to 100",
        ),
    ] {
        assert_eq!(Backoff::new(&config).unwrap_err().to_string(), text);
    }
}

#[test]
fn a_base_above_two_seconds_brings_its_own_cap() {
    assert_eq!(backoff(BackoffConfig::new().base(MS(5_000))).ceiling(3), MS(5_000));
}

/// The share of `clients` in the fullest hundredth of the range, and how many hundredths are empty.
fn crowding(instants: &[u64], range: u64) -> (usize, usize) {
    let mut bins = [0usize; 100];
    for &at in instants {
        bins[((at as u128 * 100 / range.max(1) as u128) as usize).min(99)] += 1;
    }
    (*bins.iter().max().expect("a hundred"), bins.iter().filter(|&&n| n == 0).count())
}

/// A thousand, thrown evenly at a hundred bins, put 10 into each; more than 25 in one happens about
/// once in ten thousand throws of all.
fn assert_spread(instants: &[u64], range: u64) {
    let (fullest, empty) = crowding(instants, range);
    assert!(fullest <= 25 && empty <= 1, "fullest {fullest}, empty {empty}");
}

#[test]
fn a_thousand_clients_that_retry_are_spread() {
    let random = Random::seeded(1);
    let full = backoff(BackoffConfig::new());
    let waits: Vec<u64> = (0..1_000).map(|_| full.delay(4, Duration::ZERO, random.next()).as_nanos() as u64).collect();
    assert_spread(&waits, 1_600_000_000);
    let none = backoff(BackoffConfig::new().jitter(Jitter::None));
    let waits: Vec<u64> = (0..1_000).map(|_| none.delay(4, Duration::ZERO, random.next()).as_nanos() as u64).collect();
    assert_eq!(crowding(&waits, 1_600_000_000).0, 1_000, "without jitter all of them come at once");
}

#[test]
fn a_thousand_clients_that_reconnect_are_spread() {
    let random = Random::seeded(2);
    let waits: Vec<u64> = (0..1_000)
        .map(|_| {
            let mut link = Reconnect::new(backoff(BackoffConfig::new()), Duration::from_secs(60));
            (0..6).map(|_| link.lost(Instant::ZERO, random.next())).last().expect("six").as_nanos() as u64
        })
        .collect();
    assert_spread(&waits, 2_000_000_000);
}

#[test]
fn a_thousand_cached_values_expire_apart() {
    let random = Random::seeded(3);
    let hour = Duration::from_secs(3_600);
    let lives: Vec<u64> = (0..1_000).map(|_| ttl(hour, Ratio::percent(10), random.next()).as_nanos() as u64).collect();
    let least = 3_240_000_000_000;
    assert!(lives.iter().all(|&life| life >= least && life <= 3_600_000_000_000));
    assert_spread(&lives.iter().map(|life| life - least).collect::<Vec<_>>(), 360_000_000_000);
    assert_eq!(ttl(hour, Ratio::percent(10), 0), hour, "without randomness it is what was asked for");
}

#[test]
fn a_thousand_scheduled_jobs_run_apart_and_each_keeps_its_phase() {
    let hour = Duration::from_secs(3_600);
    let jobs: Vec<Schedule> = (0..1_000).map(|seed| Schedule::new(hour, Ratio::ONE, seed)).collect();
    assert_spread(&jobs.iter().map(|job| job.phase().as_nanos() as u64).collect::<Vec<_>>(), 3_600_000_000_000);
    for job in jobs {
        let mut now = Instant::from_nanos(12_345_678_901_234);
        let first = job.next(now);
        assert!(first > now && first.since(now) <= hour);
        for _ in 0..24 {
            now = job.next(now);
            assert_eq!(job.next(now).since(now), hour);
        }
    }
}

#[test]
fn schedules_at_the_ends_of_time() {
    let job = Schedule::new(Duration::MAX, Ratio::ONE, 5);
    assert!(job.next(Instant::ZERO) > Instant::ZERO);
    assert_eq!(job.next(Instant::MAX), Instant::MAX);
    let tick = Schedule::new(Duration::ZERO, Ratio::ONE, 5);
    assert_eq!(tick.next(Instant::ZERO), Instant::from_nanos(1), "no period is a nanosecond");
}

#[test]
fn a_connection_that_held_is_forgiven_and_one_that_did_not_is_not() {
    let plain = backoff(BackoffConfig::new().jitter(Jitter::None));
    let mut link = Reconnect::new(plain, Duration::from_secs(10));
    let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
    assert_eq!([link.lost(at(0), 0), link.lost(at(1), 0)], [MS(100), MS(200)]);
    link.connected(at(2));
    assert_eq!(link.lost(at(11), 0), MS(400), "nine seconds are not ten");
    link.connected(at(12));
    assert_eq!(link.lost(at(22), 0), MS(100));
    assert_eq!(link.lost(at(99), 0), MS(200), "being down is not being stable");
}

#[test]
fn plain_words_lead_back() {
    let made = backoff(BackoffConfig::new().jitter(Jitter::Decorrelated).factor(Factor::thousandths(1_700)));
    assert_eq!(Backoff::from_words(made.to_words()), made);
    assert!(made.is_configured() && !Backoff::from_words([0; Backoff::WORDS]).is_configured());
    let mut link = Reconnect::new(made, Duration::from_secs(60));
    link.connected(Instant::from_nanos(5));
    assert_eq!(Reconnect::from_words(link.to_words()), link);
    let job = Schedule::new(Duration::from_secs(60), Ratio::percent(50), 9);
    assert_eq!(Schedule::at_phase(Duration::from_secs(60), job.phase()), job);
}

#[test]
fn any_words_are_some_backoff_that_keeps_to_its_cap() {
    let random = Random::seeded(23);
    for _ in 0..100_000 {
        let words = core::array::from_fn(|_| random.next() >> (random.next() % 64));
        let cap = words[1];
        let wild = Backoff::from_words(words);
        let wait = wild.delay(random.next() as u32, Duration::from_nanos(random.next()), random.next());
        assert!(wait.as_nanos() <= u128::from(cap), "{words:?}");
    }
}
