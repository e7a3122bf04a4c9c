//! Answers and errors by number.

/// What a function answers. Zero is yes, a positive number is another answer, a negative one is a
/// mistake of the caller's: nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum sw_status {
    /// Yes; done; it counted.
    SW_OK = 0,
    /// No: the call may not be made, the tokens were not taken. Nothing has changed.
    SW_REFUSED = 1,
    /// The settlement gave the place of a trial back, if there was one, and counted for nothing.
    SW_NEUTRAL = 2,
    /// The settlement came from before the last change of state and changed nothing.
    SW_STALE = 3,
    /// There is no event after the cursor yet.
    SW_EMPTY = 4,
    /// A pointer that must not be NULL is.
    SW_ERR_NULL = -1,
    /// A pointer is not aligned as its type must be (8 bytes for state).
    SW_ERR_MISALIGNED = -2,
    /// The storage has fewer bytes than one element needs.
    SW_ERR_STORAGE = -3,
    /// The state was never initialised, with this size and this version's layout; or its bytes are no
    /// state.
    SW_ERR_UNCONFIGURED = -4,
    /// The configuration is impossible; `sw_..._config_explain` says why.
    SW_ERR_CONFIG = -5,
    /// Three other changes of this configuration are under way; try again.
    SW_ERR_BUSY = -6,
    /// The permit or reservation is empty: it was settled already, or never granted.
    SW_ERR_SETTLED = -7,
    /// A number is none of its enumeration.
    SW_ERR_VALUE = -8,
    /// The system has no randomness to give.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "there is no system to ask"))]
    SW_ERR_RANDOMNESS = -9,
}

impl sw_status {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 14] = [
        Self::SW_OK,
        Self::SW_REFUSED,
        Self::SW_NEUTRAL,
        Self::SW_STALE,
        Self::SW_EMPTY,
        Self::SW_ERR_NULL,
        Self::SW_ERR_MISALIGNED,
        Self::SW_ERR_STORAGE,
        Self::SW_ERR_UNCONFIGURED,
        Self::SW_ERR_CONFIG,
        Self::SW_ERR_BUSY,
        Self::SW_ERR_SETTLED,
        Self::SW_ERR_VALUE,
        Self::SW_ERR_RANDOMNESS,
    ];
}

impl From<core_seawall::ChangeError> for sw_status {
    fn from(error: core_seawall::ChangeError) -> Self {
        match error {
            core_seawall::ChangeError::Config(_) => Self::SW_ERR_CONFIG,
            core_seawall::ChangeError::Busy => Self::SW_ERR_BUSY,
            _ => Self::SW_ERR_UNCONFIGURED,
        }
    }
}

/// Runs a function's body; either way a status comes out.
#[inline]
pub(crate) fn status(body: impl FnOnce() -> Result<sw_status, sw_status>) -> sw_status {
    match body() {
        Ok(answer) => answer,
        Err(error) => error,
    }
}
