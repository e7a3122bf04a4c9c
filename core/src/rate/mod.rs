//! Rate limiters: how many, how fast.

pub mod token_bucket;

pub use token_bucket::{Fill, Grant, Refund, Reservation, TokenBucket, TokenBucketConfig};
