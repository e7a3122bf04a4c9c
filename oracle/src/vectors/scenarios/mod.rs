//! What is played.

mod breaker_consecutive;
mod bucket_basic;
mod errors;

use super::format::Scenario;
use super::{breaker, bucket};

pub(super) use errors::{breaker as breaker_errors, bucket as bucket_errors};

type Group<S> = (&'static str, Vec<Scenario<S>>);

pub(super) fn breaker() -> Vec<Group<breaker::Line>> {
    vec![("consecutive", breaker_consecutive::all())]
}

pub(super) fn bucket() -> Vec<Group<bucket::Line>> {
    vec![("basic", bucket_basic::all())]
}
