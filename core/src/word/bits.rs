//! Named fields of a 64-bit word.

/// A run of bits: `width` of them, the lowest at `low`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits {
    low: u32,
    max: u64,
}

impl Bits {
    /// The field of `width` bits (1 to 63) whose lowest bit is `low`.
    pub(crate) const fn new(low: u32, width: u32) -> Self {
        assert!(width >= 1 && width < 64 && low + width <= 64);
        Self { low, max: (1 << width) - 1 }
    }

    /// The largest value that fits.
    pub(crate) const fn max(self) -> u64 {
        self.max
    }

    /// Ones where the field is.
    pub(crate) const fn mask(self) -> u64 {
        self.max << self.low
    }

    /// The field's value in `word`.
    pub(crate) const fn get(self, word: u64) -> u64 {
        (word >> self.low) & self.max
    }

    /// A word that holds `value` here and zeros elsewhere; what does not fit is cut off.
    pub(crate) const fn of(self, value: u64) -> u64 {
        (value & self.max) << self.low
    }

    /// `word` with `value` in this field.
    pub(crate) const fn put(self, word: u64, value: u64) -> u64 {
        (word & !self.mask()) | self.of(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_touches_its_own_bits_only() {
        let middle = Bits::new(20, 10);
        for value in [0, 1, 513, 1023] {
            let word = middle.put(u64::MAX, value);
            assert_eq!(middle.get(word), value);
            assert_eq!(word | middle.mask(), u64::MAX);
            assert_eq!(middle.get(middle.of(value)), value);
        }
        assert_eq!(middle.put(0, 1024), 0, "what does not fit is cut off");
    }
}
