//! The circuit breaker: its operations as data, the engine, and the plain model.

mod engine;
mod model;
mod ops;
mod rules;
mod span;

pub use engine::Engine;
pub use model::Model;
pub use ops::{Answer, Change, Figures, Kind, No, Op, Step};
