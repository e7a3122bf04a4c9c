//! From what people write to what the engine counts in.
//!
//! Faces hand over floating-point numbers and text; this is where they become nanoseconds, parts per
//! million and counts per period, or are refused, so that every language refuses the same. Nothing
//! here is on the way of a decision.

#![allow(clippy::float_arithmetic)]

use super::{Field, Unit};
use crate::decision::stable_enum;

stable_enum! {
    /// What is wrong with something that is no value at all.
    pub enum Invalid {
        /// Not a number (NaN).
        NotANumber = 1 "nan",
        /// An infinite number.
        Infinite = 2 "an infinite number",
        /// A number below zero.
        Negative = 3 "a negative number",
        /// A number with a fraction where only whole ones make sense.
        Fraction = 4 "a fraction",
        /// A number beyond what 64 bits hold.
        TooLarge = 5 "a number this large",
        /// Text that is no span of time, such as `250ms`, `30s` or `1.5 h`.
        NotASpan = 6 "text that is no span of time (write 250ms, 30s, 1.5h)",
        /// Text that is none of the names.
        UnknownName = 7 "an unknown name",
        /// Something of another type.
        WrongType = 8 "a value of this type",
        /// Text that is no rate, such as `100/s` or `5000/h`.
        NotARate = 9 "text that is no rate (write 100/s, 5000/h)",
        /// Nothing at all, where something must be stated.
        Missing = 10 "nothing",
    }
}

/// The longest period of a rate.
const YEAR: u64 = 365 * 86_400_000_000_000;

impl Field {
    /// The field's value from a number: counts and factors as they are, ratios as a fraction, spans
    /// in units of `second / per_second` (1 for seconds, 1000 for milliseconds).
    ///
    /// Spans round up to the next nanosecond, ratios and factors to the nearest step.
    ///
    /// # Errors
    /// What is wrong with the number.
    pub fn from_float(&self, value: f64, per_second: u32) -> Result<u64, Invalid> {
        let value = finite(value)?;
        match self.unit {
            Unit::Count | Unit::Choice(_) if value % 1.0 != 0.0 => Err(Invalid::Fraction),
            Unit::Count | Unit::Choice(_) => whole(value, Rounding::Nearest),
            Unit::Ratio => whole(value * 1e6, Rounding::Nearest),
            Unit::Factor => whole(value * 1e3, Rounding::Nearest),
            Unit::Span => whole(value * (1e9 / f64::from(per_second)), Rounding::Up),
        }
    }

    /// The field's value from text: the name of a choice, or a span.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn from_text(&self, text: &str) -> Result<u64, Invalid> {
        match self.unit {
            Unit::Choice(names) => {
                names.iter().position(|name| *name == text).map(|i| i as u64).ok_or(Invalid::UnknownName)
            }
            Unit::Span => parse_span(text),
            _ => Err(Invalid::WrongType),
        }
    }
}

/// A span such as `250ms`, `30s`, `1.5 h`, in nanoseconds; `0` needs no unit.
///
/// Units are ns, us, ms, s, min (or m), h, d. Decimals are exact; what is finer than a nanosecond
/// rounds up.
///
/// # Errors
/// [`Invalid::NotASpan`] or [`Invalid::TooLarge`].
pub fn parse_span(text: &str) -> Result<u64, Invalid> {
    let text = text.trim_ascii();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_ascii_start());
    if number == "0" && unit.is_empty() {
        return Ok(0);
    }
    let nanos = unit_nanos(unit).ok_or(Invalid::NotASpan)?;
    decimal_times(number, nanos).ok_or(Invalid::NotASpan)?
}

/// The place of the field that is meant when a span is written for the count at `place`: `window = "60s"`
/// states `window_span`. `None`: a span makes no sense there.
#[must_use]
pub fn spanning(fields: &[Field], place: usize) -> Option<usize> {
    let count = fields.get(place).filter(|field| field.unit == Unit::Count)?;
    let means = |field: &Field| field.unit == Unit::Span && field.name.strip_suffix("_span") == Some(count.name);
    fields.iter().position(means)
}

/// A rate such as `100/s`, `5000/h`, `1 / 250ms`: the count and the period in nanoseconds.
///
/// # Errors
/// [`Invalid::NotARate`] or [`Invalid::TooLarge`].
pub fn parse_rate(text: &str) -> Result<(u64, u64), Invalid> {
    let (count, period) = text.split_once('/').ok_or(Invalid::NotARate)?;
    let count = count.trim_ascii();
    if count.is_empty() || !count.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Invalid::NotARate);
    }
    let count = count.parse().map_err(|_| Invalid::TooLarge)?;
    let period = period.trim_ascii();
    let nanos = match unit_nanos(period) {
        Some(nanos) => nanos,
        None => parse_span(period).map_err(|_| Invalid::NotARate)?,
    };
    Ok((count, nanos))
}

