//! Names in other spellings, and text in lines of a bearable length.

use seawall::config::{Field, Unit};

/// `reset_after` as `resetAfter`.
pub(crate) fn camel(name: &str) -> String {
    let mut words = name.split(['_', '-']);
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |camel, word| camel + &capital(word))
}

/// `word` as `Word`.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `CircuitBreaker` or `forced-open` as `CIRCUIT_BREAKER` and `FORCED_OPEN`.
pub(crate) fn shout(name: &str) -> String {
    let mut out = String::new();
    for (i, letter) in name.chars().enumerate() {
        if i > 0 && letter.is_uppercase() {
            out.push('_');
        }
        out.extend(if letter == '-' { '_' } else { letter }.to_uppercase());
    }
    out
}

/// A field's name in C, where the unit is part of the name.
pub(crate) fn c_name(field: &Field) -> String {
    let suffix = match field.unit {
        Unit::Span => "_ns",
        Unit::Ratio => "_ppm",
        Unit::Factor => "_permille",
        _ => "",
    };
    format!("{}{suffix}", field.name)
}

/// `text` in lines of at most `width` characters, each led by `lead`.
pub(crate) fn wrapped(text: &str, lead: &str, width: usize) -> String {
    let mut lines = vec![String::from(lead)];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first line");
        if line.len() > lead.len() && line.len() + 1 + word.len() > width {
            lines.push(format!("{lead}{word}"));
        } else {
            if line.len() > lead.len() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelt_as_each_language_does() {
        assert_eq!(camel("reset_after"), "resetAfter");
        assert_eq!(camel("mode"), "mode");
        assert_eq!(shout("CircuitBreaker"), "CIRCUIT_BREAKER");
        assert_eq!(shout("forced-open"), "FORCED_OPEN");
        assert_eq!(shout("trials_busy"), "TRIALS_BUSY");
    }

    #[test]
    fn lines_break_between_words_and_keep_their_lead() {
        assert_eq!(wrapped("one two three", " * ", 10), " * one two\n * three");
        assert_eq!(wrapped("incomprehensibility is long", "# ", 9), "# incomprehensibility\n# is long");
    }
}
