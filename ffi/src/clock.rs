//! The system's clock.

use core_seawall::Clock;

/// The system's monotonic clock in absolute nanoseconds: CLOCK_MONOTONIC, or what the platform has in
/// its place. The processes of one host agree on it. Hosted builds only.
///
/// Cost: one `clock_gettime`, about 21 ns on Linux. Thread- and signal-safe.
#[unsafe(no_mangle)]
pub extern "C" fn sw_now_ns() -> u64 {
    seawall_host::MonotonicClock.now().as_nanos()
}
