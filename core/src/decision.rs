//! What the engine answers: yes with a permit, or no with who, why and when.

use core::fmt;
use core::num::NonZeroU64;

use crate::time::Instant;

/// The longest sentence that `explain` writes, in bytes.
pub const SENTENCE: usize = 160;

/// A sentence for people. All that the engine writes fit; a part that did not would be left out.
pub type Sentence = heapless::String<SENTENCE>;

/// Declares an enum whose numbers and names never change once published.
macro_rules! stable_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[doc = $doc:literal])+ $variant:ident = $number:literal $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum $name { $($(#[doc = $doc])+ $variant = $number,)* }

        impl $name {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stable name, the same in every language, in metrics and in errors.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// What it means, as a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii(),)* }
            }

            /// The stable number.
            #[must_use]
            pub const fn number(self) -> u8 {
                self as u8
            }

            /// The one with that number.
            #[must_use]
            pub const fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use stable_enum;

stable_enum! {
    /// Who refused.
    pub enum Layer {
        /// A circuit breaker.
        CircuitBreaker = 1 "circuit_breaker",
        /// A rate limiter.
        RateLimit = 2 "rate_limit",
        /// The rules of retrying.
        Retry = 3 "retry",
        /// A retry budget.
        RetryBudget = 4 "retry_budget",
        /// A deadline, or a timeout.
        Deadline = 5 "deadline",
    }
}

stable_enum! {
    /// Why it refused.
    pub enum Reason {
        /// The state was never configured, or its bytes are no state.
        Unconfigured = 1 "unconfigured",
        /// The circuit breaker is open.
        Open = 10 "open",
        /// The circuit breaker is half-open and all its trials are out.
        TrialsBusy = 11 "trials_busy",
        /// The circuit breaker was forced open by hand.
        ForcedOpen = 12 "forced_open",
        /// The rate limit is used up for now.
        RateLimited = 20 "rate_limited",
        /// The cost is above the capacity, so it can never be admitted.
        ExceedsCapacity = 21 "exceeds_capacity",
        /// The retry budget is spent: too many of the last calls were retries.
        BudgetEmpty = 30 "budget_empty",
        /// The deadline has passed.
        DeadlineExceeded = 40 "deadline_exceeded",
        /// The time that remains is less than the work is expected to take.
        WontFinish = 41 "wont_finish",
        /// It took longer than its timeout allows.
        TimedOut = 42 "timed_out",
    }
}

/// When it is worth asking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum When {
    /// Exactly then, if nothing else happens: not before, and no later than one tick after.
    At(Instant),
    /// Never: the same question gets the same answer for ever.
    Never,
    /// It depends on others. The estimate, where there is one, is no promise.
    Depends {
        /// The best guess.
        estimate: Option<Instant>,
    },
}

/// A no: who, why and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a refusal says when to ask again"]
pub struct Rejection {
    /// Who refused.
    pub layer: Layer,
    /// Why.
    pub reason: Reason,
    /// When to ask again.
    pub when: When,
}

impl Rejection {
    /// A refusal, for faces that carry its parts another way and want the sentence.
    pub const fn new(layer: Layer, reason: Reason, when: When) -> Self {
        Self { layer, reason, when }
    }

    /// The instant to ask again, exact or estimated; `None` when there is none or it is never.
    #[must_use]
    pub const fn at(&self) -> Option<Instant> {
        match self.when {
            When::At(at) => Some(at),
            When::Depends { estimate } => estimate,
            When::Never => None,
        }
    }

    /// How long until then, from `now`.
    #[must_use]
    pub const fn retry_after(&self, now: Instant) -> Option<core::time::Duration> {
        match self.at() {
            Some(at) => Some(at.since(now)),
            None => None,
        }
    }

    /// The refusal as a sentence: `The rate limit is used up for now; ask again in 1.5 s`.
    #[must_use]
    pub fn explain(&self, now: Instant) -> Sentence {
        let mut text = Sentence::new();
        // Every sentence fits; a test writes the longest.
        let _ = self.write(&mut text, now);
        text
    }

    fn write(&self, out: &mut Sentence, now: Instant) -> fmt::Result {
        use fmt::Write;
        out.write_str(self.reason.meaning().trim_end_matches('.'))?;
        match self.when {
            When::At(at) => write!(out, "; ask again in {}", Span(at.since(now))),
            When::Never => out.write_str("; asking again will not help"),
            When::Depends { estimate: Some(at) } => write!(out, "; perhaps in {}", Span(at.since(now))),
            When::Depends { estimate: None } => Ok(()),
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.layer, self.reason)
    }
}

impl core::error::Error for Rejection {}

/// A span as people write it: `17.7 s`, `250 ms`, `800 ns`. Rounded up, as all waits are.
#[derive(Clone, Copy, Debug)]
pub struct Span(pub core::time::Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = crate::time::saturating_nanos(self.0);
        // A tenth of the unit, its name, and how many are few enough.
        const fn unit(nanos: u64, name: &'static str, few: u64) -> (NonZeroU64, &'static str, u64) {
            (NonZeroU64::new(nanos / 10).expect("a tenth of a unit is a nanosecond at least"), name, few)
        }
        const UNITS: [(NonZeroU64, &str, u64); 5] = [
            unit(1_000, "us", 1_000),
            unit(1_000_000, "ms", 1_000),
            unit(1_000_000_000, "s", 120),
            unit(60_000_000_000, "min", 120),
            unit(3_600_000_000_000, "h", 48),
        ];
        const DAY: (NonZeroU64, &str, u64) = unit(86_400_000_000_000, "d", 0);
        if nanos < 1_000 {
            return write!(f, "{nanos} ns");
        }
        // The first unit of which there are few enough once rounded up: 1 s, not 1000 ms.
        let tenths = |tenth: NonZeroU64| (nanos - 1) / tenth + 1;
        let (tenth, name, _) = *UNITS.iter().find(|(tenth, _, few)| tenths(*tenth) < few * 10).unwrap_or(&DAY);
        let tenths = tenths(tenth);
        match tenths % 10 {
            0 => write!(f, "{} {name}", tenths / 10),
            tenth => write!(f, "{}.{tenth} {name}", tenths / 10),
        }
    }
}

/// How a call ended, in the eyes of its breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It worked (a slow success may still count against the dependency).
    Success,
    /// The dependency failed.
    Failure,
    /// The dependency failed and said when it will be back (`Retry-After`).
    FailureUntil(Instant),
    /// No verdict: cancelled, the caller's own mistake, refused by another of our own layers.
    Ignored,
}

