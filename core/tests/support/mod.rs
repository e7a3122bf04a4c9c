//! What the tests of whole primitives share.
#![allow(dead_code, reason = "every test file uses a part of it")]

pub(crate) mod breaker_history;
pub(crate) mod bucket_history;
pub(crate) mod budget_history;
pub(crate) mod linearizability;
pub(crate) mod sequential;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) mod single_step;
pub(crate) mod threads;
