//! The token bucket: its operations as data, the engine, and the plain model.

mod engine;
mod model;
mod ops;

pub use engine::Engine;
pub use model::Model;
pub use ops::{Answer, Op, Step};
