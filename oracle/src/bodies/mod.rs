//! What the fuzz targets run, as plain functions of a byte string, so that a seeded test can replay the
//! same without a fuzzer.

mod backoff;
mod circuit_breaker;
mod config_text;
mod event_ring;
mod memory;
mod policy;
mod retry_budget;
mod rules;
mod source;
mod token_bucket;
mod wire;

pub use backoff::backoff;
pub use circuit_breaker::circuit_breaker;
pub use config_text::config_text;
pub use event_ring::event_ring;
pub use policy::policy;
pub use retry_budget::retry_budget;
pub use rules::{deadline, retry};
pub use token_bucket::token_bucket;
pub use wire::wire;