/// A rate from a number per period: whole numbers as they are, others as a count over a longer
/// period (at most a million times as long, and a year), rounded down so that the rate is never above
/// what was asked for.
///
/// # Errors
/// What is wrong with the number.
pub fn rate_from_float(rate: f64, period_nanos: u64) -> Result<(u64, u64), Invalid> {
    let rate = finite(rate)?;
    if rate % 1.0 == 0.0 {
        return Ok((whole(rate, Rounding::Nearest)?, period_nanos));
    }
    if rate < 1.0 {
        // One per longer period; a period that is whole but for the last bit of the division is whole.
        return Ok((1, whole(period_nanos as f64 / rate, Rounding::Up)?));
    }
    // The shortest longer period that makes it whole, or the longest that a configuration allows.
    let longest = (YEAR / period_nanos.max(1)).clamp(1, 1_000_000);
    let mut scale = 1;
    while scale < longest && (rate * scale as f64) % 1.0 != 0.0 {
        scale = (scale * 10).min(longest);
    }
    Ok((whole(rate * scale as f64, Rounding::Down)?, period_nanos.saturating_mul(scale)))
}

fn unit_nanos(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" | "second" => 1_000_000_000,
        "m" | "min" | "minute" => 60_000_000_000,
        "h" | "hour" => 3_600_000_000_000,
        "d" | "day" => 86_400_000_000_000,
        _ => return None,
    })
}

/// `number * unit`, rounded up; the outer `None` is for text that is no number.
fn decimal_times(number: &str, unit: u64) -> Option<Result<u64, Invalid>> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') || number.len() > 40 {
        return None;
    }
    let digits = |sum: u128, digit: u8| Some(sum * 10 + u128::from(digit - b'0'));
    if whole.len() > 20 {
        return Some(Err(Invalid::TooLarge));
    }
    let mut nanos = whole.bytes().try_fold(0, digits)? * u128::from(unit);
    // From the last digit to the first: the ceiling of a ceiling is the ceiling, so it is exact.
    let tenth = |part: u128, digit: u8| (u128::from(digit - b'0') * u128::from(unit) + part).div_ceil(10);
    nanos += fraction.bytes().rev().fold(0, tenth);
    Some(u64::try_from(nanos).map_err(|_| Invalid::TooLarge))
}

fn finite(value: f64) -> Result<f64, Invalid> {
    match value {
        _ if value.is_nan() => Err(Invalid::NotANumber),
        _ if value < 0.0 => Err(Invalid::Negative),
        _ if value.is_infinite() => Err(Invalid::Infinite),
        _ => Ok(value),
    }
}

enum Rounding {
    Up,
    Down,
    Nearest,
}

