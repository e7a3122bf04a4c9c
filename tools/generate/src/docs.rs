//! The tables in the docs. The prose around them is written by hand; a table lies between
//! `<!-- table NAME: generated ... -->` and `<!-- end -->`.

use std::fmt::Write;

use seawall::config::{Invalid, Unit};
use seawall::policy::{Cut, End, Pause, Receipt};
use seawall::{Cause, Evidence, Failure, Layer, Reason, Settlement};

use crate::NOTE;
use crate::configs::{CONFIGS, Config, default_text, range_text};
use crate::text::{c_name, camel};

/// A table: the name of its place, its text.
pub(crate) type Table = (&'static str, String);

/// The documents and their tables.
pub(crate) fn documents() -> Vec<(String, Vec<Table>)> {
    let mut documents = vec![(
        "docs/reasons.md".to_owned(),
        vec![
            ("layers", stable(Layer::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("reasons", stable(Reason::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("causes", stable(Cause::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("settlements", stable(Settlement::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("ends", stable(End::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("failures", stable(Failure::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("evidence", stable(Evidence::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("cuts", stable(Cut::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("pauses", stable(Pause::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("receipts", stable(Receipt::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
            ("invalid", stable(Invalid::ALL.iter().map(|x| (x.number(), x.name(), x.meaning())))),
        ],
    )];
    for config in CONFIGS {
        documents
            .push((format!("docs/{}.md", config.id), vec![("options", options(config)), ("names", names(config))]));
    }
    documents
}

/// What is stable by number and name.
fn stable(all: impl Iterator<Item = (u8, &'static str, &'static str)>) -> String {
    let mut out = String::from("| number | name | meaning |\n|---|---|---|\n");
    for (number, name, meaning) in all {
        let _ = writeln!(out, "| {number} | `{name}` | {meaning} |");
    }
    out
}

fn options(config: &Config) -> String {
    let mut out =
        String::from("| option | allowed | default | what it does, and why this default |\n|---|---|---|---|\n");
    for field in config.fields {
        let default = default_text(field).unwrap_or_else(|| "must be stated".into());
        let _ = writeln!(out, "| `{}` | {} | {default} | {} |", field.name, range_text(field), field.doc);
    }
    out
}

fn names(config: &Config) -> String {
    let mut out = String::from("| Rust, Python | Node | C |\n|---|---|---|\n");
    for field in config.fields {
        let python = match field.unit {
            Unit::Span => "s",
            _ => "",
        };
        let node = if python.is_empty() { "" } else { " (ms)" };
        let python = if python.is_empty() { String::new() } else { format!(" (Python: {python})") };
        let _ = writeln!(out, "| `{}`{python} | `{}`{node} | `{}` |", field.name, camel(field.name), c_name(field));
    }
    out
}

/// `text` with every table in its place.
pub(crate) fn filled(text: &str, tables: &[Table]) -> Result<String, String> {
    const END: &str = "<!-- end -->";
    let mut text = text.to_owned();
    for (name, table) in tables {
        let begin = format!("<!-- table {name}: {NOTE} -->\n");
        let from = text.find(&begin).ok_or_else(|| format!("no line {}", begin.trim_end()))? + begin.len();
        let to = from + text[from..].find(END).ok_or_else(|| format!("table {name} has no line {END}"))?;
        text.replace_range(from..to, &format!("\n{table}\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_put_between_its_marks_and_nothing_else_changes() {
        let text = format!("before\n<!-- table t: {NOTE} -->\nold\n<!-- end -->\nafter\n");
        let filled_in = filled(&text, &[("t", "| new |\n".into())]).unwrap();
        assert_eq!(filled_in, format!("before\n<!-- table t: {NOTE} -->\n\n| new |\n\n<!-- end -->\nafter\n"));
        assert_eq!(filled(&filled_in, &[("t", "| new |\n".into())]).unwrap(), filled_in);
    }

    #[test]
    fn a_document_without_a_place_for_a_table_is_refused() {
        assert!(filled("nothing here", &[("t", String::new())]).unwrap_err().contains("no line <!-- table t"));
        let open = format!("<!-- table t: {NOTE} -->\n");
        assert!(filled(&open, &[("t", String::new())]).unwrap_err().contains("no line <!-- end -->"));
    }
}
