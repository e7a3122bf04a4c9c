//! The state of one call, and its inputs.

use super::attempt::{Phase, Place};
use super::finish::Finish;
use super::step::{End, Ending, Receipt};
use crate::deadline::Deadline;
use crate::decision::{Layer, Reason, Rejection, When};
use crate::rate::Reservation;
use crate::time::Instant;
use crate::word::bits::Bits;

/// One call to a dependency: what has been sent, what is awaited, why it ended.
///
/// A plain value of a fixed size without a pointer in it; the parts it asks are passed to each
/// [`poll`](Self::poll). It belongs to one caller at a time. All zero is a call that was never started.
/// Whatever its bytes are, no operation panics or hangs.
#[derive(Debug)]
#[repr(C, align(8))]
#[must_use = "a call does nothing until it is started and polled"]
pub struct Call {
    pub(super) head: u64,
    /// Where it is, in a word of its own: it changes at every turn.
    pub(super) stage: u64,
    /// Flags, and how many attempts were sent; see the fields below.
    pub(super) state: u64,
    /// When the whole call must be done.
    pub(super) deadline: u64,
    /// When the pause that runs is over.
    pub(super) next_at: u64,
    /// The pause before the last retry, and what the backoff had drawn for it.
    pub(super) pause: u64,
    pub(super) drawn: u64,
    /// Retries decided on 32, tickets given out 32.
    pub(super) counts: u64,
    /// The last failure, with its attempt in the upper half of the first word; the instant that it told.
    pub(super) last: [u64; 2],
    pub(super) told_at: u64,
    /// How it ended: end 8, layer 8, reason 8, kind of instant 2, attempt 32; and that instant.
    pub(super) ending: [u64; 2],
    /// The place in the rate limit that is held.
    pub(super) held: [u64; Reservation::WORDS],
    pub(super) places: [Place; Call::AT_ONCE],
}

/// What the head of a started call is: its kind and the version of its layout.
const HEAD: u64 = 0x01_43;

/// The deadline is the total timeout's, and not the caller's.
pub(super) const TOTAL: Bits = Bits::new(8, 1);
/// The caller wants no more of it.
pub(super) const CANCELLED: Bits = Bits::new(9, 1);
/// The budget has got its deposit.
pub(super) const DEPOSITED: Bits = Bits::new(10, 1);
/// The budget has given a retry that is not sent yet.
pub(super) const WITHDRAWN: Bits = Bits::new(11, 1);
/// A place in the rate limit is held.
pub(super) const HELD: Bits = Bits::new(12, 1);
/// The pause may be cut short: nobody told it.
pub(super) const WAKEABLE: Bits = Bits::new(13, 1);
pub(super) const ATTEMPTS: Bits = Bits::new(32, 32);

const FAILED: Bits = Bits::new(32, 32);

pub(super) const RETRIES: Bits = Bits::new(0, 32);
pub(super) const TICKET: Bits = Bits::new(32, 32);

const END: Bits = Bits::new(0, 8);
const LAYER: Bits = Bits::new(8, 8);
const REASON: Bits = Bits::new(16, 8);
const WHEN: Bits = Bits::new(24, 2);
const ATTEMPT: Bits = Bits::new(32, 32);

/// Where a call is, as far as its next attempt goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Never started.
    New,
    /// Started, never polled.
    Fresh,
    /// Waits for its pause to be over.
    Paused,
    /// Holds a place in the rate limit and waits for it.
    Queued,
    /// The next attempt is due.
    Due,
    /// The next attempt has its permit and needs the rest.
    Asking,
    /// No next attempt: those that are out decide.
    Out,
    /// All that were out have failed.
    Failed,
    /// Over.
    Done,
}

impl Call {
    /// How many attempts can be out at once.
    pub const AT_ONCE: usize = 4;

    /// A call that has not been started.
    pub const fn new() -> Self {
        Self {
            head: 0,
            stage: 0,
            state: 0,
            deadline: 0,
            next_at: 0,
            pause: 0,
            drawn: 0,
            counts: 0,
            last: [0; 2],
            told_at: 0,
            ending: [0; 2],
            held: [0; Reservation::WORDS],
            places: [const { Place::FREE }; Self::AT_ONCE],
        }
    }

    /// Starts it; `deadline` is when the caller wants the whole of it done ([`Deadline::NEVER`]: whenever).
    /// A call is started once.
    pub fn start(&mut self, deadline: Deadline) -> Receipt {
        if self.stage() != Stage::New {
            return Receipt::Stale;
        }
        // The other words are written before they are read.
        self.head = HEAD;
        self.stage = Stage::Fresh as u64;
        self.state = 0;
        self.deadline = deadline.instant().as_nanos();
        (self.pause, self.drawn, self.counts, self.last) = (0, 0, 0, [0; 2]);
        self.places.iter_mut().for_each(Place::clear);
        Receipt::Taken
    }

