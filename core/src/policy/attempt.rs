//! The place of an attempt that is out, in six plain words.

use super::finish::Finish;
use crate::breaker::Token;
use crate::time::Instant;
use crate::word::bits::Bits;

/// | word | what |
/// |---|---|
/// | 0 | number 32, phase 3 (bits 32..34), own 1 (bit 35), permit 1 (bit 36) |
/// | 1 | the permit's token 32 |
/// | 2, 3 | when it was admitted; when it is cut off |
/// | 4, 5 | how it ended, see [`Finish`] |
#[derive(Debug)]
#[repr(C)]
pub(super) struct Place {
    word: u64,
    token: u64,
    admitted: u64,
    until: u64,
    finish: [u64; 2],
}

const NUMBER: Bits = Bits::new(0, 32);
const PHASE: Bits = Bits::new(32, 3);
const OWN: Bits = Bits::new(35, 1);
const PERMIT: Bits = Bits::new(36, 1);

/// Where an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nowhere: the place is free.
    Free,
    /// The breaker has said yes, the rate limit has not been asked.
    Permitted,
    /// Everybody has said yes; the caller has not been told.
    Admitted,
    /// Out.
    Running,
    /// The caller has said how it ended; the breaker has not been told.
    Finished,
    /// The breaker has been told that it was cut off; the caller has not.
    Cut,
}

impl Place {
    pub(super) const FREE: Self = Self { word: 0, token: 0, admitted: 0, until: 0, finish: [0; 2] };

    /// An attempt that the breaker has admitted, or that has none to ask.
    pub(super) fn permit(&mut self, number: u32, permit: Option<Token>, now: Instant) {
        self.word =
            NUMBER.of(u64::from(number)) | PERMIT.of(u64::from(permit.is_some())) | PHASE.of(Phase::Permitted as u64);
        self.token = permit.map_or(0, |token| u64::from(token.bits()));
        self.admitted = now.as_nanos();
        self.until = u64::MAX;
    }

    /// Any other number is a free place.
    pub(super) const fn phase(&self) -> Phase {
        match PHASE.get(self.word) {
            1 => Phase::Permitted,
            2 => Phase::Admitted,
            3 => Phase::Running,
            4 => Phase::Finished,
            5 => Phase::Cut,
            _ => Phase::Free,
        }
    }

    pub(super) const fn enter(&mut self, phase: Phase) {
        self.word = PHASE.put(self.word, phase as u64);
    }

    /// The place is free, whatever it was.
    pub(super) const fn clear(&mut self) {
        self.word = 0;
    }

    pub(super) const fn number(&self) -> u32 {
        NUMBER.get(self.word) as u32
    }

    /// Cut off then; `own`: by a timeout of its own, and not by a deadline that came sooner.
    pub(super) fn limit(&mut self, until: Instant, own: bool) {
        self.until = until.as_nanos();
        self.word = OWN.put(self.word, u64::from(own));
    }

    pub(super) const fn until(&self) -> Instant {
        Instant::from_nanos(self.until)
    }

    pub(super) const fn admitted(&self) -> Instant {
        Instant::from_nanos(self.admitted)
    }

    /// Whether being cut off is the dependency's fault.
    pub(super) const fn is_own(&self) -> bool {
        OWN.get(self.word) == 1
    }

    /// Whether a result that is not here at `now` comes too late.
    pub(super) const fn is_over(&self, now: Instant) -> bool {
        self.until != u64::MAX && self.until <= now.as_nanos()
    }

    /// Whether a result that is here at `now` came too late.
    pub(super) const fn is_late(&self, now: Instant) -> bool {
        self.until < now.as_nanos()
    }

    /// The permit, to be settled by whoever takes it: there is none afterwards.
    pub(super) fn take_permit(&mut self) -> Option<Token> {
        let permit = (PERMIT.get(self.word) == 1).then(|| Token::from_bits(self.token as u32));
        self.word = PERMIT.put(self.word, 0);
        permit
    }

    pub(super) fn finished(&mut self, finish: Finish) {
        self.finish = finish.to_words();
        self.enter(Phase::Finished);
    }

    pub(super) fn finish(&self) -> Finish {
        Finish::from_words(self.finish)
    }
}
