//! Why a configuration is impossible: field, value, allowed range.

use core::fmt;
use core::time::Duration;

use super::{Field, Invalid, Unit};
use crate::decision::Span;

/// A configuration that cannot be. Its text is the same in every language:
///
/// ```
/// use seawall::{CircuitBreaker, CircuitBreakerConfig};
///
/// let error = CircuitBreaker::new(&CircuitBreakerConfig::new().trials(0)).unwrap_err();
/// assert_eq!(error.to_string(), "circuit_breaker.trials: 0 is not allowed; allowed are 1 to 15");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// The field.
    pub field: &'static Field,
    /// What was given.
    pub given: Given,
    /// The least that would have been allowed, in the field's unit.
    pub min: u64,
    /// The most that would have been allowed.
    pub max: u64,
    /// What narrowed the range, or forbids the field altogether; empty when the field's own range did.
    pub because: &'static str,
}

/// What was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Given {
    /// This, in the field's unit.
    Value(u64),
    /// Something that is no value of this field at all.
    Invalid(Invalid),
}

impl ConfigError {
    pub(crate) const fn range(field: &'static Field, value: u64, min: u64, max: u64) -> Self {
        Self { field, given: Given::Value(value), min, max, because: "" }
    }

    pub(crate) const fn because(mut self, because: &'static str) -> Self {
        self.because = because;
        self
    }

    /// The error for something that a face could not turn into a value of `field`.
    #[must_use]
    pub const fn invalid(field: &'static Field, invalid: Invalid) -> Self {
        Self { field, given: Given::Invalid(invalid), min: field.min, max: field.max, because: "" }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}: ", self.field.config, self.field.name)?;
        match self.given {
            Given::Value(value) => Value(value, self.field.unit).fmt(f)?,
            Given::Invalid(invalid) => f.write_str(invalid.name())?,
        }
        f.write_str(" is not allowed; ")?;
        match self.field.unit {
            _ if self.min > self.max => f.write_str("it must be left out")?,
            Unit::Choice(names) => {
                f.write_str("allowed are ")?;
                for (i, name) in names.iter().enumerate() {
                    write!(f, "{}{name}", if i == 0 { "" } else { ", " })?;
                }
            }
            unit => write!(f, "allowed are {} to {}", Value(self.min, unit), Value(self.max, unit))?,
        }
        if self.because.is_empty() { Ok(()) } else { write!(f, " ({})", self.because) }
    }
}

impl core::error::Error for ConfigError {}

impl Field {
    /// `value` of this field as people write it: `30 s`, `0.5`, `forced-open`.
    pub fn show(&self, value: u64) -> impl fmt::Display + use<> {
        Value(value, self.unit)
    }
}

/// A value in its unit, as people write it.
struct Value(u64, Unit);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Unit::Count => write!(f, "{}", self.0),
            Unit::Span => Span(Duration::from_nanos(self.0)).fmt(f),
            Unit::Ratio => decimal::<1_000_000>(f, self.0),
            Unit::Factor => decimal::<1_000>(f, self.0),
            Unit::Choice(names) => match names.get(self.0 as usize) {
                Some(name) => f.write_str(name),
                None => write!(f, "choice {}", self.0),
            },
        }
    }
}

/// `value / ONE` without trailing zeros. By hand, since a width as an argument can panic.
fn decimal<const ONE: u64>(f: &mut fmt::Formatter<'_>, value: u64) -> fmt::Result {
    write!(f, "{}", value / ONE)?;
    let mut rest = value % ONE;
    if rest > 0 {
        f.write_str(".")?;
    }
    while rest > 0 {
        rest *= 10;
        write!(f, "{}", rest / ONE)?;
        rest %= ONE;
    }
    Ok(())
}
