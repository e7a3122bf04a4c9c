//! The token bucket among threads.

use std::sync::Arc;
use std::time::Duration;

use seawall::{Instant, Reason, Refund, TokenBucket, TokenBucketConfig, When};

use super::harness::{ALL, Preemptions, bounded, join, model, rounds, spawn, stop_after, stop_after_writes, wrote};

const NOW: Instant = Instant::from_nanos(1_000_000_000_000);

fn later(seconds: u64) -> Instant {
    NOW.after(Duration::from_secs(seconds))
}

/// One token a second.
fn slow(capacity: u64) -> TokenBucketConfig {
    TokenBucketConfig::per_second(1, capacity)
}

/// A thousand million a second: its ticks are 4096 times finer than those of `slow`.
fn fast(capacity: u64) -> TokenBucketConfig {
    TokenBucketConfig::per_second(1_000_000_000, capacity)
}

fn new(config: &TokenBucketConfig) -> Arc<TokenBucket> {
    Arc::new(TokenBucket::new(config, NOW).expect("the configuration is possible"))
}

fn take(bucket: &TokenBucket, now: Instant) -> u64 {
    u64::from(bucket.try_acquire(1, now).is_ok())
}

fn left(bucket: &TokenBucket, now: Instant) -> u64 {
    bucket.peek(0, now).expect("a cost of nothing").remaining()
}

#[test]
fn exactly_the_capacity_is_admitted() {
    model("token_bucket::exactly_the_capacity_is_admitted", Preemptions(Some(3), None), || {
        let each = rounds(1, 4) as u64;
        let capacity = 3 * each - 1;
        let bucket = new(&slow(capacity));
        let work = move |bucket: &TokenBucket| (0..each).map(|_| take(bucket, NOW)).sum::<u64>();
        let threads = [spawn(&bucket, work), spawn(&bucket, work)];
        let admitted = work(&bucket) + threads.into_iter().map(join).sum::<u64>();
        assert_eq!(admitted, capacity);
        assert_eq!(left(&bucket, NOW), 0);
    });
}

#[test]
fn different_costs_never_exceed_the_capacity() {
    model("token_bucket::different_costs_never_exceed_the_capacity", Preemptions(Some(3), None), || {
        let bucket = new(&slow(4));
        let cost = |cost: u64| move |bucket: &TokenBucket| bucket.try_acquire(cost, NOW).map_or(0, |_| cost);
        let threads = [spawn(&bucket, cost(3)), spawn(&bucket, cost(2))];
        let admitted = cost(1)(&bucket) + threads.into_iter().map(join).sum::<u64>();
        // 1 fits beside either; 3 and 2 exclude each other.
        assert!(matches!(admitted, 3 | 4), "{admitted}");
        assert_eq!(left(&bucket, NOW), 4 - admitted);
    });
}

#[test]
fn a_refusal_writes_nothing_and_its_instant_is_exact() {
    model("token_bucket::a_refusal_writes_nothing_and_its_instant_is_exact", ALL, || {
        let bucket = new(&slow(2));
        assert_eq!(take(&bucket, NOW), 1);
        let other = spawn(&bucket, |bucket| bucket.try_acquire(2, NOW).unwrap_err());
        // 2 never fit while the one is gone, whoever is first; 1 fits.
        let (refused, wrote) = wrote(|| bucket.try_acquire(2, NOW).unwrap_err());
        assert_ne!(wrote, Some(true));
        assert_eq!((refused.reason, refused.when), (Reason::RateLimited, When::At(later(1))));
        assert_eq!(join(other).when, When::At(later(1)));
        assert_eq!(left(&bucket, NOW), 1);
    });
}

#[test]
fn a_cancelled_reservation_lets_nobody_in_twice() {
    model("token_bucket::a_cancelled_reservation_lets_nobody_in_twice", Preemptions(Some(3), None), || {
        let bucket = new(&slow(2));
        let canceller = spawn(&bucket, |bucket| {
            let held = bucket.reserve(1, Duration::ZERO, NOW).ok()?;
            Some(bucket.cancel(held, NOW))
        });
        let work = |bucket: &TokenBucket| (0..rounds(1, 3)).map(|_| take(bucket, NOW)).sum::<u64>();
        let taker = spawn(&bucket, work);
        let admitted = work(&bucket) + join(taker);
        let refund = join(canceller);
        assert!(admitted <= 2, "no time passes, so the capacity is all there is");
        let free = left(&bucket, NOW);
        match refund {
            None | Some(Refund::Full) => assert_eq!(admitted + free, 2, "nothing is lost either"),
            other => panic!("{other:?}: no time has passed and nobody waits"),
        }
    });
}

#[test]
fn cancelling_while_time_goes_on_never_exceeds_the_rate() {
    model("token_bucket::cancelling_while_time_goes_on_never_exceeds_the_rate", Preemptions(Some(3), None), || {
        let bucket = new(&slow(2));
        let held = bucket.reserve(2, Duration::ZERO, NOW).expect("it is full");
        // A second later one token has flowed in.
        let work = |bucket: &TokenBucket| take(bucket, later(1)) + take(bucket, later(1));
        let taker = spawn(&bucket, work);
        let refund = bucket.cancel(held, later(1));
        let admitted = work(&bucket) + join(taker);
        // Had nobody reserved, the bucket would just be full.
        assert!((1..=2).contains(&admitted), "{admitted} at once after {refund:?}");
    });
}

