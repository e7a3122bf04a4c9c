//! What words are made of.
//!
//! State that must agree lives in one atomic word. A primitive is then a pure function
//! `step(word, config, event, now) -> (word, answer)` in a file without atomics, and everything that
//! is hard about concurrency happens once, here:
//!
//! - [`bits`]: named fields of a word;
//! - [`deadline`]: instants cut down to a few bits that stay right for years;
//! - [`cell`]: the one compare-and-swap loop that publishes what a step returns;
//! - [`slots`]: configuration that changes while running, and the protocol for it;
//! - [`storage`]: state of any size in a `static`, a box, a C struct or mapped memory;
//! - [`ring`]: the last transitions, for whoever polls.

pub(crate) mod bits;
pub(crate) mod cell;
pub(crate) mod deadline;
pub(crate) mod ring;
pub(crate) mod slots;
pub(crate) mod storage;
