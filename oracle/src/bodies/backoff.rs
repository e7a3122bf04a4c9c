//! Backoff and its helpers on arbitrary configurations, retries, waits, instants and words.

use std::time::Duration;

use seawall::config::Ratio;
use seawall::retry::{Reconnect, Schedule, ttl};
use seawall::{Backoff, BackoffConfig, Instant};

use super::source::Source;
use crate::backoff::Formulas;

/// Holds the engine against the formulas. Returns how many draws were made.
///
/// # Panics
/// When a wait is not what the formulas say.
pub fn backoff(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    let config: BackoffConfig = source.config(&[]);
    let (backoff, formulas) = (Backoff::new(&config), Formulas::of(&config));
    assert_eq!(backoff.is_ok(), formulas.is_some(), "{config:?}: {backoff:?}");
    let (Ok(backoff), Some(formulas)) = (backoff, formulas) else { return 1 };
    let mut link = Reconnect::new(backoff, Duration::from_nanos(source.span()));
    let mut draws = 0;
    while !source.is_empty() {
        let r = if source.one_in(8) { 0 } else { source.bytes(8) };
        match source.byte() % 8 {
            0 => the_helpers(&mut source, r),
            1 => any_words(&mut source, r),
            2 => a_connection(&mut source, &mut link, r),
            _ => a_wait(&mut source, &backoff, &formulas, r),
        }
        draws += 1;
    }
    draws
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("a span of the engine's fits")
}

fn a_wait(source: &mut Source<'_>, backoff: &Backoff, formulas: &Formulas, r: u64) {
    let retry = if source.one_in(8) { source.bytes(4) as u32 } else { u32::from(source.byte() % 40) };
    let previous = source.span();
    let ceiling = nanos(backoff.ceiling(retry));
    let (want, off) = formulas.ceiling(retry);
    assert!(ceiling.abs_diff(want) <= off, "{formulas:?}, retry {retry}: {ceiling}, not {want}");
    let (low, high) = formulas.range(ceiling, previous);
    let wait = nanos(backoff.delay(retry, Duration::from_nanos(previous), r));
    let drawn = low + ((u128::from(r) * (u128::from(high - low) + 1)) >> 64) as u64;
    assert_eq!(
        wait,
        if r == 0 { formulas.undrawn(ceiling, previous) } else { drawn },
        "{formulas:?}, retry {retry}, {previous} before, r = {r}"
    );
}

fn the_helpers(source: &mut Source<'_>, r: u64) {
    let (span, spread) = (source.span(), source.bytes(3) as u32);
    let life = nanos(ttl(Duration::from_nanos(span), Ratio::ppm(spread), r));
    let least = span - (u128::from(span) * u128::from(spread.min(1_000_000)) / 1_000_000) as u64;
    assert!((least..=span).contains(&life), "{span} less up to {spread} ppm is not {life}");

    let schedule = Schedule::new(Duration::from_nanos(span), Ratio::ppm(spread), r);
    let now = Instant::from_nanos(source.tick());
    let due = schedule.next(now);
    assert!(due > now || due == Instant::MAX);
    assert!(due == Instant::MAX || nanos(due.since(now)) <= span.max(1), "{schedule:?} at {now:?}: {due:?}");
    assert!(nanos(schedule.phase()) <= span - least);
    assert_eq!(Schedule::at_phase(Duration::from_nanos(span), schedule.phase()), schedule);
}

fn a_connection(source: &mut Source<'_>, link: &mut Reconnect, r: u64) {
    let now = Instant::from_nanos(source.tick());
    if source.one_in(2) {
        link.connected(now);
    } else {
        let before = *link;
        let wait = link.lost(now, r);
        let mut copy = Reconnect::from_words(before.to_words());
        assert_eq!((copy.lost(now, r), copy), (wait, *link));
    }
}

fn any_words(source: &mut Source<'_>, r: u64) {
    let words = core::array::from_fn(|_| source.bytes(8));
    let cap = words[1];
    let wait = Backoff::from_words(words).delay(source.bytes(4) as u32, Duration::from_nanos(source.bytes(8)), r);
    assert!(nanos(wait) <= cap);
    let mut link = Reconnect::from_words(core::array::from_fn(|_| source.bytes(8)));
    link.connected(Instant::from_nanos(source.tick()));
    let _ = link.lost(Instant::from_nanos(source.tick()), r);
}
