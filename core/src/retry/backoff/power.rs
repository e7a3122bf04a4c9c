//! A factor to the power of a retry's number, in integers and in a few steps.

/// `mantissa * 2^(exponent - 63)`; the highest bit of the mantissa is set, or all is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Power {
    mantissa: u64,
    exponent: u64,
}

/// Beyond this every product is more than any span.
const HUGE: u64 = 1 << 20;

impl Power {
    const ONE: Self = Self { mantissa: 1 << 63, exponent: 0 };

    /// The factor `thousandths / 1000`, rounded to the nearest; below one it is nothing.
    pub(super) const fn of_thousandths(thousandths: u64) -> Self {
        // Scaled by 2^64, so that the highest bit is bit 64 for a factor from one up to two.
        let scaled = (((thousandths as u128) << 65) / 1000 + 1) >> 1;
        match (127 - (scaled | 1).leading_zeros() as u64).checked_sub(64) {
            Some(exponent) => Self { mantissa: (scaled >> (exponent + 1)) as u64, exponent },
            None => Self { mantissa: 0, exponent: 0 },
        }
    }

    pub(super) const fn to_words(self) -> [u64; 2] {
        [self.mantissa, self.exponent]
    }

    pub(super) const fn from_words([mantissa, exponent]: [u64; 2]) -> Self {
        Self { mantissa, exponent }
    }

    const fn times(self, other: Self) -> Self {
        let product = self.mantissa as u128 * other.mantissa as u128;
        let carry = (product >> 127) as u64;
        let exponent = self.exponent.saturating_add(other.exponent).saturating_add(carry);
        Self { mantissa: (product >> (63 + carry)) as u64, exponent: if exponent > HUGE { HUGE } else { exponent } }
    }

    /// To the `n`th power.
    #[inline]
    pub(super) const fn to(self, n: u32) -> Self {
        let (mut result, mut square, mut n) = (Self::ONE, self, n);
        while n > 0 {
            if n & 1 == 1 {
                result = result.times(square);
            }
            square = square.times(square);
            n >>= 1;
        }
        result
    }

    /// `span` times the `n`th power, at most `cap`, if that is a power of two: most are, and it is a shift then.
    #[inline]
    pub(super) const fn shifted(self, n: u32, span: u64, cap: u64) -> Option<u64> {
        if self.mantissa != 1 << 63 {
            return None;
        }
        let shift = self.exponent.saturating_mul(n as u64);
        // What would be shifted out is beyond every cap.
        if shift >= span.leading_zeros() as u64 {
            return Some(if span == 0 { 0 } else { cap });
        }
        let grown = span << shift;
        Some(if grown > cap { cap } else { grown })
    }

    /// `span` so many times, rounded to the nearest, at most `cap`.
    #[inline]
    pub(super) const fn scale(self, span: u64, cap: u64) -> u64 {
        if self.exponent > 63 {
            return cap;
        }
        let drop = 63 - self.exponent;
        let product = span as u128 * self.mantissa as u128;
        let half = if drop == 0 { 0 } else { 1u128 << (drop - 1) };
        let scaled = (product + half) >> drop;
        if scaled > cap as u128 { cap } else { scaled as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_common_factors_are_exact_to_the_nanosecond() {
        let second = 1_000_000_000;
        for (thousandths, n, want) in [
            (2_000, 0, second),
            (2_000, 10, 1_024 * second),
            (1_500, 3, 3_375_000_000),
            (1_100, 2, 1_210_000_000),
            (1_001, 1, 1_001_000_000),
            (10_000, 5, 100_000 * second),
            (1_000, u32::MAX, second),
        ] {
            assert_eq!(Power::of_thousandths(thousandths).to(n).scale(second, u64::MAX), want, "{thousandths}^{n}");
        }
    }

    #[test]
    fn the_short_way_is_the_long_way() {
        for thousandths in [1_000, 2_000, 4_000, 64_000] {
            let power = Power::of_thousandths(thousandths);
            for n in [0, 1, 2, 5, 9, 10, 31, 62, 63, 64, 65, u32::MAX] {
                for span in [1, 3, 1_000_000_000, 86_400_000_000_000] {
                    for cap in [span, 1 << 46, 86_400_000_000_000 * 3] {
                        let long = power.to(n).scale(span, cap);
                        assert_eq!(power.shifted(n, span, cap), Some(long), "{span} * {thousandths}^{n}, cap {cap}");
                    }
                }
            }
        }
        assert_eq!(Power::of_thousandths(3_000).shifted(1, 1, 9), None);
    }

    #[test]
    fn whatever_the_power_the_cap_holds() {
        for thousandths in [1_001, 2_000, 100_000] {
            for n in [64, 1_000_000, u32::MAX] {
                let scaled = Power::of_thousandths(thousandths).to(n).scale(1, 77);
                assert!(scaled <= 77, "{thousandths}^{n}");
            }
        }
        assert_eq!(Power::of_thousandths(2_000).to(u32::MAX).scale(1, 77), 77);
    }
}
