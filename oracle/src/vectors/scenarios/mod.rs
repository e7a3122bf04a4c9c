//! What is played.

mod breaker_consecutive;
mod breaker_control;
mod breaker_periods;
mod breaker_rate;
mod breaker_time;
mod breaker_trials;
mod breaker_windows;
mod bucket_basic;
mod bucket_change;
mod bucket_reserve;
mod errors;
#[rustfmt::skip]
mod policy;
mod rules;
mod waits;
#[rustfmt::skip]
mod wire;

use super::asked::Line;
use super::format::{Impossible, Scenario};
use super::{breaker, bucket, policy as calls};

pub(super) use errors::{breaker as breaker_errors, bucket as bucket_errors};
pub(super) use policy::errors as policy_errors;

type Group<S> = (&'static str, Vec<Scenario<S>>);

pub(super) fn breaker() -> Vec<Group<breaker::Line>> {
    vec![
        ("consecutive", breaker_consecutive::all()),
        ("rate", breaker_rate::all()),
        ("trials", breaker_trials::all()),
        ("periods", breaker_periods::all()),
        ("control", breaker_control::all()),
        ("time", breaker_time::all()),
        ("windows", breaker_windows::all()),
    ]
}

pub(super) fn bucket() -> Vec<Group<bucket::Line>> {
    vec![("basic", bucket_basic::all()), ("reserve", bucket_reserve::all()), ("change", bucket_change::all())]
}

pub(super) fn policy() -> Vec<Group<calls::Line>> {
    vec![("attempts", policy::attempts()), ("time", policy::time()), ("parts", policy::parts())]
}

/// A primitive's name, its files of scenarios, and the configurations that are refused.
type Primitive = (&'static str, Vec<Group<Line>>, Vec<Impossible>);

/// The smaller primitives.
pub(super) fn asked() -> Vec<Primitive> {
    let waits = vec![("waits", waits::waits()), ("helpers", waits::helpers())];
    let budgets =
        vec![("basic", waits::budget_basic()), ("time", waits::budget_time()), ("change", waits::budget_change())];
    let rules = vec![("classification", rules::classification()), ("pauses", rules::pauses())];
    let times = vec![("checks", rules::checks()), ("timeouts", rules::timeouts())];
    let texts = vec![("retry_after", wire::retry_after()), ("dates", wire::dates()), ("timeouts", wire::timeouts())];
    vec![
        ("backoff", waits, waits::backoff_errors()),
        ("retry_budget", budgets, waits::budget_errors()),
        ("retry", rules, rules::retry_errors()),
        ("deadline", times, rules::timeouts_errors()),
        ("wire", texts, Vec::new()),
    ]
}
