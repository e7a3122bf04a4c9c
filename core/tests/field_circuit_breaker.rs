//! What broke in other people's circuit breakers: each public report with its trigger, and the right
//! behaviour here. Reports about what only a face does (coroutines, signals, decorators, timers) are
//! tests of that face.

mod common;

use common::{MS, call, failures, millis, ms, ns, permit, secs, successes, words};
use seawall::Outcome::{Failure, FailureUntil, Ignored, Success};
use seawall::{
    Cause, CircuitBreaker, CircuitBreakerConfig as Config, Instant, Mode, Permit, Ratio, Reason, Settlement, State,
    When,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

fn breaker(config: Config) -> CircuitBreaker {
    CircuitBreaker::new(&config).unwrap_or_else(|error| panic!("{error}"))
}

fn one_second() -> Config {
    Config::consecutive(1).reset_after(Duration::from_secs(1))
}

/// Due at 1100 ms.
fn opened(config: Config) -> CircuitBreaker {
    let breaker = breaker(config);
    failures(&breaker, 1, ms(0));
    breaker
}

/// How many of `threads` that ask at once are admitted; their permits are kept.
fn admitted_at_once(breaker: &Arc<CircuitBreaker>, threads: usize, now: Instant) -> Vec<Permit<Arc<CircuitBreaker>>> {
    let barrier = Arc::new(Barrier::new(threads));
    let asking: Vec<_> = (0..threads)
        .map(|_| {
            let (breaker, barrier) = (Arc::clone(breaker), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                Permit::acquire(breaker, now, 0).ok()
            })
        })
        .collect();
    asking.into_iter().filter_map(|thread| thread.join().expect("no panic")).collect()
}

mod trials_that_never_end {
    use super::*;

    // resilience4j#544, #935, #903, #994, #2172; Polly#311, #717, #1979 and 8.7.0; monix#1080; rezilience PR#521;
    // OmniRoute#13836 (six days); gobreaker: hung probes, ErrTooManyRequests for ever; throttle-net 1.0
    #[test]
    fn a_probe_that_is_never_settled_does_not_wedge_it() {
        let breaker = opened(one_second());
        let lost = permit(&breaker, ms(1_100));
        std::mem::forget(lost);
        assert_eq!(breaker.admit(ms(1_200)).unwrap_err().rejection.reason, Reason::TrialsBusy);
        for round in 1..100 {
            std::mem::forget(permit(&breaker, ms(1_100 + round * 1_100)));
        }
        call(&breaker, Success, secs(1_000));
        assert_eq!(breaker.state(secs(1_000)), State::Closed);
    }

    // resilience4j#544, opossum#388: the last half-open call ends with an ignored or filtered error
    #[test]
    fn an_ignored_probe_returns_its_place() {
        let breaker = opened(one_second().trials(3));
        for _ in 0..20 {
            assert_eq!(call(&breaker, Ignored, ms(1_100)).settlement, Settlement::Neutral);
        }
        successes(&breaker, 3, ms(1_100));
        assert_eq!(breaker.state(ms(1_100)), State::Closed);
    }

    // throttle-net 1.0, Polly (late or cancelled probe counts as a success and closes): cancelled while it waits
    #[test]
    fn a_cancelled_probe_returns_its_place_and_is_no_success() {
        let breaker = opened(one_second());
        drop(permit(&breaker, ms(1_100)));
        assert_eq!(breaker.state(ms(1_100)), State::HalfOpen);
        assert!(permit(&breaker, ms(1_100)).is_trial());
    }

    // resilience4j (releasePermission increments without bound): more probes than configured
    #[test]
    fn a_place_returned_twice_admits_nobody_above_the_limit() {
        let breaker = opened(one_second().trials(2));
        let trial = breaker.try_admit(ms(1_100), 0).verdict.unwrap();
        for _ in 0..10 {
            breaker.settle(trial, Ignored, ms(1_100), ms(1_100), 0);
        }
        let out: Vec<_> = (0..5).map_while(|_| breaker.admit(ms(1_100)).ok()).collect();
        assert_eq!(out.len(), 2);
    }
}

mod floods {
    use super::*;

    // opossum#119; circuitbreaker 2.1.3, purgatory, hyx 0.0.2 (50 of 50 admitted); failsafe 100 of 100; failsafe#391;
    // recloser 16 with half_open_len 1; tower-resilience#382; resilience4j#1090
    #[test]
    fn fifty_at_once_after_the_reset_timeout_are_as_many_trials_as_stated() {
        for trials in [1, 3, 15] {
            let breaker = Arc::new(opened(one_second().trials(trials)));
            let admitted = admitted_at_once(&breaker, 50, ms(1_100));
            assert_eq!(admitted.len() as u64, trials);
            assert!(admitted.iter().all(Permit::is_trial));
        }
    }

