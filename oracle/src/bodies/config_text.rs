//! What people write as configuration: never a panic, and what is accepted means what it says.

use seawall::config::{Config, Field, Invalid, Unit, parse_rate, parse_span, rate_from_float};
use seawall::{CircuitBreakerConfig, ConfigError, TokenBucketConfig};

use super::source::Source;

/// Reads spans, rates, numbers and names from arbitrary text and floats. Returns how many were read.
///
/// # Panics
/// When one is read as what it is not.
pub fn config_text(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    let number = f64::from_bits(source.bytes(8));
    let per_second = source.bytes(4) as u32;
    let period = source.bytes(8);
    let text = if source.one_in(2) { likely(&mut source) } else { String::from_utf8_lossy(source.rest()).into_owned() };

    span(&text);
    let rate = parse_rate(&text);
    assert!(rate.is_err() || text.contains('/'), "{text:?} is no rate");
    if let Ok((count, length)) = rate_from_float(number, period) {
        assert!(number >= 0.0 && number.is_finite());
        let got = count as f64 * period as f64;
        assert!(
            period == 0 || got <= number * length as f64 * (1.0 + 1e-9) + 1.0,
            "{count} per {length} is above {number} per {period}"
        );
    }
    let fields = CircuitBreakerConfig::FIELDS.iter().chain(TokenBucketConfig::FIELDS);
    let mut read = 0;
    for field in fields {
        from_float(field, number, per_second);
        if let Err(invalid) = field.from_text(&text) {
            assert!(ConfigError::invalid(field, invalid).to_string().contains(field.name));
        }
        read += 2;
    }
    let breaker = (0..40).fold(CircuitBreakerConfig::new(), |config, place| {
        if source.one_in(4) { Config::with(config, place, source.bytes(8)) } else { config }
    });
    if let Err(error) = breaker.check() {
        let text = error.to_string();
        assert!(text.starts_with("circuit_breaker.") && text.contains(" is not allowed; "), "{text}");
    }
    read + 4
}

/// Text that looks like a span or a rate.
fn likely(source: &mut Source<'_>) -> String {
    const PIECES: [&str; 20] = [
        "1",
        "0",
        "9",
        "25",
        "18446744073709551615",
        ".",
        "ns",
        "us",
        "µs",
        "ms",
        "s",
        "min",
        "h",
        "d",
        " ",
        "/",
        "-",
        "e",
        "000000",
        "5",
    ];
    (0..source.below(9)).map(|_| PIECES[source.below(PIECES.len())]).collect()
}

/// A span is the exact number, rounded up; worked out digit by digit.
fn span(text: &str) {
    let Ok(nanos) = parse_span(text) else { return };
    let text = text.trim_ascii();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let unit: u128 = match text[end..].trim_ascii_start() {
        "" | "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" | "second" => 1_000_000_000,
        "m" | "min" | "minute" => 60_000_000_000,
        "h" | "hour" => 3_600_000_000_000,
        "d" | "day" => 86_400_000_000_000,
        other => panic!("{other:?} is no unit"),
    };
    let (whole, fraction) = text[..end].split_once('.').unwrap_or((&text[..end], ""));
    let whole = whole.parse::<u128>().unwrap_or(0) * unit;
    // From the last digit to the first: a ceiling of ceilings is the ceiling.
    let part = fraction.bytes().rev().fold(0u128, |part, digit| (u128::from(digit - b'0') * unit + part).div_ceil(10));
    assert_eq!(u128::from(nanos), whole + part, "{text:?}");
}

fn from_float(field: &Field, number: f64, per_second: u32) {
    match field.from_float(number, per_second) {
        Ok(value) => {
            assert!(number >= 0.0, "{} took {number}", field.name);
            if let (Unit::Count, true) = (field.unit, number < 1e15) {
                assert_eq!(value as f64, number);
            }
        }
        Err(Invalid::NotANumber) => assert!(number.is_nan()),
        Err(_) => {}
    }
}
