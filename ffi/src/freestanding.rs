//! The panic handler that does not link.
//!
//! It calls a function that nobody defines. A linker that drops unused sections drops it with the
//! handler when no panic can be reached, and names it when one can.

use core::panic::PanicInfo;

unsafe extern "C" {
    fn sw_a_panic_can_be_reached() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: there is no such function, so this is never executed: what calls it does not link.
    unsafe { sw_a_panic_can_be_reached() }
}
