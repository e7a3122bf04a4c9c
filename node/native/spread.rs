//! Backoff and its helpers, and header text: functions of their arguments alone. A backoff is its words.

use std::time::Duration;

use seawall::retry::{Reconnect, Schedule, ttl};
use seawall::wire::retry_after;
use seawall::{Backoff, BackoffConfig, Deadline, Instant, Ratio, Reason};

use crate::clock::{now_of, random_of};
use crate::node_api::{Argument, Call, Value, functions};
use crate::options::{config, config_error};

fn words<const N: usize>(call: &Call<'_>, place: usize) -> [u64; N] {
    let mut words = [0; N];
    for (word, given) in words.iter_mut().zip(call.list(place)) {
        if let Argument::Whole(whole) = given {
            *word = whole;
        }
    }
    words
}

fn list(words: &[u64]) -> Value {
    Value::List(words.iter().map(|word| Value::Whole(*word)).collect())
}

fn span(call: &Call<'_>, place: usize) -> Duration {
    Duration::from_nanos(call.f64(place).max(0.0) as u64)
}

/// A share as the TypeScript half has checked it, 0 to 1.
fn share(call: &Call<'_>, place: usize) -> Ratio {
    Ratio::ppm((call.f64(place) * 1e6).round() as u32)
}

/// The randomness that was given, or that of the clock at `place`.
fn random(call: &Call<'_>, place: usize) -> u64 {
    match call.any(place) {
        Argument::Whole(r) => r,
        _ => random_of(call.u32(place + 1)),
    }
}

fn nanos(span: Duration) -> f64 {
    span.as_nanos() as f64
}

functions! { FUNCTIONS:
    "backoffNew" backoff_new [1] => |call| Some(match config::<BackoffConfig>(call, 0) {
        Ok(config) => match Backoff::new(&config) {
            Ok(backoff) => list(&backoff.to_words()),
            Err(error) => config_error(&error),
        },
        Err(error) => error,
    });
    "backoffCeiling" backoff_ceiling [2] => |call| {
        Some(nanos(Backoff::from_words(words(call, 0)).ceiling(call.u32(1))))
    };
    "backoffDelay" backoff_delay [5] => |call| {
        Some(nanos(Backoff::from_words(words(call, 0)).delay(call.u32(1), span(call, 2), random(call, 3))))
    };
    "reconnectNew" reconnect_new [2] => |call| {
        Some(list(&Reconnect::new(Backoff::from_words(words(call, 0)), span(call, 1)).to_words()))
    };
    "reconnectConnected" reconnect_connected [2] => |call| {
        let mut link = Reconnect::from_words(words(call, 0));
        link.connected(now_of(call.u32(1)));
        Some(list(&link.to_words()))
    };
    "reconnectLost" reconnect_lost [3] => |call| {
        let mut link = Reconnect::from_words(words(call, 0));
        let wait = link.lost(now_of(call.u32(2)), random(call, 1));
        Some(Value::Object(vec![("words", list(&link.to_words())), ("wait", Value::Number(nanos(wait)))]))
    };
    "ttl" time_to_live [4] => |call| Some(nanos(ttl(span(call, 0), share(call, 1), random(call, 2))));
    "schedulePhase" schedule_phase [3] => |call| {
        Some(nanos(Schedule::new(span(call, 0), share(call, 1), call.u64(2)?).phase()))
    };
    "scheduleNext" schedule_next [3] => |call| {
        let next = Schedule::at_phase(span(call, 0), span(call, 1)).next(Instant::from_nanos(call.u64(2)?));
        Some(next.as_nanos() as f64)
    };
    "deadlineAfter" deadline_after [2] => |call| {
        Some(Value::Whole(Deadline::after(now_of(call.u32(1)), span(call, 0)).instant().as_nanos()))
    };
    "deadlineShrunk" deadline_shrunk [2] => |call| {
        let deadline = Deadline::at(Instant::from_nanos(call.u64(0)?));
        Some(Value::Whole(deadline.shrunk_by(span(call, 1)).instant().as_nanos()))
    };
    // The nanoseconds that remain; -1: it is over, -2: less remains than is expected.
    "deadlineCheck" deadline_check [3] => |call| {
        let deadline = Deadline::at(Instant::from_nanos(call.u64(0)?));
        Some(match deadline.check(now_of(call.u32(2)), span(call, 1)) {
            Ok(left) => nanos(left),
            Err(no) if no.reason == Reason::WontFinish => -2.0,
            Err(_) => -1.0,
        })
    };
    "parseRetryAfter" parse_retry_after [2] => |call| {
        retry_after::parse(call.text(0)?.as_bytes(), call.f64(1) as i64).map(nanos)
    };
    "formatRetryAfter" format_retry_after [2] => |call| Some(match call.any(1) {
        Argument::Number(now) => Value::from(retry_after::write_date(span(call, 0), now as i64).as_str()),
        _ => Value::from(retry_after::write(span(call, 0)).as_str()),
    });
}
