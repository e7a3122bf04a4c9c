//! Deadlines, timeouts, classification and the pause after a told wait, on arbitrary numbers and against the
//! plain rules.

use std::time::Duration;

use seawall::config::Config;
use seawall::retry::{Evidence, Verdict, classify_status};
use seawall::{Deadline, Instant, Reason, Retry, RetryConfig, Timeouts, TimeoutsConfig};

use super::source::Source;

const DAY: u64 = 86_400_000_000_000;

/// Deadlines and timeouts. Returns how many questions were asked.
///
/// # Panics
/// When an answer is not what the plain rules say.
pub fn deadline(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    let mut asked = 0;
    while !source.is_empty() {
        let (at, now, expected) = (source.tick(), source.tick(), source.span());
        let never = source.one_in(8);
        let at = if never { u64::MAX } else { at };
        let deadline = Deadline::at(Instant::from_nanos(at));
        let left = if at == u64::MAX { u128::MAX } else { u128::from(at.saturating_sub(now)) };
        let answer = deadline.check(Instant::from_nanos(now), Duration::from_nanos(expected));
        let want = match left {
            0 => Err(Reason::DeadlineExceeded),
            left if left < u128::from(expected) => Err(Reason::WontFinish),
            left => Ok(left.min(Duration::MAX.as_nanos())),
        };
        assert_eq!(answer.map(|left| left.as_nanos()).map_err(|no| no.reason), want, "{at} at {now}, {expected}");
        let shrunk = deadline.shrunk_by(Duration::from_nanos(expected));
        let earlier = if at == u64::MAX { at } else { at.saturating_sub(expected) };
        assert_eq!(shrunk.instant().as_nanos(), earlier);
        assert_eq!(deadline.earlier(shrunk), shrunk);
        timeouts(&source.config(&["connect", "attempt", "total"]));
        asked += 1;
    }
    asked
}

fn timeouts(config: &TimeoutsConfig) {
    let given = [0, 1, 2].map(|place| Config::get(config, place).expect("all are stated"));
    let [connect, attempt, total] = given;
    let around = if attempt != 0 { attempt } else { total };
    let possible =
        given.iter().all(|span| *span <= DAY) && (total == 0 || attempt <= total) && (around == 0 || connect <= around);
    let made = Timeouts::new(config);
    assert_eq!(made.is_ok(), possible, "{given:?}");
    if let Ok(made) = made {
        let stated = [made.connect(), made.attempt(), made.total()];
        let want = given.map(|span| (span != 0).then(|| Duration::from_nanos(span)));
        assert_eq!(stated, want);
        assert_eq!(Timeouts::from_words(made.to_words()), made);
    }
}

/// The rules of retrying. Returns how many questions were asked.
///
/// # Panics
/// When an answer is not what the plain rules say.
pub fn retry(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    let config: RetryConfig = source.config(&["idempotent"]);
    let given = |name: &str| {
        let place = RetryConfig::FIELDS.iter().position(|field| field.name == name);
        place.and_then(|place| Config::get(&config, place))
    };
    let attempts = given("attempts").unwrap_or(3);
    let mode = given("on_retry_after").unwrap_or(0);
    let most = given("max_retry_after").unwrap_or(60_000_000_000);
    let idempotent = given("idempotent").expect("it is stated");
    let possible = (1..=1_000_000).contains(&attempts) && mode <= 3 && most <= DAY && idempotent <= 2;
    let made = Retry::new(&config);
    assert_eq!(made.is_ok(), possible, "{config:?}");
    let Ok(made) = made else { return 1 };
    assert_eq!((u64::from(made.attempts()), made.may_repeat()), (attempts, idempotent != 1));
    assert_eq!(Retry::from_words(made.to_words()), made);
    let mut asked = 0;
    while !source.is_empty() {
        let told = (!source.one_in(4)).then(|| source.span());
        let (drawn, jittered) = (source.span(), source.one_in(2));
        let want = match (told, mode) {
            (None, _) => Some(drawn),
            (Some(told), 3) => Some(told.max(drawn).min(drawn.saturating_add(5_000_000_000))),
            (Some(told), _) if told > most => None,
            (Some(_), 1) => None,
            (Some(told), 2) => Some(told),
            (Some(told), _) if jittered => Some(told.saturating_add(drawn)),
            (Some(told), _) => Some(told.max(drawn)),
        };
        let pause = made.pause(told.map(Duration::from_nanos), Duration::from_nanos(drawn), jittered);
        let pause = pause.map(|pause| u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX));
        assert_eq!(pause, want, "{config:?}: told {told:?}, drawn {drawn}");
        a_status(source.bytes(2) as u16 % 1_100);
        asked += 1;
    }
    asked
}

fn a_status(status: u16) {
    let Verdict { retryable, after_wait, breaker } = classify_status(status);
    assert_eq!(retryable, matches!(status, 429 | 502 | 503 | 504), "{status}");
    assert_eq!(after_wait, status == 429);
    let evidence = match status {
        100..=399 => Evidence::Success,
        400..=499 => Evidence::Ignored,
        _ => Evidence::Failure,
    };
    assert_eq!(breaker, evidence, "{status}");
}
