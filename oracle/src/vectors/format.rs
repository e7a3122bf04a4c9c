//! The files, as `core/vectors/README.md` describes them.

use std::collections::BTreeMap;

use seawall::config::Config;
use serde::{Deserialize, Serialize};

use crate::breaker::No;

/// The version of the format.
pub const FORMAT: u32 = 1;

/// A number that may exceed 2^53: a string of decimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Decimal(pub u64);

impl From<Decimal> for String {
    fn from(value: Decimal) -> Self {
        value.0.to_string()
    }
}

impl TryFrom<String> for Decimal {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl Decimal {
    pub(super) fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

/// A configuration: what was given, by name.
pub type Given = BTreeMap<String, Decimal>;

/// What was given in `config`.
pub fn given<C: Config>(config: &C) -> Given {
    let fields = C::FIELDS.iter().enumerate();
    fields.filter_map(|(place, field)| Some((field.name.to_owned(), Decimal(config.get(place)?)))).collect()
}

/// The configuration in which that was given.
///
/// # Panics
/// When there is no such field.
#[must_use]
pub fn config<C: Config>(given: &Given) -> C {
    given.iter().fold(C::new(), |config, (name, value)| {
        let place = C::FIELDS.iter().position(|field| field.name == name);
        config.with(place.unwrap_or_else(|| panic!("no field {name}")), value.0)
    })
}

/// A file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct File<S> {
    pub generated: String,
    pub format: u32,
    pub primitive: String,
    pub scenarios: Vec<Scenario<S>>,
    pub config_errors: Vec<Impossible>,
}

/// A scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Scenario<S> {
    pub name: String,
    pub about: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub misuse: bool,
    pub config: Given,
    pub start_ns: Decimal,
    pub steps: Vec<S>,
}

/// A configuration that is refused, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Impossible {
    pub config: Given,
    pub error: String,
}

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "core/vectors/README.md describes the keys")]
pub struct Refusal {
    pub layer: String,
    pub reason: String,
    pub when: String,
    pub at_ns: Option<Decimal>,
    pub explain: String,
}

impl Refusal {
    pub(super) fn new(no: &No, sentence: Option<&String>) -> Self {
        let (when, at_ns) = match no.when {
            seawall::When::At(at) => ("at", Some(at)),
            seawall::When::Never => ("never", None),
            seawall::When::Depends { estimate } => ("depends", estimate),
            other => panic!("no name for {other:?}"),
        };
        Self {
            layer: no.layer.name().to_owned(),
            reason: no.reason.name().to_owned(),
            when: when.to_owned(),
            at_ns: at_ns.map(|at| Decimal(at.as_nanos())),
            explain: sentence.cloned().unwrap_or_default(),
        }
    }

    /// Without its sentence, which a model does not write.
    #[must_use]
    pub fn mute(mut self) -> Self {
        self.explain.clear();
        self
    }
}

impl<S: Serialize> File<S> {
    /// The file's text: a line per step, so that a change shows where it is.
    ///
    /// # Panics
    /// Never: all keys are strings.
    #[must_use]
    pub fn text(&self) -> String {
        let json = |value: &dyn erased::Json| value.json();
        let mut text = format!(
            "{{\"generated\": {},\n\"format\": {}, \"primitive\": {},\n\"scenarios\": [",
            json(&self.generated),
            self.format,
            json(&self.primitive)
        );
        for (i, scenario) in self.scenarios.iter().enumerate() {
            text += if i == 0 { "\n" } else { ",\n" };
            let misuse = if scenario.misuse { " \"misuse\": true," } else { "" };
            text += &format!(
                "{{\"name\": {}, \"about\": {},{misuse}\n \"config\": {}, \"start_ns\": {}, \"steps\": [",
                json(&scenario.name),
                json(&scenario.about),
                json(&scenario.config),
                json(&scenario.start_ns)
            );
            for (i, step) in scenario.steps.iter().enumerate() {
                text += if i == 0 { "\n  " } else { ",\n  " };
                text += &step.json();
            }
            text += "]}";
        }
        text += "],\n\"config_errors\": [";
        for (i, error) in self.config_errors.iter().enumerate() {
            text += if i == 0 { "\n" } else { ",\n" };
            text += &error.json();
        }
        text + "]}\n"
    }
}

use erased::Json as _;

mod erased {
    /// A value as JSON in one line.
    pub(super) trait Json {
        fn json(&self) -> String;
    }

    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> String {
            serde_json::to_string(self).expect("all keys are strings")
        }
    }
}
