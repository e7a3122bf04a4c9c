//! The laws of the circuit breaker, on arbitrary configurations, operations and times.

mod common;

use common::{MS, S, UNIT, cases, ns, permit, words};
use proptest::prelude::*;
use seawall::{
    CircuitBreaker, CircuitBreakerConfig as Config, ExpiredTrials, Instant, Mode, Outcome, Permit, Random, Ratio,
    Reason, Settlement, State, When,
};
use std::time::Duration;

fn nanos(span: Duration) -> u64 {
    span.as_nanos() as u64
}

/// Small numbers, so that all states are visited often. Periods of 10 ms to 2 s.
fn configs() -> impl Strategy<Value = Config> {
    let judged = prop_oneof![
        (1..4u64).prop_map(Config::consecutive),
        (2..=20u64, 1..=100u32, 1..=20u64).prop_map(|(window, percent, minimum)| {
            Config::new().window(window).failure_rate(Ratio::percent(percent)).minimum_calls(minimum.min(window))
        }),
    ];
    let periods = (10..2_000u64, prop::option::of(5..500u64), prop::option::of(1..100u64));
    (judged, 1..=5u64, 1..=5u64, periods, 0..3u64).prop_map(|(config, trials, close, (reset, lease, slow), expired)| {
        let config = config
            .trials(trials)
            .close_after(close.min(trials))
            .reset_after(Duration::from_millis(reset))
            .expired_trials(ExpiredTrials::from_number(expired));
        let config = lease.map_or(config, |lease| config.trial_timeout(Duration::from_millis(lease)));
        slow.map_or(config, |slow| config.slow_after(Duration::from_millis(slow)))
    })
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Wait(u64),
    Admit,
    Settle(usize, Outcome),
    Forget(usize),
    Trip,
    HalfOpen,
    Reset,
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => Just(Outcome::Success),
        4 => Just(Outcome::Failure),
        1 => Just(Outcome::Ignored),
        1 => (0..3 * S).prop_map(|until| Outcome::FailureUntil(ns(until))),
    ]
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => prop_oneof![Just(0u64), 1..20 * MS, 1..2 * S].prop_map(Move::Wait),
        8 => Just(Move::Admit),
        8 => (0..6usize, outcomes()).prop_map(|(which, outcome)| Move::Settle(which, outcome)),
        1 => (0..6usize).prop_map(Move::Forget),
        1 => Just(Move::Trip),
        1 => Just(Move::HalfOpen),
        1 => Just(Move::Reset),
    ];
    prop::collection::vec(one, 1..120)
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn never_more_trials_than_stated_are_out_and_none_while_open(
        trials in 1..=15u64, close in 1..=15u64, lease in 5..500u64, moves in moves()
    ) {
        let config = Config::consecutive(1)
            .trials(trials)
            .close_after(close.min(trials))
            .reset_after(Duration::from_millis(50))
            .trial_timeout(Duration::from_millis(lease));
        let breaker = CircuitBreaker::new(&config).unwrap();
        let mut now = 0;
        // Permits that are out, with the instant until which nobody may take their place.
        let mut out: Vec<(Permit<&CircuitBreaker>, u64)> = Vec::new();
        let mut lost: Vec<u64> = Vec::new();
        let mut open_until = None;
        for step in moves {
            let transition = match step {
                Move::Wait(span) => {
                    now += span;
                    None
                }
                Move::Admit => match breaker.admit(ns(now)) {
                    Ok(permit) => {
                        prop_assert!(open_until.is_none_or(|until| now >= until), "admitted while open");
                        let transition = permit.transition().copied();
                        if permit.is_trial() {
                            if transition.is_some() {
                                // A new round: what is still out has expired.
                                lost.clear();
                                out.iter_mut().for_each(|(_, lease)| *lease = 0);
                            }
                            out.push((permit, now + lease * MS));
                            let running = out.iter().filter(|(permit, lease)| permit.is_trial() && *lease > now).count()
                                + lost.iter().filter(|lease| **lease > now).count();
                            prop_assert!(running as u64 <= trials, "{running} trials out");
                        } else {
                            out.push((permit, 0));
                        }
                        transition
                    }
                    Err(refused) => refused.transition,
                },
                Move::Settle(which, outcome) if !out.is_empty() => {
                    out.swap_remove(which % out.len()).0.settle(outcome, ns(now), 0).transition
                }
                Move::Forget(which) if !out.is_empty() => {
                    let (permit, lease) = out.swap_remove(which % out.len());
                    lost.push(lease);
                    std::mem::forget(permit);
                    None
                }
                Move::Trip => breaker.trip(ns(now), None, 0),
                Move::HalfOpen => breaker.half_open(ns(now)),
                Move::Reset => breaker.reset(ns(now)),
                _ => None,
            };
            if let Some(transition) = transition {
                open_until = transition.until.map(Instant::as_nanos);
                if transition.from == State::HalfOpen {
                    lost.clear();
                    out.iter_mut().for_each(|(_, lease)| *lease = 0);
                }
            }
        }
        out.into_iter().for_each(|(permit, _)| std::mem::forget(permit));
    }

    #[test]
    fn whatever_happened_it_comes_back_once_the_dependency_is_well(config in configs(), moves in moves()) {
        let breaker = CircuitBreaker::new(&config).unwrap();
        let (mut now, mut out) = (0, Vec::new());
        for step in moves {
            match step {
                Move::Wait(span) => now += span,
                Move::Admit => out.extend(breaker.admit(ns(now)).ok()),
                Move::Settle(which, outcome) if !out.is_empty() => {
                    let permit: Permit<_> = out.swap_remove(which % out.len());
                    permit.settle(outcome, ns(now), 0);
                }
                Move::Trip => drop(breaker.trip(ns(now), None, 0)),
                Move::HalfOpen => drop(breaker.half_open(ns(now))),
                _ => {}
            }
        }
        // All permits that are out are lost for ever. From now on every call works.
        out.into_iter().for_each(std::mem::forget);
        let mut called = 0;
        while breaker.state(ns(now)) != State::Closed {
            now += 5 * S;
            if let Ok(permit) = breaker.admit(ns(now)) {
                permit.success(ns(now), 0);
            }
            called += 1;
            prop_assert!(called < 60, "stuck: {}", breaker.explain(ns(now)));
        }
    }

    #[test]
    fn a_refusal_changes_nothing_and_names_the_same_instant_to_all(config in configs(), moves in moves(), polls in 1..20u64) {
        let breaker = CircuitBreaker::new(&config).unwrap();
        let (mut now, mut out) = (0, Vec::new());
        for step in moves {
            match step {
                Move::Wait(span) => now += span,
                Move::Settle(which, outcome) if !out.is_empty() => {
                    let permit: Permit<_> = out.swap_remove(which % out.len());
                    permit.settle(outcome, ns(now), 0);
                }
                Move::Trip => drop(breaker.trip(ns(now), None, 0)),
                Move::HalfOpen => drop(breaker.half_open(ns(now))),
                _ => match breaker.admit(ns(now)) {
                    Ok(permit) => out.push(permit),
                    Err(first) => {
                        let before = words(&breaker);
                        for poll in 0..polls {
                            let later = now + poll;
                            let Err(again) = breaker.admit(ns(later)) else { break };
                            if again.transition.is_some() {
                                break;
                            }
                            prop_assert_eq!(again.rejection, first.rejection);
                            prop_assert_eq!(&words(&breaker), &before);
                        }
                        if let When::At(at) = first.rejection.when {
                            prop_assert!(breaker.state(ns(at.as_nanos() - 1)) == State::Open);
                            prop_assert!(breaker.state(at) == State::HalfOpen, "at that instant a trial passes");
                        }
                    }
                },
            }
        }
        out.into_iter().for_each(std::mem::forget);
    }

    #[test]
    fn the_healthy_path_writes_nothing(config in configs(), steps in prop::collection::vec(0..S, 1..50)) {
        // No call is slow here, and in rate mode the window is full first.
        let breaker = CircuitBreaker::new(&config).unwrap();
        for _ in 0..20 {
            permit(&breaker, ns(0)).success(ns(0), 0);
        }
        let before = words(&breaker);
        for step in steps {
            permit(&breaker, ns(step)).success(ns(step), 0);
            drop(permit(&breaker, ns(step)));
            permit(&breaker, ns(step)).ignore(ns(step));
        }
        prop_assert_eq!(words(&breaker), before);
    }

    #[test]
    fn a_settlement_from_another_period_is_stale_and_changes_nothing(config in configs(), moves in moves(), outcome in outcomes()) {
        let breaker = CircuitBreaker::new(&config).unwrap();
        let mut now = 0;
        let early: Vec<_> = (0..4).map(|_| permit(&breaker, ns(0))).collect();
        let mut early = early.into_iter();
        breaker.trip(ns(0), None, 0);
        for step in moves {
            match step {
                Move::Wait(span) => now += span,
                Move::Admit => {
                    if let Ok(permit) = breaker.admit(ns(now)) {
                        permit.success(ns(now), 0);
                    }
                }
                Move::Settle(..) => {
                    if let Some(permit) = early.next() {
                        let before = words(&breaker);
                        prop_assert_eq!(permit.settle(outcome, ns(now), 0).settlement, Settlement::Stale);
                        prop_assert_eq!(words(&breaker), before);
                    }
                }
                Move::Reset => drop(breaker.reset(ns(now))),
                _ => {}
            }
        }
    }

    #[test]
    fn a_clock_that_goes_back_admits_nobody_early_and_delays_nobody_by_more_than_the_step(
        config in configs(), start in 100..10_000u64, back in 0..68_000u64
    ) {
        let breaker = CircuitBreaker::new(&config).unwrap();
        let start = start * S;
        let until = breaker.trip(ns(start), None, 0).unwrap().until.unwrap();
        let earlier = start.saturating_sub(back * MS);
        let refused = breaker.admit(ns(earlier)).unwrap_err().rejection;
        prop_assert_eq!(refused.when, When::At(until), "the same instant, wherever the clock stands");
        prop_assert!(breaker.admit(ns(until.as_nanos() - 1)).is_err());
        prop_assert!(permit(&breaker, until).is_trial());
        // A running lease likewise.
        let no = breaker.admit(ns(earlier));
        prop_assert!(no.is_ok() || no.is_err_and(|no| no.rejection.reason == Reason::TrialsBusy && no.rejection.at().is_none_or(|at| at >= until)));
    }

    #[test]
    fn modes_keep_what_was_learnt(config in configs(), moves in moves(), mode in 1..4u64) {
        let breaker = CircuitBreaker::new(&config).unwrap();
        let (mut now, mut out) = (0, Vec::new());
        for step in moves {
            match step {
                Move::Wait(span) => now += span,
                Move::Settle(which, outcome) if !out.is_empty() => {
                    let permit: Permit<_> = out.swap_remove(which % out.len());
                    permit.settle(outcome, ns(now), 0);
                }
                _ => out.extend(breaker.admit(ns(now)).ok()),
            }
        }
        let before = breaker.snapshot(ns(now)).unwrap();
        prop_assert_eq!(breaker.set_mode(Mode::from_number(mode)), Ok(Mode::Normal));
        if mode == Mode::Disabled as u64 {
            for permit in out.drain(..).filter(|permit| !permit.is_trial()) {
                permit.failure(ns(now), 0);
            }
        }
        prop_assert_eq!(breaker.set_mode(Mode::Normal), Ok(Mode::from_number(mode)));
        prop_assert_eq!(breaker.snapshot(ns(now)).unwrap().state, before.state);
        out.into_iter().for_each(std::mem::forget);
    }

    #[test]
    fn shadow_never_refuses_and_measures_what_a_normal_one_would(config in configs(), moves in moves()) {
        let normal = CircuitBreaker::new(&config).unwrap();
        let shadow = CircuitBreaker::new(&config.mode(Mode::Shadow)).unwrap();
        let (mut now, mut out) = (0, Vec::new());
        for step in moves {
            match step {
                Move::Wait(span) => now += span,
                Move::Settle(which, outcome) if !out.is_empty() => {
                    let (one, other): (Option<Permit<_>>, Permit<_>) = out.swap_remove(which % out.len());
                    let shadowed = other.settle(outcome, ns(now), 0);
                    match one {
                        Some(permit) => prop_assert_eq!(permit.settle(outcome, ns(now), 0), shadowed),
                        None => prop_assert_eq!(shadowed.settlement, Settlement::Neutral),
                    }
                }
                Move::Trip => prop_assert_eq!(normal.trip(ns(now), None, 0), shadow.trip(ns(now), None, 0)),
                Move::HalfOpen => prop_assert_eq!(normal.half_open(ns(now)), shadow.half_open(ns(now))),
                Move::Reset => prop_assert_eq!(normal.reset(ns(now)), shadow.reset(ns(now))),
                _ => {
                    let (one, other) = (normal.admit(ns(now)), shadow.admit(ns(now)).expect("shadow never refuses"));
                    let would = one.as_ref().err().map(|refused| refused.rejection);
                    prop_assert_eq!(other.bypassed().copied(), would);
                    out.push((one.ok(), other));
                }
            }
            prop_assert_eq!(normal.state(ns(now)), shadow.state(ns(now)));
        }
        out.into_iter().for_each(std::mem::forget);
    }

    #[test]
    fn an_open_period_is_what_was_stated_within_factor_cap_and_jitter(
        reset in 1..100_000u64, factor in 1_000..5_000u32, cap in 1..600_000u64, jitter in 0..90u32, reopenings in 0..8i32, seed in any::<u64>()
    ) {
        let cap = cap.max(reset);
        let config = Config::consecutive(1)
            .reset_after(Duration::from_millis(reset))
            .reset_factor(seawall::Factor::thousandths(factor))
            .reset_cap(Duration::from_millis(cap))
            .reset_jitter(Ratio::percent(jitter));
        let breaker = CircuitBreaker::new(&config).unwrap();
        let random = Random::seeded(seed);
        let mut now = 0;
        let mut transition = breaker.trip(ns(now), None, random.next()).unwrap();
        for _ in 0..reopenings {
            now = transition.until.unwrap().as_nanos();
            transition = permit(&breaker, ns(now)).failure(ns(now), random.next()).transition.unwrap();
        }
        prop_assert!(!transition.unseeded);
        let period = nanos(transition.until.unwrap().since(ns(now))) as f64;
        let stated = ((reset * MS).div_ceil(UNIT) * UNIT) as f64;
        let exact = (stated * (factor as f64 / 1e3).powi(reopenings)).min((cap * MS) as f64);
        let spread = exact * f64::from(jitter) / 100.0;
        // A unit for each of: the period, the instant, the draw.
        let slack = 4.0 * UNIT as f64 + exact * 1e-2;
        prop_assert!(period >= exact - spread - slack, "{period} under {exact} - {spread}");
        prop_assert!(period <= (exact + spread).min((cap * MS) as f64) + slack, "{period} over {exact} + {spread}");
    }

    #[test]
    fn what_a_dependency_says_is_kept_up_to_the_cap(
        start in 0..10_000u64, told in any::<u64>(), cap in 1..10_000u64, half in any::<bool>()
    ) {
        let config = Config::consecutive(1).max_retry_after(Duration::from_millis(cap));
        let breaker = CircuitBreaker::new(&config).unwrap();
        let now = start * S;
        if half {
            breaker.half_open(ns(now));
        }
        let transition = permit(&breaker, ns(now)).failure_until(ns(told), ns(now), 0).transition.unwrap();
        let until = transition.until.unwrap().as_nanos();
        if told > now {
            let want = told.min(now + cap * MS);
            prop_assert!(until >= want && until < want + 3 * UNIT, "{until} for {want}");
        } else {
            prop_assert!(until >= now + 30 * S, "an ordinary failure");
        }
    }

    #[test]
    fn a_change_keeps_state_period_and_window(config in configs(), other in configs(), moves in moves()) {
        let breaker = CircuitBreaker::new(&config).unwrap();
        let (mut now, mut out) = (0, Vec::new());
        for step in moves {
            match step {
                Move::Wait(span) => now += span,
                Move::Settle(which, outcome) if !out.is_empty() => {
                    let permit: Permit<_> = out.swap_remove(which % out.len());
                    permit.settle(outcome, ns(now), 0);
                }
                _ => out.extend(breaker.admit(ns(now)).ok()),
            }
        }
        let before = breaker.snapshot(ns(now)).unwrap();
        breaker.configure(&other).unwrap();
        let after = breaker.snapshot(ns(now)).unwrap();
        prop_assert_eq!((after.state, after.until, after.generation), (before.state, before.until, before.generation));
        prop_assert_eq!(after.trials_in_flight, before.trials_in_flight);
        if before.state == State::Closed && config.is_rate() == other.is_rate() {
            prop_assert!(after.calls <= before.calls && after.failed <= before.failed);
        }
        // Whatever it was, it still ends: a trial decides.
        if after.state == State::HalfOpen && after.trials_in_flight == 0 {
            prop_assert!(breaker.admit(ns(now)).is_ok());
        }
        out.into_iter().for_each(std::mem::forget);
    }

    #[test]
    fn any_instants_are_answered(
        config in configs(), steps in prop::collection::vec((any::<u64>(), any::<u64>(), outcomes()), 1..40)
    ) {
        let breaker = CircuitBreaker::new(&config).unwrap();
        for (now, later, outcome) in steps {
            match breaker.admit(ns(now)) {
                Ok(permit) => drop(permit.settle(outcome, ns(later), later)),
                Err(refused) => prop_assert!(refused.rejection.at().is_none_or(|at| at >= ns(now))),
            }
            prop_assert!(!breaker.explain(ns(later)).is_empty());
        }
    }
}
