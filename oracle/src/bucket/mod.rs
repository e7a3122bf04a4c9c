//! The token bucket: its operations as data, the engine, and the plain model.

mod engine;
mod ops;

pub use engine::Engine;
pub use ops::{Answer, Op, Step};
