//! The constants of C: what is stable by number.

use seawall::config::{Field, Unit};
use seawall::policy::{Cut, End, Pause, Receipt};
use seawall::{Cause, Evidence, Failure, Layer, Reason, Settlement, State};

use crate::NOTE;
use crate::configs::{CHOICES, CONFIGS, default_text, range_text};
use crate::text::{c_name, shout, wrapped};

pub(crate) fn constants() -> String {
    let mut out = format!(
        "/* {NOTE} */\n\
         #ifndef SEAWALL_CONSTANTS_H\n\
         #define SEAWALL_CONSTANTS_H\n"
    );
    let stable =
        |(number, name, meaning): (u8, &'static str, &'static str)| (number, name.to_owned(), meaning.to_owned());
    out +=
        &constants_of("layer", "Who refused.", Layer::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))));
    out += &constants_of(
        "reason",
        "Why it refused.",
        Reason::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))),
    );
    out += &constants_of(
        "cause",
        "Why a circuit breaker changed its state.",
        Cause::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))),
    );
    out += &constants_of(
        "settlement",
        "What became of a settlement.",
        Settlement::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))),
    );
    out +=
        &constants_of("end", "Why a call ended.", End::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))));
    out += &constants_of(
        "failure",
        "How an attempt failed.",
        Failure::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))),
    );
    out += &constants_of(
        "evidence",
        "What a breaker makes of the end of a call.",
        Evidence::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))),
    );
    out += &constants_of(
        "cut",
        "Why an attempt is cut off.",
        Cut::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))),
    );
    out += &constants_of(
        "pause",
        "What a call waits for.",
        Pause::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))),
    );
    out += &constants_of(
        "receipt",
        "What became of an input.",
        Receipt::ALL.iter().map(|x| stable((x.number(), x.name(), x.meaning()))),
    );
    out += &constants_of(
        "state",
        "The measured state of a circuit breaker.",
        [State::Closed, State::Open, State::HalfOpen].map(|x| (x as u8, x.name().to_owned(), String::new())),
    );
    for (name, choices) in CHOICES {
        let choices = choices.iter().enumerate().map(|(i, choice)| (i as u8, (*choice).to_owned(), String::new()));
        out += &constants_of(&shout(name).to_lowercase(), "", choices);
    }
    for config in CONFIGS {
        let fields = config.fields.iter().enumerate().map(|(i, field)| {
            let default = default_text(field).map_or_else(|| "must be stated".into(), |text| format!("default {text}"));
            (i as u8, c_name(field), format!("{} ({}; {default})", field.doc, range(field)))
        });
        out += &constants_of(&format!("{}_field", config.id), config.about, fields);
    }
    out + "\n#endif\n"
}

/// The range in the numbers that C passes, where they are not what people write.
fn range(field: &Field) -> String {
    match field.unit {
        Unit::Ratio => format!("{} to {} parts per million of one", field.min, field.max),
        Unit::Factor => format!("{} to {} thousandths", field.min, field.max),
        _ => range_text(field),
    }
}

/// A comment, on one line when it fits.
fn comment(text: &str, indent: &str) -> String {
    let line = format!("{indent}/* {text} */");
    if line.len() <= 110 {
        return line + "\n";
    }
    format!("{indent}/*\n{}\n{indent} */\n", wrapped(text, &format!("{indent} * "), 110))
}

fn constants_of(name: &str, about: &str, all: impl IntoIterator<Item = (u8, String, String)>) -> String {
    let mut out = String::from("\n");
    if !about.is_empty() {
        out += &comment(about, "");
    }
    out += &format!("enum sw_{name} {{\n");
    let prefix = shout(name.trim_end_matches("_field"));
    for (number, constant, meaning) in all {
        if !meaning.is_empty() {
            out += &comment(&meaning, "    ");
        }
        out += &format!("    SW_{prefix}_{} = {number},\n", shout(&constant));
    }
    out + "};\n"
}