    // opossum#484: not staying closed under load; opossum#385: six simultaneous failures cancel the timer
    #[test]
    fn simultaneous_failures_open_it_once_and_it_still_half_opens() {
        let breaker = Arc::new(breaker(one_second()));
        let permits = admitted_at_once(&breaker, 6, ms(0));
        let opened = Arc::new(AtomicUsize::new(0));
        let failing: Vec<_> = permits
            .into_iter()
            .map(|permit| {
                let opened = Arc::clone(&opened);
                thread::spawn(move || {
                    let made = permit.failure(ms(0), 0).transition.is_some();
                    opened.fetch_add(usize::from(made), Ordering::Relaxed);
                })
            })
            .collect();
        failing.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert_eq!(opened.load(Ordering::Relaxed), 1, "one transition, seen by one thread");
        assert_eq!(breaker.state(ms(1_100)), State::HalfOpen);
    }
}

mod stale_results {
    use super::*;

    // getnora-io/nora#667, Kevlar#227, gofiber/contrib#2350, opossum 10.0.0, Polly#216 to #218, resilience4j, failsafe-go
    #[test]
    fn a_call_started_while_closed_decides_nothing_after_the_trip() {
        for outcome in [Success, Failure] {
            let breaker = breaker(one_second());
            let (first, second, third) = (permit(&breaker, ms(0)), permit(&breaker, ms(0)), permit(&breaker, ms(0)));
            failures(&breaker, 1, ms(0));
            assert_eq!(first.settle(outcome, ms(10), 0).settlement, Settlement::Stale);
            assert_eq!(breaker.state(ms(10)), State::Open);
            assert_eq!(second.settle(outcome, ms(1_100), 0).settlement, Settlement::Stale, "due, and nobody has asked");
            let trial = permit(&breaker, ms(1_100));
            assert_eq!(third.settle(outcome, ms(1_100), 0).settlement, Settlement::Stale);
            assert_eq!(breaker.state(ms(1_100)), State::HalfOpen, "no trial has run");
            trial.success(ms(1_100), 0);
        }
    }

    // failsafe-go (permittedExecutions++ on a stale result), SPEC A25: a late success closes an open breaker
    #[test]
    fn a_stale_result_adds_no_permit_and_closes_nothing() {
        let breaker = breaker(one_second());
        let old: Vec<_> = (0..5).map(|_| permit(&breaker, ms(0))).collect();
        failures(&breaker, 1, ms(0));
        let _trial = permit(&breaker, ms(1_100));
        for permit in old {
            assert_eq!(permit.success(ms(1_100), 0).settlement, Settlement::Stale);
        }
        assert_eq!(breaker.admit(ms(1_100)).unwrap_err().rejection.reason, Reason::TrialsBusy);
    }
}

mod stuck {
    use super::*;

    // resilience4j#2167, #2093, Polly#481, cockatiel#91, opossum#276, #57, opossum#658: no traffic, no timer
    #[test]
    fn a_breaker_that_is_due_says_so_without_traffic_or_timer() {
        let breaker = opened(one_second());
        let before = words(&breaker);
        assert_eq!(breaker.state(ms(1_100)), State::HalfOpen);
        assert_eq!(breaker.snapshot(ms(1_100)).unwrap().until, None);
        // Frozen for a day (a Lambda that was restored): the next call is the probe.
        assert_eq!(breaker.state(secs(86_400)), State::HalfOpen);
        assert_eq!(words(&breaker), before, "reading moves nothing");
        assert!(permit(&breaker, secs(86_400)).is_trial());
    }

    // cockatiel#64, opossum#119: the failed probe does not reopen because the rate fell below the threshold
    #[test]
    fn a_failed_probe_reopens_whatever_the_window_says() {
        let breaker = breaker(Config::new().window(20).minimum_calls(2).trials(1).reset_after(Duration::from_secs(1)));
        failures(&breaker, 2, ms(0));
        let settled = call(&breaker, Failure, ms(1_100));
        assert_eq!(settled.transition.map(|t| (t.to, t.cause)), Some((State::Open, Cause::TrialFailed)));
    }

