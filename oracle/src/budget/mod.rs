//! The retry budget: a plain model of it, and the engine's asked in the same words.

mod engine;
mod model;
mod ops;

pub use engine::Engine;
pub use model::Model;
pub use ops::{Answer, Op};
