//! Options by name, from what Python passes to what the engine counts in.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use seawall::config::{Config, Unit};
use seawall::{BackoffConfig, ChangeError, CircuitBreakerConfig, ConfigError, TokenBucketConfig};
use seawall_host::{OptionError, Value, set};

use crate::breaker::CircuitBreaker;
use crate::bucket::TokenBucket;
use crate::clock::ManualClock;
use crate::errors;
use crate::span::{delta_nanos, seconds};

/// `config` with `options` set; `None` as a value leaves an option at its default.
pub(crate) fn with<C: Config>(config: C, options: Option<&Bound<'_, PyDict>>) -> PyResult<C> {
    let Some(options) = options else { return Ok(config) };
    let mut result = C::new();
    let mut known = 0;
    for (place, field) in C::FIELDS.iter().enumerate() {
        match options.get_item(field.name)? {
            Some(value) => {
                known += 1;
                if !value.is_none() {
                    result = set_one(result, field.name, field.unit, &value, options)?;
                }
            }
            None => {
                if let Some(value) = config.get(place) {
                    result = result.with(place, value);
                }
            }
        }
    }
    if known != options.len() {
        return Err(unknown(result, options));
    }
    Ok(result)
}

fn unknown<C: Config>(config: C, options: &Bound<'_, PyDict>) -> PyErr {
    for name in options.keys() {
        let name = name.to_string();
        if let Err(error @ OptionError::Unknown { .. }) = set(config, &name, Value::Other, 1) {
            return PyTypeError::new_err(error.to_string());
        }
    }
    PyTypeError::new_err("an unknown option")
}

fn set_one<C: Config>(
    config: C,
    name: &str,
    unit: Unit,
    value: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<C> {
    let text;
    let mut per_second = 1;
    let parsed = if value.is_instance_of::<PyBool>() {
        Value::Other
    } else if let Ok(string) = value.cast::<PyString>() {
        text = string.to_cow()?;
        Value::Text(&text)
    } else if value.is_instance_of::<PyInt>() {
        match value.extract() {
            Ok(whole) => Value::Whole(whole),
            // Below zero, or beyond 64 bits: as a float it is refused for what it is.
            Err(_) => Value::Number(value.extract().unwrap_or(f64::INFINITY)),
        }
    } else if value.is_instance_of::<PyFloat>() {
        Value::Number(value.extract()?)
    } else if let (Unit::Span | Unit::Count, Some(nanos)) = (unit, delta_nanos(value)?) {
        per_second = 1_000_000_000;
        u64::try_from(nanos).map_or(Value::Number(nanos as f64), Value::Span)
    } else {
        // Decimal, Fraction, the numbers of numpy.
        value.extract().map_or(Value::Other, Value::Number)
    };
    set(config, name, parsed, per_second).map_err(|error| match error {
        OptionError::Unknown { .. } => PyTypeError::new_err(error.to_string()),
        OptionError::Config(error) => refused(value.py(), &error, Some(options)),
    })
}

/// The exception for a refused configuration, with the value that Python gave for the field at fault.
pub(crate) fn refused(py: Python<'_>, error: &ConfigError, options: Option<&Bound<'_, PyDict>>) -> PyErr {
    let value = options.and_then(|options| options.get_item(error.field.name).ok().flatten());
    errors::config(py, error.to_string(), error.field.name, value.map(Bound::unbind))
}

pub(crate) fn change_refused(py: Python<'_>, error: ChangeError, options: Option<&Bound<'_, PyDict>>) -> PyErr {
    match error {
        ChangeError::Config(error) => refused(py, &error, options),
        error => PyRuntimeError::new_err(error.to_string()),
    }
}

/// What an object was configured with, for pickling. Only changes come here; no Python code runs while
/// the lock is held.
#[derive(Debug)]
pub(crate) struct Given<C>(Mutex<C>);

impl<C: Config> Given<C> {
    pub(crate) const fn new(config: C) -> Self {
        Self(Mutex::new(config))
    }

    /// Has `apply` put what `next` makes of the present one in force, and keeps it when that went well.
    pub(crate) fn replace<E>(
        &self,
        next: impl FnOnce(C) -> C,
        apply: impl FnOnce(&C) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = next(*given);
        apply(&next)?;
        *given = next;
        Ok(())
    }

    /// What is in force.
    pub(crate) fn present(&self) -> C {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fields that were given, in the engine's own units: what pickling keeps.
    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let config = self.present();
        let given = PyDict::new(py);
        for (place, field) in C::FIELDS.iter().enumerate() {
            if let Some(value) = config.get(place) {
                given.set_item(field.name, value)?;
            }
        }
        Ok(given)
    }
}

/// The backoff of whoever names none.
pub(crate) fn usual_backoff(py: Python<'_>) -> PyResult<seawall::Backoff> {
    seawall::Backoff::new(&BackoffConfig::new()).map_err(|error| refused(py, &error, None))
}

/// What was given, as options of the constructor. `exact`: spans as text to the nanosecond, for pickling;
/// otherwise in seconds, for people.
pub(crate) fn to_python<'py, C: Config>(config: &C, exact: bool, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let given = PyDict::new(py);
    for (place, field) in C::FIELDS.iter().enumerate() {
        let Some(value) = config.get(place) else { continue };
        match field.unit {
            Unit::Span if exact => given.set_item(field.name, format!("{value}ns"))?,
            Unit::Span => given.set_item(field.name, seconds(value))?,
            Unit::Ratio => given.set_item(field.name, value as f64 / 1e6)?,
            Unit::Factor => given.set_item(field.name, value as f64 / 1e3)?,
            Unit::Choice(names) => {
                let name = usize::try_from(value).ok().and_then(|place| names.get(place));
                given.set_item(field.name, name)?;
            }
            _ => given.set_item(field.name, value)?,
        }
    }
    Ok(given)
}

