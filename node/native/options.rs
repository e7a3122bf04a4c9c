//! From what JavaScript gives to a configuration, and from a refusal to what JavaScript throws.

use seawall::config::{Config, parse_span};
use seawall::{ChangeError, ConfigError};
use seawall_host::{OptionError, Value as Given, set};

use crate::node_api::{Argument, Call, Value};
use crate::objects::Refusal;

/// Numbers of spans are milliseconds.
const PER_SECOND: u32 = 1000;

/// The configuration that the list `[name, value, name, value, ...]` at `place` states. Fields are set
/// in the order of `FIELDS`, whatever the order of the list.
pub(crate) fn config<C: Config>(call: &Call<'_>, place: usize) -> Result<C, Value> {
    let mut given: Vec<(String, Argument)> = Vec::new();
    let mut list = call.list(place).into_iter();
    while let (Some(name), Some(value)) = (list.next(), list.next()) {
        if let Argument::Text(name) = name {
            given.push((name, value));
        }
    }
    given.sort_by_key(|(name, _)| C::FIELDS.iter().position(|field| field.name == *name));
    let mut config = C::new();
    for (name, value) in &given {
        let value = match value {
            Argument::Undefined => continue,
            Argument::Number(number) => Given::Number(*number),
            Argument::Whole(whole) => Given::Whole(*whole),
            Argument::Text(text) => Given::Text(text),
            Argument::Other => Given::Other,
        };
        config = set(config, name, value, PER_SECOND).map_err(|error| option_error(&error))?;
    }
    config.check().map_err(|error| config_error(&error))?;
    Ok(config)
}

fn option_error(error: &OptionError) -> Value {
    match error {
        OptionError::Config(error) => config_error(error),
        OptionError::Unknown { .. } => failure(&error.to_string()),
    }
}

/// `{error, field, allowed}`; the sentence is the same in every language.
pub(crate) fn config_error(error: &ConfigError) -> Value {
    let sentence = error.to_string();
    let allowed = sentence.split_once(" is not allowed; ").map_or("", |(_, allowed)| allowed);
    Value::Object(vec![
        ("field", error.field.name.into()),
        ("allowed", allowed.into()),
        ("error", sentence.as_str().into()),
    ])
}

/// `{error}`: what went wrong, where no field is at fault.
fn failure(text: &str) -> Value {
    Value::Object(vec![("error", text.into())])
}

pub(crate) fn change_error(error: &ChangeError) -> Value {
    match error {
        ChangeError::Config(error) => config_error(error),
        other => failure(&other.to_string()),
    }
}

pub(crate) fn open_error(error: &Refusal<ConfigError>) -> Value {
    match error {
        Refusal::Full => failure("all 1048576 places for objects of this kind are taken; close some"),
        Refusal::OtherOptions => {
            failure("an object of this name was made from other options; attach to it, or give the same")
        }
        Refusal::Setup(error) => config_error(error),
    }
}

/// Text such as `250ms` in nanoseconds.
pub(crate) fn span(text: &str) -> Result<f64, &'static str> {
    parse_span(text).map(|nanos| nanos as f64).map_err(seawall::config::Invalid::name)
}