    /// An attempt has ended like this. Only the first result of an attempt that is out is taken.
    pub fn finished(&mut self, attempt: u32, finish: Finish) -> Receipt {
        if self.is_over() {
            return Receipt::Stale;
        }
        let out = |place: &&mut Place| place.phase() == Phase::Running && place.number() == attempt;
        match self.places.iter_mut().find(out) {
            Some(place) => {
                place.finished(finish);
                Receipt::Taken
            }
            None => Receipt::Stale,
        }
    }

    /// The pause with this ticket need not last any longer (the connection is back, say). A pause that
    /// the dependency told is not cut short.
    pub fn woken(&mut self, ticket: u64) -> Receipt {
        let waits = self.stage() == Stage::Paused && WAKEABLE.get(self.state) == 1;
        if self.is_over() || !waits || ticket != TICKET.get(self.counts) {
            return Receipt::Stale;
        }
        self.enter(Stage::Due);
        Receipt::Taken
    }

    /// The caller wants no more of it: no further attempt, and no verdict on those that are out.
    pub fn cancelled(&mut self) -> Receipt {
        if self.is_over() {
            return Receipt::Stale;
        }
        self.state = CANCELLED.put(self.state, 1);
        Receipt::Taken
    }

    /// How many attempts were sent.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        ATTEMPTS.get(self.state) as u32
    }

    /// Whether nothing that is told to it matters any more.
    fn is_over(&self) -> bool {
        matches!(self.stage(), Stage::New | Stage::Done) || CANCELLED.get(self.state) == 1
    }

    /// Any other number is a call that is over.
    pub(super) const fn stage(&self) -> Stage {
        if self.head != HEAD {
            return Stage::New;
        }
        match self.stage {
            1 => Stage::Fresh,
            2 => Stage::Paused,
            3 => Stage::Queued,
            4 => Stage::Due,
            5 => Stage::Asking,
            6 => Stage::Out,
            7 => Stage::Failed,
            _ => Stage::Done,
        }
    }

    pub(super) const fn enter(&mut self, stage: Stage) {
        self.stage = stage as u64;
    }

    /// Whether `flag` is up; it is down afterwards.
    pub(super) const fn take(&mut self, flag: Bits) -> bool {
        let up = flag.get(self.state) == 1;
        self.state = flag.put(self.state, 0);
        up
    }

    pub(super) const fn raise(&mut self, flag: Bits) {
        self.state = flag.put(self.state, 1);
    }

    /// The attempt that failed last; 0: none has.
    pub(super) const fn last_attempt(&self) -> u32 {
        FAILED.get(self.last[0]) as u32
    }

    /// An attempt has failed like this.
    pub(super) fn failed(&mut self, attempt: u32, finish: Finish, now: Instant) {
        let [head, wait] = finish.to_words();
        self.last = [FAILED.put(head, u64::from(attempt)), wait];
        self.told_at = finish.told_wait().map_or(0, |wait| now.after(wait).as_nanos());
    }

    pub(super) fn last(&self) -> Finish {
        Finish::from_words(self.last)
    }

    pub(super) const fn deadline(&self) -> Deadline {
        Deadline::at(Instant::from_nanos(self.deadline))
    }

    /// Writes down how it ended.
    pub(super) fn close(&mut self, end: End, attempt: u32, rejection: Option<Rejection>) {
        let mut word = END.of(u64::from(end.number())) | ATTEMPT.of(u64::from(attempt));
        let mut instant = 0;
        if let Some(Rejection { layer, reason, when }) = rejection {
            word |= LAYER.of(u64::from(layer.number())) | REASON.of(u64::from(reason.number()));
            let (kind, at) = match when {
                When::Never => (0, Instant::ZERO),
                When::At(at) => (1, at),
                When::Depends { estimate: Some(at) } => (2, at),
                When::Depends { estimate: None } => (3, Instant::ZERO),
            };
            word |= WHEN.of(kind);
            instant = at.as_nanos();
        }
        self.ending = [word, instant];
        self.enter(Stage::Done);
    }

    /// How it ended, as written down.
    pub(super) fn ending(&self) -> Ending {
        let [word, instant] = self.ending;
        let Some(end) = End::from_number(END.get(word) as u8) else { return Ending::UNCONFIGURED };
        let at = Instant::from_nanos(instant);
        let when = match WHEN.get(word) {
            0 => When::Never,
            1 => When::At(at),
            2 => When::Depends { estimate: Some(at) },
            _ => When::Depends { estimate: None },
        };
        let rejection = Layer::from_number(LAYER.get(word) as u8)
            .zip(Reason::from_number(REASON.get(word) as u8))
            .map(|(layer, reason)| Rejection::new(layer, reason, when));
        let failed = self.last_attempt() != 0;
        Ending {
            end,
            attempt: ATTEMPT.get(word) as u32,
            attempts: self.attempts(),
            rejection,
            failure: if failed { self.last().failure() } else { None },
            told: (failed && self.last().told_wait().is_some()).then(|| Instant::from_nanos(self.told_at)),
        }
    }
}

/// The size is part of the C interface.
const _: () = assert!(size_of::<Call>() == 352 && align_of::<Call>() == 8);

impl Default for Call {
    fn default() -> Self {
        Self::new()
    }
}
