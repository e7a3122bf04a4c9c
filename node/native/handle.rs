//! What JavaScript holds instead of a pointer.
//!
//! | 30..28 | 27..20 | 19..0 |
//! |---|---|---|
//! | kind, never 0 | incarnation | index |
//!
//! 31 bits, so that V8 keeps it as a small integer. A slot stores the handle it was given out under;
//! a handle is good when the two are equal, which checks all three parts in one comparison. 256 lives
//! of one slot bring an incarnation round.

pub(crate) const INDEX_BITS: u32 = 20;
const INCARNATION_BITS: u32 = 8;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
const INCARNATION_MASK: u32 = (1 << INCARNATION_BITS) - 1;

/// What a handle leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Breaker = 1,
    Bucket = 2,
    Clock = 3,
    Budget = 4,
}

pub(crate) const fn handle(kind: Kind, incarnation: u32, index: u32) -> u32 {
    (kind as u32) << (INDEX_BITS + INCARNATION_BITS)
        | (incarnation & INCARNATION_MASK) << INDEX_BITS
        | index & INDEX_MASK
}

pub(crate) const fn index(handle: u32) -> usize {
    (handle & INDEX_MASK) as usize
}

pub(crate) const fn kind(handle: u32) -> Option<Kind> {
    match handle >> (INDEX_BITS + INCARNATION_BITS) {
        1 => Some(Kind::Breaker),
        2 => Some(Kind::Bucket),
        3 => Some(Kind::Clock),
        4 => Some(Kind::Budget),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_come_back_and_no_handle_is_zero() {
        for of in [Kind::Breaker, Kind::Bucket, Kind::Clock, Kind::Budget] {
            let made = handle(of, 600, 77);
            assert_eq!((kind(made), index(made)), (Some(of), 77));
            assert_eq!(made, handle(of, 600 - 512, 77), "incarnations come round");
            assert!(made > 0 && made < 1 << 31);
        }
        assert_eq!((kind(0), kind(u32::MAX >> 1 | 1 << 31)), (None, None));
    }
}