/// A configuration that states this option alone.
pub(crate) fn one<C: Config>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<C> {
    let options = PyDict::new(value.py());
    options.set_item(name, value)?;
    let field = C::FIELDS.iter().find(|field| field.name == name);
    let field = field.ok_or_else(|| unknown(C::new(), &options))?;
    set_one(C::new(), field.name, field.unit, value, &options)
}

/// The mode alone of `config`, if it states one.
pub(crate) fn mode_of(config: CircuitBreakerConfig) -> CircuitBreakerConfig {
    let place = CircuitBreakerConfig::FIELDS.iter().position(|field| field.name == "mode");
    let stated = place.and_then(|place| Some((place, config.get(place)?)));
    stated.map_or_else(CircuitBreakerConfig::new, |(place, mode)| CircuitBreakerConfig::new().with(place, mode))
}

/// What `upper` states, and what `lower` states beside that.
pub(crate) fn over<C: Config>(upper: C, lower: C) -> C {
    (0..C::FIELDS.len()).fold(lower, |both, place| upper.get(place).map_or(both, |value| both.with(place, value)))
}

/// From fields in the engine's own units.
pub(crate) fn from_fields<C: Config>(fields: &Bound<'_, PyDict>) -> PyResult<C> {
    let mut config = C::new();
    for (name, value) in fields {
        let name: String = name.extract()?;
        let place = C::FIELDS.iter().position(|field| field.name == name);
        let place = place.ok_or_else(|| PyTypeError::new_err(format!("no field {name}")))?;
        config = config.with(place, value.extract()?);
    }
    Ok(config)
}

/// A breaker from fields in the engine's own units: what its pickle calls.
#[pyfunction(name = "_breaker_from_fields")]
#[pyo3(signature = (fields, name=None, clock=None, random=None, ignore=None, is_failure=None, is_failure_result=None,
    retry_after_of=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn breaker_from_fields(
    fields: &Bound<'_, PyDict>,
    name: Option<&Bound<'_, PyString>>,
    clock: Option<Py<ManualClock>>,
    random: Option<&Bound<'_, PyAny>>,
    ignore: Option<&Bound<'_, PyAny>>,
    is_failure: Option<Py<PyAny>>,
    is_failure_result: Option<Py<PyAny>>,
    retry_after_of: Option<Py<PyAny>>,
) -> PyResult<CircuitBreaker> {
    let rules = crate::rules::Rules::new(ignore, is_failure, is_failure_result, retry_after_of)?;
    CircuitBreaker::make(fields.py(), from_fields(fields)?, None, name, clock, random, rules)
}

/// A bucket from fields in the engine's own units: what its pickle calls.
#[pyfunction(name = "_bucket_from_fields")]
#[pyo3(signature = (fields, name=None, clock=None))]
pub(crate) fn bucket_from_fields(
    fields: &Bound<'_, PyDict>,
    name: Option<&Bound<'_, PyString>>,
    clock: Option<Py<ManualClock>>,
) -> PyResult<TokenBucket> {
    TokenBucket::make(fields.py(), from_fields(fields)?, None, name, clock)
}

/// The options of both constructors: `{configuration: [name, ...]}`, for the tests of the stubs.
#[pyfunction(name = "_fields")]
pub(crate) fn fields(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for fields in [CircuitBreakerConfig::FIELDS, TokenBucketConfig::FIELDS] {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        all.set_item(fields[0].config, names)?;
    }
    Ok(all)
}
