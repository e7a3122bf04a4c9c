//! To be filled in this change.
