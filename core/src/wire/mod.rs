//! Header text to values and back.
//!
//! Without allocation and without a clock: wall-clock time appears in header text only, so who parses a
//! date says what time it is. Firmware and servers read the same text the same way. Hostile text of any
//! length is read once, from front to end, and never panics or overflows.
//!
//! What is not exactly one of the forms that a field allows is no value (`None`): the caller then does as if
//! the field were not there. There is no guessing, and no second form is tried after the first has failed.

pub mod deadline;
pub mod grpc;
pub mod http_date;
pub mod retry_after;

/// A field's value without the blanks around it, which do not belong to it.
fn trimmed(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    value.get(start..end).unwrap_or(&[])
}

/// A number of digits alone, however many; `u64::MAX` when it is larger. `None` for anything else.
fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |sum, &byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        Some(sum.saturating_mul(10).saturating_add(u64::from(digit)))
    })
}
