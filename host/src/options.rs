//! A configuration's field by its name, from what Python and Node pass.

use core::fmt;

use seawall::ConfigError;
use seawall::config::{Config, Field, Given, Invalid, Unit, parse_rate, rate_from_float, spanning};

/// A value as a dynamic language passes it.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A number.
    Number(f64),
    /// A whole number that a float might not hold.
    Whole(u64),
    /// A span of time, in nanoseconds.
    Span(u64),
    /// Text.
    Text(&'a str),
    /// Anything else.
    Other,
}

/// Why an option was refused.
#[derive(Clone, Debug)]
pub enum OptionError {
    /// There is no option of that name.
    Unknown {
        /// The configuration.
        config: &'static str,
        /// The name.
        name: String,
    },
    /// The value is impossible.
    Config(ConfigError),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { config, name } => write!(f, "{config} has no option {name}"),
            Self::Config(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OptionError {}

impl From<ConfigError> for OptionError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

/// `config` with the field `name` set. Numbers of spans count `per_second` to the second: 1 for
/// seconds, 1000 for milliseconds. Set fields in the order of `FIELDS`.
///
/// # Errors
/// An unknown name, or a value that is no value of that field; ranges are checked with the whole.
pub fn set<C: Config>(config: C, name: &str, value: Value<'_>, per_second: u32) -> Result<C, OptionError> {
    let place = C::FIELDS.iter().position(|field| field.name == name);
    let Some(place) = place else {
        let config = C::FIELDS.first().map_or("", |field| field.config);
        return Err(OptionError::Unknown { config, name: name.to_owned() });
    };
    let field = &C::FIELDS[place];
    let refuse = |invalid| OptionError::Config(ConfigError::invalid(field, invalid));
    if name == "rate" {
        return Ok(rate(config, place, value)?);
    }
    if let (Value::Span(_) | Value::Text(_), Some(span)) = (value, spanning(C::FIELDS, place)) {
        return set(config, C::FIELDS[span].name, value, per_second);
    }
    let value = match value {
        Value::Span(nanos) if field.unit == Unit::Span => Ok(nanos),
        Value::Whole(count) if field.unit == Unit::Count => Ok(count),
        Value::Whole(whole) => field.from_float(whole as f64, per_second),
        Value::Number(number) => field.from_float(number, per_second),
        Value::Text(text) => field.from_text(text),
        Value::Span(_) | Value::Other => Err(Invalid::WrongType),
    };
    Ok(config.with(place, value.map_err(refuse)?))
}

/// A rate may be a number per `period`, or text that brings its own period; one that is stated beside it
/// must be the same.
fn rate<C: Config>(config: C, place: usize, value: Value<'_>) -> Result<C, ConfigError> {
    let refuse = |invalid| ConfigError::invalid(&C::FIELDS[place], invalid);
    let period = C::FIELDS.iter().position(|field| field.name == "period").ok_or(refuse(Invalid::WrongType))?;
    let stated = config.get(period);
    let nanos = stated.or(C::FIELDS[period].default).unwrap_or(1_000_000_000);
    let (count, nanos) = match value {
        Value::Whole(count) => (count, nanos),
        Value::Number(number) => rate_from_float(number, nanos).map_err(refuse)?,
        Value::Text(text) => {
            let (count, nanos) = parse_rate(text).map_err(refuse)?;
            match stated {
                Some(stated) if stated != nanos => return Err(contradicted(&C::FIELDS[period], stated)),
                _ => (count, nanos),
            }
        }
        Value::Span(_) | Value::Other => return Err(refuse(Invalid::WrongType)),
    };
    Ok(config.with(place, count).with(period, nanos))
}

/// A period beside a rate whose text names another.
fn contradicted(period: &'static Field, stated: u64) -> ConfigError {
    let mut error = ConfigError::invalid(period, Invalid::WrongType);
    error.given = Given::Value(stated);
    // An empty range: it must be left out.
    (error.min, error.max) = (1, 0);
    error.because = "the rate names its own period";
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall::{CircuitBreakerConfig, TokenBucketConfig};

    fn breaker(name: &str, value: Value<'_>) -> Result<CircuitBreakerConfig, String> {
        let config = set(CircuitBreakerConfig::new(), name, value, 1).map_err(|e| e.to_string())?;
        config.check().map_err(|e| e.to_string())?;
        Ok(config)
    }

    #[test]
    fn options_are_set_by_name() {
        let config = breaker("reset_after", Value::Number(2.0)).unwrap();
        assert_eq!(config, CircuitBreakerConfig::new().reset_after(core::time::Duration::from_secs(2)));
        assert_eq!(breaker("reset_after", Value::Text("2s")).unwrap(), config);
    }

    #[test]
    fn a_window_is_a_number_of_calls_or_a_span() {
        let minute = CircuitBreakerConfig::new().window_span(core::time::Duration::from_secs(60));
        assert_eq!(breaker("window", Value::Text("60s")).unwrap(), minute);
        assert_eq!(breaker("window", Value::Span(60_000_000_000)).unwrap(), minute);
        assert_eq!(breaker("window_span", Value::Number(60.0)).unwrap(), minute);
        assert_eq!(breaker("window", Value::Whole(60)).unwrap(), CircuitBreakerConfig::new().window(60));
        for (value, text) in [
            (Value::Text("5ms"), "circuit_breaker.window_span: 5 ms is not allowed; allowed are 10 ms to 24 h"),
            (
                Value::Text("sixty"),
                "circuit_breaker.window_span: text that is no span of time (write 250ms, 30s, 1.5h) is not allowed; \
                 allowed are 10 ms to 24 h",
            ),
            (Value::Other, "circuit_breaker.window: a value of this type is not allowed; allowed are 2 to 1024"),
        ] {
            assert_eq!(breaker("window", value).unwrap_err(), text);
        }
        assert!(breaker("trials", Value::Span(1)).is_err(), "there is no span beside it");
    }

    #[test]
    fn what_is_no_value_is_refused_with_field_value_and_range() {
        for (name, value, text) in [
            ("trials", Value::Number(0.0), "circuit_breaker.trials: 0 is not allowed; allowed are 1 to 15"),
            ("trials", Value::Number(1.5), "circuit_breaker.trials: a fraction is not allowed; allowed are 1 to 15"),
            (
                "failure_rate",
                Value::Number(f64::NAN),
                "circuit_breaker.failure_rate: nan is not allowed; allowed are 0.000001 to 1",
            ),
            (
                "failure_rate",
                Value::Number(1.5),
                "circuit_breaker.failure_rate: 1.5 is not allowed; allowed are 0.000001 to 1",
            ),
            (
                "mode",
                Value::Text("ajar"),
                "circuit_breaker.mode: an unknown name is not allowed; allowed are normal, forced-open, disabled, shadow",
            ),
            (
                "reset_after",
                Value::Number(-1.0),
                "circuit_breaker.reset_after: a negative number is not allowed; allowed are 1 ms to 7 d",
            ),
            ("retries", Value::Number(1.0), "circuit_breaker has no option retries"),
        ] {
            assert_eq!(breaker(name, value).unwrap_err(), text);
        }
    }

    #[test]
    fn a_rate_is_a_number_or_text() {
        let bucket = |rate| set(TokenBucketConfig::new().capacity(1), "rate", rate, 1).map(|c| c.check().map(|()| c));
        assert_eq!(
            bucket(Value::Text("100/min")).unwrap(),
            bucket(Value::Whole(100)).unwrap().map(|c| { c.period(core::time::Duration::from_secs(60)) })
        );
        assert!(bucket(Value::Number(0.5)).unwrap().is_ok());
        assert!(bucket(Value::Number(0.0)).unwrap().is_err());
    }

    #[test]
    fn a_period_that_contradicts_the_text_of_the_rate_is_refused() {
        let bucket = |period| {
            let config = set(TokenBucketConfig::new(), "period", period, 1).unwrap();
            set(config, "rate", Value::Text("100/min"), 1)
        };
        assert_eq!(
            bucket(Value::Number(1.0)).unwrap_err().to_string(),
            "token_bucket.period: 1 s is not allowed; it must be left out (the rate names its own period)"
        );
        let alone = set(TokenBucketConfig::new(), "rate", Value::Text("100/min"), 1).unwrap();
        assert_eq!(bucket(Value::Text("60s")).unwrap(), alone, "one that says the same is welcome");
    }
}