    // go-zero PR 5551, opossum 10.0.0 (ESEMLOCKED): own rejections counted as failures keep it open
    #[test]
    fn own_refusals_are_no_evidence() {
        let breaker = opened(one_second());
        let before = words(&breaker);
        for poll in 0..10_000 {
            assert!(breaker.admit(ns(poll * 100_000)).is_err());
        }
        assert_eq!(words(&breaker), before);
        call(&breaker, Success, ms(1_100));
        assert_eq!(breaker.state(ms(1_100)), State::Closed);
    }

    // Hystrix#1781, #1861, #1853, PR 1621, #674, #1723: concurrency or unsubscription leaves it open for good
    #[test]
    fn whatever_its_callers_do_it_closes_when_the_dependency_is_well() {
        let breaker = opened(one_second().trials(3));
        drop(permit(&breaker, ms(1_100)));
        std::mem::forget(permit(&breaker, ms(1_100)));
        call(&breaker, Ignored, ms(1_100));
        call(&breaker, Success, ms(1_100));
        for second in 3..20 {
            if let Ok(permit) = breaker.admit(secs(second)) {
                permit.success(secs(second), 0);
            }
        }
        assert_eq!(breaker.state(secs(20)), State::Closed);
    }

    // resilience4j#2038: infinite recursion in tryAcquirePermission
    #[test]
    fn asking_a_due_breaker_takes_no_stack() {
        let breaker = Arc::new(opened(one_second()));
        let small = thread::Builder::new().stack_size(32 * 1024);
        let asked = small.spawn(move || (0..1_000).filter(|_| breaker.admit(ms(1_100)).is_ok()).count());
        assert_eq!(asked.expect("a thread").join().expect("no overflow"), 1_000, "each returns its place on drop");
    }
}

mod judging {
    use super::*;

    // resilience4j#547: window not reset on closing; old failures trip it again
    #[test]
    fn closing_forgets_the_failures_from_before() {
        let breaker = breaker(Config::new().window(10).minimum_calls(5).trials(1).reset_after(Duration::from_secs(1)));
        failures(&breaker, 5, ms(0));
        call(&breaker, Success, ms(1_100));
        successes(&breaker, 4, ms(1_100));
        failures(&breaker, 1, ms(1_100));
        assert_eq!(breaker.state(ms(1_100)), State::Closed);
    }

    // resilience4j#1443: below the minimum of calls it never trips, to everybody's surprise
    #[test]
    fn too_few_calls_are_shown_as_no_rate() {
        let breaker = breaker(Config::new().window(20).minimum_calls(10));
        failures(&breaker, 9, ms(0));
        let snapshot = breaker.snapshot(ms(0)).unwrap();
        assert_eq!((snapshot.failed, snapshot.failure_rate_ppm), (9, None));
    }

    // pybreaker#96, cockatiel#73: one lucky success closes it
    #[test]
    fn one_lucky_success_does_not_close_it_where_more_are_asked_for() {
        let breaker = opened(one_second().trials(5).close_after(4));
        for outcome in [Success, Failure, Success] {
            assert!(call(&breaker, outcome, ms(1_100)).transition.is_none());
        }
        assert_eq!(breaker.state(ms(1_100)), State::HalfOpen);
    }

    // smallrye-fault-tolerance#320: half-open ignores the classification
    #[test]
    fn outcomes_mean_the_same_in_every_state() {
        for outcome in [Success, Failure, Ignored] {
            let closed = breaker(one_second());
            let half_open = opened(one_second());
            let (one, other) = (call(&closed, outcome, ms(1_100)), call(&half_open, outcome, ms(1_100)));
            assert_eq!(one.settlement, other.settlement, "{outcome:?}");
        }
    }

    // gobreaker#91: slow calls count when they end; hundreds may be out before
    #[test]
    fn slow_calls_are_evidence_too() {
        let config = Config::new().window(4).minimum_calls(4).slow_after(millis(100)).slow_rate(Ratio::percent(75));
        let breaker = breaker(config);
        let out: Vec<_> = (0..4).map(|_| permit(&breaker, ms(0))).collect();
        for permit in out {
            permit.success(ms(5_000), 0);
        }
        assert_eq!(breaker.snapshot(ms(5_000)).unwrap().cause, Some(Cause::SlowRate));
    }

    // resilience4j#2334, #2379 (window of size one: null pointer); opossum 9.0 (2.8 ms per failure), #648, PR#830
    #[test]
    fn the_smallest_and_the_largest_window_work_and_cost_no_memory() {
        for window in [2, 20] {
            let breaker = breaker(Config::new().window(window).minimum_calls(1).failure_rate(Ratio::ONE));
            successes(&breaker, 100_000, ms(0));
            failures(&breaker, window as usize, ms(0));
            assert_eq!(breaker.state(ms(0)), State::Open);
        }
        assert_eq!(size_of::<CircuitBreaker>(), 264);
    }
}

