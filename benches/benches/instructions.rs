//! Instructions of a thousand operations each, counted by callgrind: the same however busy the
//! machine is.

#![allow(missing_docs, unreachable_pub, reason = "what the macros make is public and has no words")]

use std::hint::black_box;

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use recloser::Recloser;
use seawall::{CircuitBreaker, TokenBucket};
use seawall_benches::{breakers, buckets, policies};

const OPERATIONS: u64 = 1000;

/// Fails the run above so many instructions per operation, a tenth or so above what it takes now.
fn at_most(per_operation: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, per_operation * OPERATIONS)]);
    LibraryBenchmarkConfig::default().tool(callgrind).clone()
}

#[library_benchmark]
#[bench::healthy(args = (breakers::healthy()), config = at_most(30))]
#[bench::open(args = (breakers::open()), config = at_most(72))]
fn breaker(breaker: CircuitBreaker) -> u64 {
    black_box(breakers::calls::<0>(black_box(&breaker), OPERATIONS))
}

#[library_benchmark]
#[bench::one_percent_fail(args = (breakers::healthy()), config = at_most(105))]
fn breaker_failing(breaker: CircuitBreaker) -> u64 {
    black_box(breakers::calls::<100>(black_box(&breaker), OPERATIONS))
}

#[library_benchmark]
#[bench::every_record_writes(args = (breakers::healthy()), config = at_most(315))]
fn breaker_writing(breaker: CircuitBreaker) -> u64 {
    black_box(breakers::calls::<8>(black_box(&breaker), OPERATIONS))
}

#[library_benchmark]
#[bench::hundred_calls(args = (breakers::hundred()), config = at_most(30))]
#[bench::ten_seconds(args = (breakers::ten_seconds()), config = at_most(930))]
fn breaker_wide(breaker: breakers::Wide) -> u64 {
    black_box(breakers::wide_calls::<0>(black_box(&breaker), OPERATIONS))
}

#[library_benchmark]
#[bench::hundred_calls(args = (breakers::hundred()), config = at_most(560))]
#[bench::ten_seconds(args = (breakers::ten_seconds()), config = at_most(930))]
fn breaker_wide_writing(breaker: breakers::Wide) -> u64 {
    black_box(breakers::wide_calls::<8>(black_box(&breaker), OPERATIONS))
}

#[library_benchmark]
#[bench::trial(args = (breakers::half_open()), config = at_most(960))]
fn breaker_trial(breaker: CircuitBreaker) -> u64 {
    black_box(breakers::trial(black_box(&breaker), OPERATIONS))
}

#[library_benchmark]
#[bench::healthy(breakers::recloser(true))]
#[bench::open(breakers::recloser(false))]
fn recloser_breaker(breaker: Recloser) -> u64 {
    black_box(breakers::recloser_calls::<0>(black_box(&breaker), OPERATIONS))
}

#[library_benchmark]
#[bench::healthy(breakers::failsafe(true))]
#[bench::open(breakers::failsafe(false))]
fn failsafe_breaker(breaker: breakers::Failsafe) -> u64 {
    black_box(breakers::failsafe_calls::<0>(black_box(&breaker), OPERATIONS))
}

#[library_benchmark]
#[bench::admit(args = (buckets::endless()), config = at_most(70))]
#[bench::refuse(args = (buckets::empty()), config = at_most(80))]
fn bucket(bucket: TokenBucket) -> u64 {
    black_box(buckets::take(black_box(&bucket), OPERATIONS))
}

#[library_benchmark]
#[bench::reserve_and_cancel(args = (buckets::endless()), config = at_most(430))]
fn bucket_reserving(bucket: TokenBucket) -> u64 {
    black_box(buckets::reserve_and_cancel(black_box(&bucket), OPERATIONS))
}

#[library_benchmark]
#[bench::admit(buckets::governor(buckets::PER_SECOND, u32::MAX))]
#[bench::refuse(buckets::governor_empty())]
fn governor_bucket(governor: buckets::Governor) -> u64 {
    black_box(buckets::governor_take(black_box(&governor), OPERATIONS))
}

#[library_benchmark]
#[bench::refuse(buckets::governor_empty())]
fn governor_bucket_with_instant(governor: buckets::Governor) -> u64 {
    black_box(buckets::governor_take_with_instant(black_box(&governor), OPERATIONS))
}

#[library_benchmark]
#[bench::success(args = (policies::healthy()), config = at_most(860))]
fn policy_retry(parts: policies::Parts) -> u64 {
    black_box(policies::retry(black_box(&parts), OPERATIONS))
}

#[library_benchmark]
#[bench::success(args = (policies::healthy()), config = at_most(925))]
#[bench::refused(args = (policies::open()), config = at_most(550))]
fn policy_call(parts: policies::Parts) -> u64 {
    black_box(policies::call(black_box(&parts), OPERATIONS))
}

#[library_benchmark]
#[bench::one_retry(args = (policies::healthy()), config = at_most(2_990))]
fn policy_call_retried(parts: policies::Parts) -> u64 {
    black_box(policies::call_retried(black_box(&parts), OPERATIONS))
}

#[library_benchmark]
#[bench::success(policies::backon_rules())]
fn backon_retry(rules: policies::BackonRules) -> u64 {
    black_box(policies::backon(black_box(&rules), OPERATIONS))
}

library_benchmark_group!(
    name = circuit_breaker,
    benchmarks = [
        breaker,
        breaker_failing,
        breaker_writing,
        breaker_wide,
        breaker_wide_writing,
        breaker_trial,
        recloser_breaker,
        failsafe_breaker
    ]
);
library_benchmark_group!(
    name = token_bucket,
    benchmarks = [bucket, bucket_reserving, governor_bucket, governor_bucket_with_instant]
);
library_benchmark_group!(name = policy, benchmarks = [policy_retry, policy_call, policy_call_retried, backon_retry]);
main!(library_benchmark_groups = [circuit_breaker, token_bucket, policy]);
