//! State in memory whose bytes are somebody else's making.

use seawall::{Stored, place};

use super::source::Source;

/// Memory for a state of `words` words.
#[derive(Debug)]
pub(super) struct Memory(Vec<u64>);

impl Memory {
    /// Bytes drawn from the source. The configuration slots (`slots` times `width` words from `first` on)
    /// mostly get tags that agree, since words without them are refused before anything else is read.
    pub(super) fn arbitrary(source: &mut Source<'_>, words: usize, first: usize, slots: usize, width: usize) -> Self {
        let mut memory: Vec<u64> = (0..words).map(|_| source.bytes(8)).collect();
        let agree = source.byte();
        for slot in 0..slots {
            if agree & (1 << slot) != 0 || agree > 200 {
                let tag = 1 + u64::from(agree);
                for word in &mut memory[first + slot * width..first + (slot + 1) * width] {
                    *word = *word & ((1 << 48) - 1) | tag << 48;
                }
            }
        }
        Self(memory)
    }

    /// Zeroed.
    pub(super) fn zeroed(words: usize) -> Self {
        Self(vec![0; words])
    }

    pub(super) fn state<T: Stored + ?Sized>(&mut self) -> &T {
        let bytes = self.0.len() * 8;
        // SAFETY: the words are exclusively ours while the reference lives, and aligned to 8 bytes.
        let state = unsafe { place(self.0.as_mut_ptr(), bytes) };
        state.expect("as many words as the state has")
    }

    pub(super) fn set_first(&mut self, word: u64) {
        self.0[0] = word;
    }

    pub(super) fn words(&self) -> Vec<u64> {
        self.0.clone()
    }
}