mod answers {
    use super::*;

    // gobreaker#49, #30: nobody can explain ErrTooManyRequests
    #[test]
    fn each_refusal_has_its_own_reason_and_says_when() {
        let breaker = opened(one_second());
        let open = breaker.admit(ms(1)).unwrap_err().rejection;
        let _trial = permit(&breaker, ms(1_100));
        let busy = breaker.admit(ms(1_100)).unwrap_err().rejection;
        breaker.set_mode(Mode::ForcedOpen).unwrap();
        let forced = breaker.admit(ms(1_100)).unwrap_err().rejection;
        assert_eq!([open.reason, busy.reason, forced.reason], [Reason::Open, Reason::TrialsBusy, Reason::ForcedOpen]);
        assert!(matches!(open.when, When::At(_)) && matches!(busy.when, When::Depends { estimate: Some(_) }));
        assert_eq!(open.explain(ms(1)), "The circuit breaker is open; ask again in 999.4 ms");
    }

    // opossum 10.0.0: exported state has the construction time instead of the opening time; pybreaker#24, #26, #15
    #[test]
    fn when_it_opened_is_exact_and_a_look_at_it_does_not_restamp_it() {
        let breaker = breaker(one_second());
        failures(&breaker, 1, secs(77));
        for later in [77, 500, 9_000] {
            let at = breaker.snapshot(secs(later)).unwrap().changed_at.unwrap();
            assert!(secs(77).since(at) < Duration::from_nanos(1_024));
        }
    }

    // Polly (onBreak twice), resilience4j#991: each transition once, tied to its generation
    #[test]
    fn each_transition_is_reported_once_with_its_generation() {
        let breaker = breaker(one_second());
        let mut generations = Vec::new();
        for round in 0..5u64 {
            let now = round * 3_000;
            generations.extend(call(&breaker, Failure, ms(now)).transition.map(|t| (t.to, t.generation)));
            generations.extend(
                permit(&breaker, ms(now + 1_100)).success(ms(now + 1_100), 0).transition.map(|t| (t.to, t.generation)),
            );
        }
        let distinct: std::collections::HashSet<_> = generations.iter().map(|(to, g)| (to.name(), g)).collect();
        assert_eq!((generations.len(), distinct.len()), (10, 10));
    }

    // resilience4j#991: an automatic transition fires although it was forced open
    #[test]
    fn forced_open_stays_forced_open_however_much_time_goes_by() {
        let breaker = opened(one_second());
        breaker.set_mode(Mode::ForcedOpen).unwrap();
        for second in [0, 1, 2, 1_000, 1_000_000] {
            assert_eq!(breaker.admit(secs(second)).unwrap_err().rejection.reason, Reason::ForcedOpen);
        }
    }
}

mod clocks {
    use super::*;

    // Polly (UtcNow: a jump forward closes early, back extends the break), sentinel-golang#409, #533, aiobreaker, golang#71360
    #[test]
    fn a_jump_back_neither_admits_early_nor_prolongs_the_period() {
        let breaker = breaker(Config::consecutive(1).reset_after(Duration::from_secs(30)));
        failures(&breaker, 1, secs(3_600));
        let at = breaker.admit(secs(3_600)).unwrap_err().rejection.at();
        for now in [3_599, 3_560, 3_601, 3_629] {
            assert_eq!(breaker.admit(secs(now)).unwrap_err().rejection.at(), at);
        }
        assert!(breaker.admit(secs(3_631)).is_ok());
    }

    // juju/ratelimit#26, #22 for breakers: a clock that was set anew (a rebooted host) must not wait for the old one
    #[test]
    fn a_clock_that_starts_anew_does_not_keep_it_open() {
        let breaker = opened(Config::consecutive(1));
        failures(&breaker, 0, ms(0));
        breaker.trip(secs(5_000_000), None, 0);
        assert!(breaker.admit(secs(1)).is_ok());
    }

    // urllib3 PR#3743, #1338, grpc-gateway PR#7382, undici#5682: Retry-After of 9999999999 seconds
    #[test]
    fn an_absurd_reopening_time_is_cut_at_the_cap() {
        let breaker = breaker(Config::consecutive(5).max_retry_after(Duration::from_secs(60)));
        let told = FailureUntil(secs(10).after(Duration::from_secs(9_999_999_999)));
        let until = call(&breaker, told, secs(10)).transition.and_then(|t| t.until).unwrap();
        assert!(until >= secs(70) && until < secs(71));
    }

