//! What the native faces (C, Python, Node) share.
//!
//! - [`MonotonicClock`]: the operating system's monotonic clock in absolute nanoseconds, so that the
//!   processes of one host agree on what an instant is.
//! - [`seed`]: randomness of the operating system.
//! - [`set`]: a configuration's field by its name, from what Python and Node pass.

mod clock;
mod options;

pub use clock::MonotonicClock;
pub use options::{OptionError, Value, set};

/// 64 bits of the operating system's randomness, for [`seawall::Random::seeded`].
///
/// # Errors
/// When the operating system has none to give.
pub fn seed() -> Result<u64, getrandom::Error> {
    getrandom::u64()
}
