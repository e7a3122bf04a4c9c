//! The one keyed hash of keys.
//!
//! Keys (API keys, addresses, tenants) are hashed with SipHash-1-3 under a secret of 128 bits that
//! the caller gives, so that nobody who does not know the secret can choose keys that collide. It is
//! the only hash of keys in the crate, so that a table shared by several languages is read alike by all.
//!
//! Source: Aumasson, Bernstein: *SipHash: a fast short-input PRF*, 2012; the crate `siphasher`.

use core::hash::Hasher;
use siphasher::sip::SipHasher13;

/// The secret of one table, 128 bits from a source of real randomness.
#[derive(Clone, Copy)]
pub struct Secret([u8; 16]);

impl Secret {
    /// Wraps 16 random bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The 64-bit hash of `key` under `secret`.
#[must_use]
pub fn hash(secret: &Secret, key: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new_with_key(&secret.0);
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_decides_the_hash() {
        let (a, b) = (Secret::new([1; 16]), Secret::new([2; 16]));
        assert_eq!(hash(&a, b"u1"), hash(&a, b"u1"));
        assert_ne!(hash(&a, b"u1"), hash(&b, b"u1"));
        assert_ne!(hash(&a, b"u1"), hash(&a, b"u2"));
    }

    #[test]
    fn the_secret_is_not_shown() {
        assert_eq!(std::format!("{:?}", Secret::new([7; 16])), "Secret(..)");
    }

    /// First of the reference vectors for SipHash-1-3 with the key 00..0f and an empty message.
    #[test]
    fn it_is_siphash_1_3() {
        let secret = Secret::new(core::array::from_fn(|i| i as u8));
        assert_eq!(hash(&secret, b"").to_le_bytes(), [0xdc, 0xc4, 0x0f, 0x05, 0x58, 0x01, 0xac, 0xab]);
    }
}
