//! Classification, the rules of retrying, deadlines and timeouts.

use core::time::Duration;

use seawall::{Failure, Idempotent, OnRetryAfter, RetryConfig, TimeoutsConfig};

use super::errors::out_of_bounds;
use crate::vectors::asked::{Ask, Line, played, retry_error, timeouts_error};
use crate::vectors::format::{Decimal as D, Impossible, Scenario};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

fn rules() -> RetryConfig {
    RetryConfig::new().idempotent(Idempotent::Yes)
}

pub(super) fn classification() -> Vec<Scenario<Line>> {
    let statuses = [0, 99, 100, 200, 204, 301, 399, 400, 401, 403, 404, 408, 409, 422, 428, 429, 430, 499, 500, 501]
        .into_iter()
        .chain([502, 503, 504, 505, 507, 599, 600, 999, u16::MAX])
        .map(|status| Ask::Status { status });
    let failures = Failure::ALL.iter().map(|failure| Ask::Failure { failure: failure.name().to_owned() });
    let about = "What a status and a failure mean.";
    vec![
        played("retry", "statuses", about, Some(&rules()), 0, statuses.collect()),
        played("retry", "failures", about, Some(&rules()), 0, failures.collect()),
    ]
}

pub(super) fn pauses() -> Vec<Scenario<Line>> {
    [OnRetryAfter::Wait, OnRetryAfter::Fail, OnRetryAfter::Grpc, OnRetryAfter::Aws]
        .into_iter()
        .map(|mode| {
            let mut asks = vec![Ask::MayRepeat {}];
            for told in [None, Some(0), Some(50 * MS), Some(2 * S), Some(60 * S), Some(60 * S + 1), Some(u64::MAX)] {
                for drawn in [0, 100 * MS, 3 * S] {
                    for jittered in [true, false] {
                        asks.push(Ask::Pause { told_ns: told.map(D), drawn_ns: D(drawn), jittered });
                    }
                }
            }
            let about = "The pause after what was told, with a minute as the most.";
            let config = rules().on_retry_after(mode);
            played("retry", &format!("told_{mode}"), about, Some(&config), 0, asks)
        })
        .chain([Idempotent::No, Idempotent::ByKey].map(|stated| {
            let config = RetryConfig::new().idempotent(stated);
            let about = "Whether it may be done twice.";
            played("retry", &format!("idempotent_{stated}"), about, Some(&config), 0, vec![Ask::MayRepeat {}])
        }))
        .collect()
}

pub(super) fn retry_errors() -> Vec<Impossible> {
    let mut errors = vec![RetryConfig::new(), RetryConfig::new().attempts(3)];
    errors.extend(out_of_bounds(rules()));
    errors.iter().map(retry_error).collect()
}

fn stated(connect: u64, attempt: u64, total: u64) -> TimeoutsConfig {
    let span = Duration::from_nanos;
    TimeoutsConfig::new().connect(span(connect)).attempt(span(attempt)).total(span(total))
}

pub(super) fn checks() -> Vec<Scenario<Line>> {
    let none = stated(0, 0, 0);
    let mut asks = Vec::new();
    for deadline in [None, Some(0), Some(S), Some(u64::MAX - 1)] {
        for now in [0, S - 1, S, S + 1, u64::MAX] {
            for expected in [0, 1, 250 * MS] {
                asks.push(Ask::Check { deadline_ns: deadline.map(D), expected_ns: D(expected), now_ns: D(now) });
            }
        }
    }
    let about = "Whether work that takes so long may begin.";
    let check = played("deadline", "check", about, Some(&none), 0, asks);
    let mut asks = Vec::new();
    for deadline in [None, Some(0), Some(S)] {
        for margin in [0, 100 * MS, S, 2 * S, u64::MAX] {
            asks.push(Ask::Shrunk { deadline_ns: deadline.map(D), margin_ns: D(margin) });
        }
    }
    let about = "What is left for those below.";
    vec![check, played("deadline", "shrunk", about, Some(&none), 0, asks)]
}

pub(super) fn timeouts() -> Vec<Scenario<Line>> {
    [
        ("none_stated", stated(0, 0, 0)),
        ("all_stated", stated(200 * MS, S, 3 * S)),
        ("attempt_only", stated(0, S, 0)),
        ("total_only", stated(0, 0, S)),
        ("as_long_as_what_is_around", stated(S, S, S)),
        ("the_longest", stated(0, 86_400 * S, 86_400 * S)),
    ]
    .map(|(name, config)| {
        played("deadline", name, "Timeouts as stated; null: none.", Some(&config), 0, vec![Ask::Timeouts {}])
    })
    .to_vec()
}

pub(super) fn timeouts_errors() -> Vec<Impossible> {
    let new = TimeoutsConfig::new;
    let second = Duration::from_secs(1);
    let mut errors = vec![new(), new().connect(second), new().connect(second).attempt(second)];
    errors.extend(out_of_bounds(stated(0, 0, 0)));
    errors.extend([stated(0, 2 * S, S), stated(2 * S, S, 0), stated(2 * S, 0, S), stated(2 * S, S, 3 * S)]);
    errors.iter().map(timeouts_error).collect()
}
