//! The models under loom and shuttle. Ordinary builds run the same bodies as unit tests, with real
//! threads (see the end of `src/lib.rs`); this target is empty then.
//!
//! `tools/loom.py` runs them in both modes and holds them to `floors.toml`; `tools/mutants.py` breaks
//! the protocols (`mutants/*.toml`) and expects a model to fail.
#![cfg(any(seawall_loom, seawall_shuttle))]

mod cell;
mod circuit_breaker;
mod config_slots;
mod event_ring;
mod harness;
mod long_window;
mod policy;
mod retry_budget;
mod span_window;
mod storage;
mod token_bucket;