/// The whole number next to `value`. A value within 2^-40 of a whole one is that one: the tail of a
/// division or of a decimal fraction is not worth a nanosecond.
fn whole(value: f64, rounding: Rounding) -> Result<u64, Invalid> {
    // 2^64 as a float; anything from there on does not fit.
    if value >= 18_446_744_073_709_551_616.0 {
        return Err(Invalid::TooLarge);
    }
    let floor = value as u64;
    let fraction = value - floor as f64;
    let tail = (value / 1_099_511_627_776.0).clamp(1e-9, 0.4);
    Ok(match rounding {
        _ if fraction <= tail => floor,
        _ if fraction >= 1.0 - tail => floor.saturating_add(1),
        Rounding::Up => floor.saturating_add(1),
        Rounding::Down => floor,
        Rounding::Nearest if fraction >= 0.5 => floor.saturating_add(1),
        Rounding::Nearest => floor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_exactly() {
        for (text, nanos) in [
            ("250ms", 250_000_000),
            ("30s", 30_000_000_000),
            ("1.5 h", 5_400_000_000_000),
            (" 2 d ", 172_800_000_000_000),
            ("0.1s", 100_000_000),
            ("0", 0),
            ("0.5ns", 1),
            ("0.0000000000000000001s", 1),
            ("1.0000000000000000000s", 1_000_000_000),
            ("18446744073709551615ns", u64::MAX),
        ] {
            assert_eq!(parse_span(text), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn a_span_written_for_a_count_states_the_field_beside_it() {
        let fields = crate::CircuitBreakerConfig::FIELDS;
        let place = |name| fields.iter().position(|field| field.name == name);
        assert_eq!(spanning(fields, place("window").unwrap()), place("window_span"));
        assert_eq!(spanning(fields, place("trials").unwrap()), None);
        assert_eq!(spanning(fields, place("reset_after").unwrap()), None);
        assert_eq!(spanning(fields, fields.len()), None);
    }

    #[test]
    fn text_that_is_no_span_is_refused() {
        for text in ["", "s", "1", "1.2.3s", "-1s", "1e3s", ".s", "1 fortnight", "soon", "１s"] {
            assert_eq!(parse_span(text), Err(Invalid::NotASpan), "{text}");
        }
        for text in ["18446744073709551616ns", "999999999999999999999s", "600000d"] {
            assert_eq!(parse_span(text), Err(Invalid::TooLarge), "{text}");
        }
    }

    #[test]
    fn rates_are_read_exactly() {
        for (text, rate) in [
            ("100/s", (100, 1_000_000_000)),
            ("5000/h", (5000, 3_600_000_000_000)),
            ("1 / 250ms", (1, 250_000_000)),
            ("3/min", (3, 60_000_000_000)),
        ] {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
        for text in ["", "5", "/s", "5/", "-1/s", "1.5/s", "5/fortnight"] {
            assert_eq!(parse_rate(text), Err(Invalid::NotARate), "{text}");
        }
        assert_eq!(parse_rate("99999999999999999999/s"), Err(Invalid::TooLarge));
    }

    #[test]
    fn a_rate_from_a_number_is_never_above_it() {
        const S: u64 = 1_000_000_000;
        assert_eq!(rate_from_float(5.0, S), Ok((5, S)));
        assert_eq!(rate_from_float(0.1, S), Ok((1, 10 * S)));
        assert_eq!(rate_from_float(1.0 / 86_400.0, S), Ok((1, 86_400 * S)));
        assert_eq!(rate_from_float(2.5, S), Ok((25, 10 * S)));
        assert_eq!(rate_from_float(1.5, 60 * S), Ok((15, 600 * S)), "a longer period that a bucket allows");
        assert_eq!(rate_from_float(2.5, 3_600 * S), Ok((25, 36_000 * S)));
        assert_eq!(rate_from_float(1.1, YEAR), Ok((1, YEAR)), "there is none longer");
        for rate in [0.3, 0.7, 1.1, 3.3, 999.9, 123_456.789] {
            let (count, period) = rate_from_float(rate, S).unwrap();
            let got = count as f64 / (period as f64 / 1e9);
            assert!(got <= rate * (1.0 + 1e-12) && got >= rate * (1.0 - 1e-6), "{rate}: {got}");
        }
        assert_eq!(rate_from_float(f64::NAN, S), Err(Invalid::NotANumber));
        assert_eq!(rate_from_float(-1.0, S), Err(Invalid::Negative));
        assert_eq!(rate_from_float(f64::INFINITY, S), Err(Invalid::Infinite));
        assert_eq!(rate_from_float(1e300, S), Err(Invalid::TooLarge));
        assert_eq!(rate_from_float(5e-324, S), Err(Invalid::TooLarge));
    }

    #[test]
    fn numbers_become_what_the_field_counts_in() {
        let field = |unit| Field {
            config: "x",
            name: "y",
            unit,
            min: 0,
            max: u64::MAX,
            default: None,
            default_text: "",
            doc: "",
        };
        assert_eq!(field(Unit::Span).from_float(30.0, 1), Ok(30_000_000_000));
        assert_eq!(field(Unit::Span).from_float(0.1, 1), Ok(100_000_000));
        assert_eq!(field(Unit::Span).from_float(250.0, 1000), Ok(250_000_000));
        assert_eq!(field(Unit::Ratio).from_float(0.5, 1), Ok(500_000));
        assert_eq!(field(Unit::Factor).from_float(1.5, 1), Ok(1_500));
        assert_eq!(field(Unit::Count).from_float(1.5, 1), Err(Invalid::Fraction));
        assert_eq!(field(Unit::Count).from_float(f64::NAN, 1), Err(Invalid::NotANumber));
        assert_eq!(field(Unit::Choice(&["a", "b"])).from_text("b"), Ok(1));
        assert_eq!(field(Unit::Choice(&["a", "b"])).from_text("c"), Err(Invalid::UnknownName));
    }
}