#[test]
fn two_reservations_are_served_one_after_the_other() {
    model("token_bucket::two_reservations_are_served_one_after_the_other", ALL, || {
        let bucket = new(&slow(1));
        assert_eq!(take(&bucket, NOW), 1);
        let reserve = |bucket: &TokenBucket| bucket.reserve(1, Duration::from_secs(9), NOW).expect("it may wait").at();
        let other = spawn(&bucket, reserve);
        let mut at = [reserve(&bucket), join(other)];
        at.sort_unstable();
        assert_eq!(at, [later(1), later(2)]);
    });
}

#[test]
fn a_debt_that_somebody_waits_for_is_not_given_away() {
    model("token_bucket::a_debt_that_somebody_waits_for_is_not_given_away", Preemptions(Some(3), None), || {
        let bucket = new(&slow(1));
        let first = bucket.reserve(1, Duration::ZERO, NOW).expect("it is full");
        let second = spawn(&bucket, |bucket| bucket.reserve(1, Duration::from_secs(9), NOW).map(|r| r.at()));
        let refund = bucket.cancel(first, NOW);
        let second = join(second).expect("it may wait");
        match refund {
            // The other came later and found the bucket full.
            Refund::Full => assert_eq!(second, NOW),
            // The other has been promised an instant.
            Refund::Nothing => assert_eq!(second, later(1)),
            Refund::Part => panic!("a part of one token"),
            #[allow(unreachable_patterns, reason = "reachable where the enum may grow")]
            _ => unreachable!(),
        }
        assert_eq!(take(&bucket, NOW), 0, "one token is out, and only one");
    });
}

#[test]
fn a_change_keeps_the_tokens_and_never_mixes_units() {
    model("token_bucket::a_change_keeps_the_tokens_and_never_mixes_units", Preemptions(Some(3), None), || {
        let bucket = new(&slow(3));
        let taker = spawn(&bucket, |bucket| take(bucket, NOW) + take(bucket, NOW));
        assert!(bucket.configure(&fast(3), NOW).is_ok());
        let admitted = take(&bucket, NOW) + join(taker);
        // In either unit three tokens are three tokens, and no time passes.
        assert_eq!(admitted, 3);
        assert_eq!(left(&bucket, NOW), 0);
        let refused = bucket.try_acquire(1, NOW).unwrap_err();
        assert_eq!(refused.at().map(|at| at.since(NOW)), Some(Duration::from_nanos(1)), "the next one at the new rate");
    });
}

#[test]
fn a_debt_stays_a_debt_through_a_change() {
    model("token_bucket::a_debt_stays_a_debt_through_a_change", Preemptions(Some(3), None), || {
        let bucket = new(&slow(1));
        assert_eq!(take(&bucket, NOW), 1);
        let other = spawn(&bucket, |bucket| bucket.reserve(1, Duration::from_secs(9), NOW).is_ok());
        assert!(bucket.configure(&TokenBucketConfig::per_second(10, 1), NOW).is_ok());
        assert!(join(other));
        // One token is owed: at 10 a second it is paid after 0.1 s, and the next is there after 0.2 s.
        let refused = bucket.try_acquire(1, NOW).unwrap_err();
        assert_eq!(refused.at(), Some(NOW.after(Duration::from_millis(200))));
    });
}

#[test]
fn changes_that_bring_the_slot_round_never_mix_units() {
    // Two changes lead back to the first slot, with the same tokens there; only the unit is another.
    model("token_bucket::changes_that_bring_the_slot_round_never_mix_units", Preemptions(Some(3), None), || {
        let bucket = new(&slow(2));
        for _ in 0..2 {
            // Two slots are lost to changes that stopped after their claim.
            stop_after_writes(1, || bucket.configure(&slow(2), NOW));
        }
        let changer = spawn(&bucket, |bucket| {
            // A full bucket's word is the present instant, whatever the rate; ticks are as fine in both.
            for rate in [20, 2] {
                assert!(bucket.configure(&TokenBucketConfig::per_second(rate, 2), NOW).is_ok());
            }
        });
        let admitted = take(&bucket, NOW);
        join(changer);
        assert_eq!(admitted, 1);
        assert_eq!(left(&bucket, NOW), 1, "a token is a token, at whatever rate it was taken");
        let full = bucket.peek(0, NOW).expect("a cost of nothing").reset_after();
        assert_eq!(full, Duration::from_millis(500), "and comes back at the present rate");
    });
}

#[test]
fn a_thread_stopped_anywhere_delays_nobody_and_admits_nobody_else() {
    for accesses in 1..=5 {
        model("token_bucket::a_thread_stopped_anywhere_delays_nobody_and_admits_nobody_else", ALL, move || {
            let bucket = new(&slow(2));
            let stopped = spawn(&bucket, move |bucket| stop_after(accesses, || take(bucket, NOW)));
            // Load, two words of the slot, exchange; and again for the exchange the other may win.
            let admitted: u64 = (0..2).map(|_| bounded(8, || take(&bucket, NOW))).sum();
            let other = join(stopped).unwrap_or(0);
            assert!(admitted + other <= 2);
            assert!(admitted >= 1, "at most one token has gone with the stopped thread");
        });
    }
}

#[test]
fn a_change_stopped_anywhere_delays_nobody() {
    for accesses in 1..=13 {
        model("token_bucket::a_change_stopped_anywhere_delays_nobody", Preemptions(Some(2), None), move || {
            let bucket = new(&slow(2));
            let stopped = spawn(&bucket, move |bucket| {
                stop_after(accesses, || bucket.configure(&fast(2), NOW).is_ok());
            });
            let admitted: u64 = (0..2).map(|_| bounded(12, || take(&bucket, NOW))).sum();
            assert_eq!(admitted, 2);
            join(stopped);
            assert!(bounded(26, || bucket.configure(&slow(3), NOW)).is_ok());
            assert_eq!(left(&bucket, NOW), 0);
        });
    }
}
