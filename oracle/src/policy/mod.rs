//! A whole outbound call: the plain model, the engine in the same words, and the words.

mod engine;
mod model;
mod ops;
mod rules;

pub use engine::{Engine, Parts};
pub use model::Model;
pub use ops::{Ended, Op, Over, Said, Say};
pub use rules::Config;