stable_enum! {
    /// What became of a settlement.
    pub enum Settlement {
        /// It counted.
        Counted = 1 "counted",
        /// It gave its place back and counted for nothing.
        Neutral = 2 "neutral",
        /// It came from before the last change of state and changed nothing.
        Stale = 3 "stale",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use std::string::ToString;

    #[test]
    fn spans_read_as_people_write_them_and_round_up() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_001, "1.1 us"),
            (999_999, "1 ms"),
            (999_999_995, "1 s"),
            (250_000_000, "250 ms"),
            (17_650_000_001, "17.7 s"),
            (30_000_000_000, "30 s"),
            (600_000_000_000, "10 min"),
            (10_800_000_000_000, "3 h"),
            (u64::MAX, "213504 d"),
        ] {
            assert_eq!(Span(Duration::from_nanos(nanos)).to_string(), text);
        }
    }

    #[test]
    fn a_rejection_explains_itself() {
        let now = Instant::from_nanos(1_000);
        let at = now.after(Duration::from_millis(1_500));
        let no = |when| Rejection::new(Layer::RateLimit, Reason::RateLimited, when);
        assert_eq!(no(When::At(at)).explain(now), "The rate limit is used up for now; ask again in 1.5 s");
        assert_eq!(no(When::At(at)).retry_after(now), Some(Duration::from_millis(1_500)));
        assert_eq!(no(When::Never).at(), None);
    }

    #[test]
    fn every_sentence_fits() {
        for &reason in Reason::ALL {
            let no = Rejection::new(Layer::RateLimit, reason, When::At(Instant::MAX));
            assert!(no.explain(Instant::ZERO).ends_with(" d"), "{reason} was cut");
        }
    }

    #[test]
    fn numbers_and_names_lead_back() {
        for &reason in Reason::ALL {
            assert_eq!(Reason::from_number(reason.number()), Some(reason));
        }
        assert_eq!(Reason::from_number(0), None);
    }
}
