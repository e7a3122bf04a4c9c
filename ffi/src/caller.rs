//! Where pointers become references: the one place of this face that is unsafe.
//!
//! Every exported function begins with [`Caller::promises`], the only unsafe thing it does. What a
//! pointer's value can tell is then checked here: null, misaligned, too short.

use core::marker::PhantomData;

use core_seawall::{StorageError, Stored, place};

use crate::status::sw_status;

/// A caller's promise about the pointers of one call.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a>(PhantomData<&'a ()>);

impl<'a> Caller<'a> {
    /// Takes the caller at their word.
    ///
    /// # Safety
    /// For all of `'a`, every pointer of the call that is not null points to memory as large as its
    /// type (or the length passed with it) says, readable if it is const and writable if not. State
    /// (`sw_circuit_breaker` and the like) is touched by this library only; the rest by nobody else.
    pub(crate) unsafe fn promises() -> Self {
        Self(PhantomData)
    }

    /// State of fixed size.
    #[inline]
    pub(crate) fn state<T: Stored, C>(self, state: *const C) -> Result<&'a T, sw_status> {
        const { assert!(size_of::<T>() == size_of::<C>(), "the header's struct has another size than the state") };
        self.storage(state, size_of::<C>())
    }

    /// State of variable size: `bytes` bytes at `state`.
    #[inline]
    pub(crate) fn storage<T: Stored + ?Sized, C>(self, state: *const C, bytes: usize) -> Result<&'a T, sw_status> {
        if state.is_null() {
            return Err(sw_status::SW_ERR_NULL);
        }
        // SAFETY: the memory is `bytes` bytes of the caller's state for all of 'a (`promises`), and
        // only this library touches it, through atomics. `place` checks alignment and size.
        unsafe { place(state.cast_mut().cast(), bytes) }.map_err(|error| match error {
            StorageError::Misaligned => sw_status::SW_ERR_MISALIGNED,
            _ => sw_status::SW_ERR_STORAGE,
        })
    }

    /// A value to read.
    #[inline]
    pub(crate) fn read<T: Copy>(self, value: *const T) -> Result<T, sw_status> {
        check(value)?;
        // SAFETY: not null and aligned (checked), readable (`promises`); `T` is made of integers
        // only (all of this face's structs are), so any bytes are a value.
        Ok(unsafe { value.read() })
    }

    /// A value to keep working on.
    #[inline]
    pub(crate) fn shared<T: Atomic>(self, value: *const T) -> Result<&'a T, sw_status> {
        check(value)?;
        // SAFETY: not null and aligned (checked), writable for all of 'a (`promises`); `Atomic`
        // vouches that any bytes are a value and that sharing it is sound.
        Ok(unsafe { &*value })
    }

    /// Where a result is wanted; null when it is not.
    #[inline]
    pub(crate) fn wanted<T: Copy>(self, out: *mut T) -> Result<Wanted<'a, T>, sw_status> {
        if !out.is_null() {
            check(out)?;
        }
        Ok(Wanted { out, _caller: self })
    }

    /// Where a result must be wanted.
    #[inline]
    pub(crate) fn out<T: Copy>(self, out: *mut T) -> Result<Wanted<'a, T>, sw_status> {
        check(out)?;
        self.wanted(out)
    }

    /// A value that is ours alone meanwhile.
    #[inline]
    pub(crate) fn own<T: Plain>(self, value: *mut T) -> Result<&'a mut T, sw_status> {
        check(value)?;
        // SAFETY: not null and aligned (checked), readable and writable for all of 'a and touched by
        // nobody else (`promises`); `Plain` vouches that any bytes are a value.
        Ok(unsafe { &mut *value })
    }

    /// Text that is there; none is null only when it has no byte.
    #[inline]
    pub(crate) fn bytes(self, text: *const core::ffi::c_char, size: usize) -> Result<&'a [u8], sw_status> {
        if size == 0 {
            return Ok(&[]);
        }
        if text.is_null() {
            return Err(sw_status::SW_ERR_NULL);
        }
        if size > isize::MAX as usize {
            return Err(sw_status::SW_ERR_VALUE);
        }
        // SAFETY: not null, at most isize::MAX bytes (checked), readable (`promises`).
        Ok(unsafe { core::slice::from_raw_parts(text.cast(), size) })
    }

    /// A buffer for text; none when it is null or has no byte.
    #[inline]
    pub(crate) fn buffer(self, text: *mut core::ffi::c_char, size: usize) -> Option<&'a mut [u8]> {
        if text.is_null() || size == 0 || size > isize::MAX as usize {
            return None;
        }
        // SAFETY: not null, at most isize::MAX bytes (checked), writable and ours alone (`promises`).
        // What the bytes are before is never looked at.
        Some(unsafe { core::slice::from_raw_parts_mut(text.cast(), size) })
    }
}

/// A value that callers share with us: made of 64-bit atomics.
///
/// # Safety
/// `#[repr(C)]` and made of `AtomicU64` throughout, and every bit pattern is a value.
pub(crate) unsafe trait Atomic {}

/// A value that a caller keeps for us and that nobody shares.
///
/// # Safety
/// `#[repr(C)]` and made of integers throughout, and every bit pattern is a value.
pub(crate) unsafe trait Plain {}

/// A place for a result, or none.
pub(crate) struct Wanted<'a, T> {
    out: *mut T,
    _caller: Caller<'a>,
}

impl<T: Copy> Wanted<'_, T> {
    /// Puts the result there, if it is wanted.
    #[inline]
    pub(crate) fn put(&self, result: impl FnOnce() -> T) {
        if !self.out.is_null() {
            // SAFETY: not null (checked here), aligned (checked when made), writable (`promises`).
            unsafe { self.out.write(result()) };
        }
    }
}

#[inline]
fn check<T>(pointer: *const T) -> Result<(), sw_status> {
    if pointer.is_null() {
        return Err(sw_status::SW_ERR_NULL);
    }
    if !pointer.is_aligned() {
        return Err(sw_status::SW_ERR_MISALIGNED);
    }
    Ok(())
}
