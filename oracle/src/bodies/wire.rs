//! Header text: what is written is read again, and any bytes are read as the plain rules have it.

use std::time::{Duration, SystemTime};

use seawall::wire::{deadline, grpc, http_date, retry_after};

use super::source::Source;

/// Holds reading and writing against each other, against the plain rules and against `httpdate`. Returns how
/// many texts were read.
///
/// # Panics
/// When they differ.
pub fn wire(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    let mut texts = 0;
    while !source.is_empty() {
        let now = source.bytes(5) as i64 - (1 << 37);
        match source.byte() % 4 {
            0 => numbers(&mut source, now),
            1 => written_dates(source.bytes(8) as i64, now),
            2 => timeouts(source.bytes(8) >> (source.byte() % 64)),
            _ => {
                let text = nearly_a_date(&mut source);
                against_httpdate(&text, now);
            }
        }
        texts += 1;
    }
    texts
}

/// Bytes that are mostly digits.
fn numbers(source: &mut Source<'_>, now: i64) {
    let length = source.below(40);
    let text: Vec<u8> =
        (0..length).map(|_| if source.one_in(24) { source.byte() } else { b'0' + source.byte() % 10 }).collect();
    let plain = std::str::from_utf8(&text).ok().map(|text| text.trim_matches([' ', '\t']));
    let number = plain.filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
    let value = number.map(|text| text.parse::<u128>().unwrap_or(u128::MAX).min(u128::from(u64::MAX)) as u64);
    let seconds = value.map(|value| Duration::from_secs(value.min(u64::MAX / 1_000_000_000)));
    assert_eq!(retry_after::parse(&text, now), seconds, "{text:?}");
    let millis = value.map(|value| Duration::from_millis(value.min(u64::MAX / 1_000_000)));
    assert_eq!(deadline::parse_remaining(&text), millis, "{text:?}");
    let _ = (grpc::parse_pushback(&text), grpc::parse_timeout(&text), deadline::parse_attempt(&text));
}

fn written_dates(at: i64, now: i64) {
    let text = http_date::write(at);
    let read = http_date::parse(text.as_bytes(), now).expect("what was written is read");
    assert!(read == at || text.ends_with("9999 23:59:59 GMT") || text.contains(" 0000 00:00:00"), "{at}: {text}");
    assert_eq!(retry_after::parse(text.as_bytes(), read), Some(Duration::ZERO));
    against_httpdate(text.as_bytes(), now);
}

fn timeouts(nanos: u64) {
    let asked = Duration::from_nanos(nanos);
    match grpc::write_timeout(asked) {
        None => assert_eq!(nanos, 0),
        Some(text) => {
            let read = grpc::parse_timeout(text.as_bytes()).expect("what was written is read");
            assert!(read >= asked && text.len() <= 9, "{nanos}: {text}");
        }
    }
}

/// A date in one of the forms, with a byte changed now and then.
fn nearly_a_date(source: &mut Source<'_>) -> Vec<u8> {
    let fixed = http_date::write((source.bytes(5) >> 3) as i64);
    let mut text = match source.byte() % 3 {
        0 => fixed.as_bytes().to_vec(),
        1 => {
            // Sun, 06 Nov 1994 08:49:37 GMT -> Sun Nov  6 08:49:37 1994
            let day = fixed[5..7].replacen('0', " ", usize::from(fixed.as_bytes()[5] == b'0'));
            format!("{} {} {day} {} {}", &fixed[..3], &fixed[8..11], &fixed[17..25], &fixed[12..16]).into_bytes()
        }
        _ => {
            format!("Sunday, {}-{}-{} {} GMT", &fixed[5..7], &fixed[8..11], &fixed[14..16], &fixed[17..25]).into_bytes()
        }
    };
    for _ in 0..source.byte() % 3 {
        let place = source.below(text.len());
        text[place] = if source.one_in(2) { b'0' + source.byte() % 10 } else { source.byte() };
    }
    if source.one_in(8) {
        text.truncate(source.below(32));
    }
    text
}

/// Where both read a date in a form with four digits for the year, it is the same one.
fn against_httpdate(text: &[u8], now: i64) {
    let ours = http_date::parse(text, now);
    let theirs = std::str::from_utf8(text).ok().and_then(|text| httpdate::parse_http_date(text).ok());
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return };
    if text.contains(&b'-') {
        return; // A year of two digits: they take 70 for the border, whatever the time is.
    }
    let theirs = theirs.duration_since(SystemTime::UNIX_EPOCH).expect("they read none before 1970");
    assert_eq!(u64::try_from(ours), Ok(theirs.as_secs()), "{}", String::from_utf8_lossy(text));
}
