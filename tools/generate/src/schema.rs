//! JSON Schema (draft 2020-12) of each configuration, as it is written in a policy file.
//!
//! Spans are text with a unit, since a bare number would mean seconds to one reader and milliseconds
//! to another. What a schema cannot say (a range of spans, a relation between two fields) is in the
//! descriptions and in the annotations that begin with `x-`; the engine checks it.

use seawall::config::{Field, Unit};
use serde_json::{Map, Value, json};

use crate::configs::{Config, default_text, is_rate, is_required, range_text};
use crate::{NOTE, configs};

/// A span as text: a decimal number and a unit.
const SPAN: &str = r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*(ns|us|µs|ms|s|sec|second|m|min|minute|h|hour|d|day)";

/// What may follow the stroke of a rate: a unit, or a span.
const PERIOD: &str = r"(([0-9]+\.?[0-9]*|\.[0-9]+)\s*)?(ns|us|µs|ms|s|sec|second|m|min|minute|h|hour|d|day)";

pub(crate) fn schema(config: &Config) -> String {
    let properties: Map<String, Value> =
        config.fields.iter().map(|field| (field.name.to_owned(), property(config, field))).collect();
    let required: Vec<&str> = config.fields.iter().filter(|field| is_required(field)).map(|field| field.name).collect();
    let schema = json!({
        "$comment": NOTE,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": config.id,
        "description": config.about,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    format!("{schema:#}\n")
}

fn property(config: &Config, field: &Field) -> Value {
    let mut property = Map::new();
    let mut put = |key: &str, value: Value| property.insert(key.to_owned(), value);
    put("description", description(field).into());
    match field.unit {
        Unit::Count if is_rate(config, field) => {
            let count = json!({ "type": "integer", "minimum": field.min, "maximum": field.max });
            put("anyOf", json!([count, { "type": "string", "pattern": format!(r"^\s*[0-9]+\s*/\s*{PERIOD}\s*$") }]));
            put("examples", json!(["100/s", "5000/h", 100]));
        }
        Unit::Count if configs::is_or_span(config, field) => {
            let count = json!({ "type": "integer", "minimum": field.min, "maximum": field.max });
            put("anyOf", json!([count, { "type": "string", "pattern": format!(r"^\s*{SPAN}\s*$") }]));
        }
        Unit::Count => {
            put("type", "integer".into());
            put("minimum", field.min.into());
            put("maximum", field.max.into());
        }
        Unit::Span => {
            let text = json!({ "type": "string", "pattern": format!(r"^\s*{SPAN}\s*$") });
            let off = json!({ "const": 0 });
            put("anyOf", if field.min == 0 { json!([text, off]) } else { json!([text]) });
            put("x-unit", "ns".into());
            put("x-minimum", field.min.into());
            put("x-maximum", field.max.into());
        }
        Unit::Ratio => fraction(&mut put, field, 1e6),
        Unit::Factor => fraction(&mut put, field, 1e3),
        Unit::Choice(names) => {
            put("enum", names.into());
            put("title", configs::choice_name(names).into());
        }
        _ => unreachable!("a unit that the schema does not know"),
    }
    if let Some(value) = default(field) {
        put("default", value);
    }
    property.into()
}

/// What is counted in parts and written as a decimal number.
fn fraction(put: &mut impl FnMut(&str, Value) -> Option<Value>, field: &Field, one: f64) {
    put("type", "number".into());
    put("minimum", (field.min as f64 / one).into());
    put("maximum", (field.max as f64 / one).into());
}

fn default(field: &Field) -> Option<Value> {
    let value = field.default?;
    Some(match field.unit {
        Unit::Ratio => (value as f64 / 1e6).into(),
        Unit::Factor => (value as f64 / 1e3).into(),
        Unit::Span if value == 0 => 0.into(),
        Unit::Span => field.show(value).to_string().replace(' ', "").into(),
        Unit::Choice(names) => names[value as usize].into(),
        _ => value.into(),
    })
}

fn description(field: &Field) -> String {
    let default = default_text(field).map_or_else(|| "must be stated".into(), |text| format!("default {text}"));
    format!("{} ({}; {default})", field.doc, range_text(field))
}
