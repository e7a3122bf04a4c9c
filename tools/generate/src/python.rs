//! The option types of Python.

use seawall::config::{Field, Unit};

use crate::NOTE;
use crate::configs::{
    CHOICES, CONFIGS, Config, choice_name, default_text, is_or_span, is_rate, is_required, range_text,
};
use crate::text::wrapped;

pub(crate) fn options() -> String {
    let mut out = format!(
        "# {NOTE}\n\
         from datetime import timedelta\n\
         from typing import Literal, TypeAlias, TypedDict\n\n\
         from typing_extensions import Required\n\n\
         Span: TypeAlias = float | timedelta | str\n\
         \"\"\"Seconds, a timedelta, or text such as \"250ms\", \"30s\", \"1.5h\".\"\"\"\n"
    );
    for (name, choices) in CHOICES {
        let choices: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
        out += &format!("\n{name}: TypeAlias = Literal[{}]\n", choices.join(", "));
    }
    for config in CONFIGS {
        out += &class(config);
    }
    out
}

fn class(config: &Config) -> String {
    let about = wrapped(&format!("\"\"\"{}\"\"\"", config.about), "    ", 110);
    let mut out = format!("\nclass {}Options(TypedDict, total=False):\n{about}\n", config.name);
    for field in config.fields {
        let default = default_text(field).map_or_else(|| "must be stated".into(), |text| format!("default {text}"));
        let doc = format!("\"\"\"{} ({}; {default})\"\"\"", field.doc, range_text(field));
        out += &format!("\n    {}: {}\n{}\n", field.name, annotation(config, field), wrapped(&doc, "    ", 110));
    }
    out
}

fn annotation(config: &Config, field: &Field) -> String {
    let plain = match field.unit {
        Unit::Count if is_rate(config, field) => "float | str",
        Unit::Count if is_or_span(config, field) => "int | timedelta | str",
        Unit::Count => "int",
        Unit::Span => "Span",
        Unit::Choice(names) => choice_name(names),
        _ => "float",
    };
    if is_required(field) { format!("Required[{plain}]") } else { format!("{plain} | None") }
}
