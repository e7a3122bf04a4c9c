//! Sentences into buffers, as snprintf does it.

use core::ffi::{CStr, c_char};
use core::fmt::{Display, Write};

use crate::caller::Caller;

/// Writes what fits of `sentence` and a NUL; returns how long it is without the NUL.
pub(crate) fn put(caller: Caller<'_>, text: *mut c_char, size: usize, sentence: impl Display) -> usize {
    let mut out = Out { buffer: caller.buffer(text, size), length: 0 };
    // `Out` never fails.
    let _ = write!(out, "{sentence}");
    out.end()
}

/// The text of a C string of ours, for sentences made of several.
pub(crate) fn of(text: &'static CStr) -> &'static str {
    text.to_str().unwrap_or("")
}

struct Out<'a> {
    buffer: Option<&'a mut [u8]>,
    length: usize,
}

impl Out<'_> {
    fn end(self) -> usize {
        if let Some(buffer) = self.buffer {
            let end = self.length.min(buffer.len().saturating_sub(1));
            if let Some(byte) = buffer.get_mut(end) {
                *byte = 0;
            }
        }
        self.length
    }
}

impl Write for Out<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        if let Some(room) = self.buffer.as_deref_mut().and_then(|buffer| buffer.get_mut(self.length..)) {
            for (byte, &from) in room.iter_mut().zip(text.as_bytes()) {
                *byte = from;
            }
        }
        self.length = self.length.saturating_add(text.len());
        Ok(())
    }
}
