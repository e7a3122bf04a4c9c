//! What the engine is held against: plain sequential models that share no code with it, and the
//! conformance vectors.
//!
//! An operation is data ([`breaker::Op`], [`bucket::Op`]). Engine and model are asked the same and must
//! answer the same. Used by the fuzz targets, the property tests and the vectors.

pub mod backoff;
pub mod bodies;
pub mod breaker;
pub mod bucket;
pub mod budget;
pub mod policy;
pub mod vectors;