    // pydantic-ai#7065, crawlee PR#1995: a negative or past Retry-After
    #[test]
    fn a_reopening_time_in_the_past_is_an_ordinary_failure() {
        let breaker = breaker(Config::consecutive(2));
        call(&breaker, FailureUntil(ms(0)), secs(10));
        assert_eq!(breaker.state(secs(10)), State::Closed);
        call(&breaker, FailureUntil(secs(10)), secs(10));
        assert_eq!(breaker.snapshot(secs(10)).unwrap().cause, Some(Cause::FailureThreshold));
    }
}

mod sharing {
    use super::*;

    // pybreaker#3 and 1.4.1 (RLock held across the call), aiobreaker#3, resilience4j#2151
    #[test]
    fn nothing_is_held_while_a_call_is_out() {
        let breaker = Arc::new(breaker(Config::consecutive(5)));
        let out: Vec<_> = (0..100).map(|_| permit(&breaker, ms(0))).collect();
        let other = Arc::clone(&breaker);
        let asked = thread::spawn(move || other.admit(ms(0)).is_ok());
        assert!(asked.join().expect("no panic"), "a hundred calls are out and nobody waits");
        drop(out);
    }

    // circuitbreaker 2.1.3 (global monitor keeps 1000 dropped breakers), resilience4j#1221, Hystrix#1737
    #[test]
    fn a_breaker_is_its_bytes_and_nothing_else() {
        let breakers: Vec<_> = (0..1_000).map(|_| breaker(Config::new())).collect();
        assert_eq!(size_of_val(&*breakers), 264_000);
    }

    // pybreaker#24, #26, #15: a new worker that joins shared state resets it
    #[test]
    fn joining_shared_state_changes_nothing() {
        let mut memory = [0u64; size_of::<CircuitBreaker>() / 8];
        let bytes = size_of_val(&memory);
        let first = memory.as_mut_ptr();
        // SAFETY: the memory is aligned, large enough, and used through these references only.
        let place = || unsafe { seawall::place::<CircuitBreaker>(first, bytes) }.unwrap();
        place().init(&one_second()).unwrap();
        failures(place(), 1, ms(0));
        let before = words(place());
        assert!(place().is_configured());
        assert_eq!(place().state(ms(1)), State::Open);
        assert_eq!(words(place()), before);
    }

    // resilience4j#1003: permission taken twice by one decorator
    #[test]
    fn a_permit_settles_once_by_construction() {
        let breaker = opened(one_second().trials(2));
        let trial = permit(&breaker, ms(1_100));
        trial.success(ms(1_100), 0); // consumed; a second settlement does not compile
        assert_eq!(breaker.snapshot(ms(1_100)).unwrap().calls, 1);
    }
}

mod configuration {
    use super::*;

    // rate-limit and breaker libraries that accept what cannot work (ERL#648: checked late, by the first request)
    #[test]
    fn an_impossible_configuration_is_refused_at_construction() {
        for config in [
            Config::new().trials(0),
            Config::new().window(10).minimum_calls(11),
            Config::new().trials(2).close_after(3),
            Config::new().reset_after(Duration::ZERO),
        ] {
            assert!(CircuitBreaker::new(&config).is_err());
        }
    }

    // sentinel-golang WarmUp (NaN passes everything): no number that is none gets in
    #[test]
    fn nan_is_refused() {
        let field = Config::FIELDS.iter().find(|field| field.name == "failure_rate").unwrap();
        for number in [f64::NAN, -0.5, f64::INFINITY] {
            assert!(field.from_float(number, 1).is_err(), "{number}");
        }
    }

    // fastify/help#1027: `Infinity` delay; RLF#71, #231: 24.8-day overflow
    #[test]
    fn spans_beyond_any_timer_are_refused_or_exact() {
        let field = Config::FIELDS.iter().find(|field| field.name == "reset_after").unwrap();
        assert!(field.from_float(f64::INFINITY, 1000).is_err());
        let week = breaker(Config::consecutive(1).reset_after(Duration::from_secs(7 * 86_400)));
        failures(&week, 1, ms(0));
        assert_eq!(week.state(ns(7 * 86_400_000 * MS - 1)), State::Open);
        assert_eq!(week.state(ns(7 * 86_400_000 * MS + 2 * MS)), State::HalfOpen);
    }
}
