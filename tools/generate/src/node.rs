//! The option types of Node.

use seawall::config::{Field, Unit};

use crate::NOTE;
use crate::configs::{
    CHOICES, CONFIGS, Config, choice_name, default_text, is_or_span, is_rate, is_required, range_text,
};
use crate::text::{camel, wrapped};

pub(crate) fn options() -> String {
    let mut out = format!(
        "// {NOTE}\n\n\
         /** Milliseconds, or text such as \"250ms\", \"30s\", \"1.5h\". */\n\
         export type Span = number | string;\n"
    );
    for (name, choices) in CHOICES {
        let choices: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
        out += &format!("\nexport type {name} = {};\n", choices.join(" | "));
    }
    for config in CONFIGS {
        out += &interface(config);
    }
    out
}

fn interface(config: &Config) -> String {
    let about = camel_fields(config, config.about);
    let mut out = format!("\n/**\n{}\n */\nexport interface {}Options {{\n", wrapped(&about, " * ", 110), config.name);
    for field in config.fields {
        let default = default_text(field).map_or_else(|| "must be stated".into(), |text| format!("default {text}"));
        let doc = camel_fields(config, &format!("{} ({}; {default})", field.doc, range_text(field)));
        let mark = if is_required(field) { "" } else { "?" };
        out += &format!(
            "  /**\n{}\n   */\n  {}{mark}: {};\n",
            wrapped(&doc, "   * ", 110),
            camel(field.name),
            annotation(config, field)
        );
    }
    out + "}\n"
}

/// `text` with the names of fields as Node spells them.
fn camel_fields(config: &Config, text: &str) -> String {
    let names = config.fields.iter().map(|field| field.name).filter(|name| name.contains('_'));
    names.fold(text.to_owned(), |text, name| text.replace(name, &camel(name)))
}

fn annotation(config: &Config, field: &Field) -> &'static str {
    match field.unit {
        Unit::Count if is_rate(config, field) => "number | string",
        Unit::Count if is_or_span(config, field) => "number | string",
        Unit::Span => "Span",
        Unit::Choice(names) => choice_name(names),
        _ => "number",
    }
}
