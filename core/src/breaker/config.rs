//! The breaker's configuration: declared, checked, packed.

use crate::config::{ConfigError, choice, declare};
use crate::word::bits::Bits;
use crate::word::deadline;

use super::room::{ONE_WORD, Room, bucket_words, window_words};
use super::timed::Width;

choice! {
    /// What is chosen, as opposed to the measured [`State`](super::State).
    pub enum Mode {
        /// Measures and refuses.
        Normal = 0 "normal",
        /// Refuses everything; what was learnt is kept.
        ForcedOpen = 1 "forced-open",
        /// Admits everything and records nothing; what was learnt is kept.
        Disabled = 2 "disabled",
        /// Measures as in normal mode and never refuses; the permit says what it would have said.
        Shadow = 3 "shadow",
    }
}

choice! {
    /// What happens when trials are not settled before their lease ends.
    pub enum ExpiredTrials {
        /// A new round of trials.
        Again = 0 "again",
        /// Open for another period.
        Open = 1 "open",
        /// Closed.
        Close = 2 "close",
    }
}

const MS: u64 = 1_000_000;
const HOUR: u64 = 3_600_000 * MS;
const DAY: u64 = 24 * HOUR;

declare! {
    /// How a circuit breaker judges. Consecutive mode unless one of `failure_rate`, `window`,
    /// `window_span`, `minimum_calls` and `slow_rate` is given, which make it rate mode.
    ///
    /// ```
    /// use core::time::Duration;
    /// use seawall::{CircuitBreaker, CircuitBreakerConfig, Ratio};
    ///
    /// const RATE: CircuitBreakerConfig = CircuitBreakerConfig::new()
    ///     .failure_rate(Ratio::percent(50))
    ///     .window(20)
    ///     .reset_after(Duration::from_secs(10));
    /// # let _ = CircuitBreaker::new(&RATE)?;
    /// # Ok::<(), seawall::ConfigError>(())
    /// ```
    pub struct CircuitBreakerConfig as "circuit_breaker" {
        /// Consecutive mode: so many failures in a row open it. 5, so that one bad minute of a
        /// flaky network does not cut a healthy dependency off. Rate mode: so many failures in the
        /// window open it, however few the calls; off unless given, and at most `window`.
        failure_threshold: count [1, 1_000_000] = 5,
        /// Rate mode: it opens when at least this share of the window failed. Half, the field's
        /// common choice: below it, most calls still help somebody. Off where only
        /// `failure_threshold` is given.
        failure_rate: ratio [1, 1_000_000] = 500_000,
        /// Rate mode: how many of the last calls are judged. 20 fit one word; a longer window needs
        /// storage beside it (`window_words`).
        window: count [2, 1_024] = 20,
        /// Rate mode: the calls of this span are judged instead of a number of calls. Its end moves on
        /// bucket by bucket. It needs storage (`bucket_words`). Unlike a window full of good calls it
        /// is written by every call.
        window_span: span [10 * MS, DAY] = ("none: calls are counted"),
        /// Into how many buckets `window_span` is divided: so much of it leaves the window at once. A tenth by
        /// default, the field's common choice; more cost time, since a judgement sums them.
        buckets: count [10, 60] = 10,
        /// Rate mode: so many calls must be in the window before it may open. 10, or the window if
        /// that is shorter, so that the first failure after a start is not a rate of 100 %. Where
        /// fewer calls come than that within a `window_span`, it never opens.
        minimum_calls: count [1, 100_000] = ("10, at most `window`"),
        /// A call that took longer than this is slow; 0 turns it off, since what is slow only the
        /// caller knows. In consecutive mode and for trials a slow success counts as a failure.
        slow_after: span [0, DAY] = 0,
        /// Rate mode: it opens when at least this share of the window was slow. All of it: slowness
        /// alone opens it only when nothing else is left.
        slow_rate: ratio [1, 1_000_000] = 1_000_000,
        /// How many trial calls a half-open round lets out, and the most that are out at once. One in
        /// consecutive mode; three in rate mode, so that one lucky success does not close it.
        trials: count [1, 15] = ("1 in consecutive mode, 3 in rate mode"),
        /// So many successful trials close it; it reopens as soon as they can no longer be reached.
        /// All of them by default: a dependency that fails one call in three has not recovered.
        close_after: count [1, 15] = ("`trials`"),
        /// How long it stays open before the first trial. Long enough to recover, short enough not to
        /// prolong the outage.
        reset_after: span [MS, 7 * DAY] = 30_000_000_000,
        /// Each reopening multiplies the open period by this. 1: the period is what was stated.
        reset_factor: factor [1_000, 32_000] = 1_000,
        /// The longest open period that `reset_factor` and `reset_jitter` lead to.
        reset_cap: span [MS, 7 * DAY] = ("5 min, at least `reset_after`"),
        /// Spreads the open period by this share either way, never above `reset_cap`, so that a
        /// fleet does not come back in one instant. 0: without randomness there is none.
        reset_jitter: ratio [0, 900_000] = 0,
        /// The longest open period that a dependency may ask for (`Retry-After`).
        max_retry_after: span [MS, 7 * DAY] = 3_600_000_000_000,
        /// Trials of a round share one lease, which starts anew whenever another goes out. Trials that are
        /// not settled when it ends have expired: their places are free and their late results are stale.
        trial_timeout: span [MS, HOUR] = ("`reset_after`, at most 1 h"),
        /// What follows when trials expire. Another round: a caller that died says nothing about the
        /// dependency.
        expired_trials: (ExpiredTrials) [0, 2] = 0,
        /// What it does with what it measures.
        mode: (Mode) [0, 3] = 0,
    }
}

impl CircuitBreakerConfig {
    /// Consecutive mode with this threshold.
    #[must_use]
    pub const fn consecutive(failures: u64) -> Self {
        Self::new().failure_threshold(failures)
    }

    /// Whether it is rate mode.
    #[must_use]
    pub const fn is_rate(&self) -> bool {
        self.given(Index::failure_rate).is_some()
            || self.given(Index::window).is_some()
            || self.given(Index::window_span).is_some()
            || self.given(Index::buckets).is_some()
            || self.given(Index::minimum_calls).is_some()
            || self.given(Index::slow_rate).is_some()
    }

    /// How many [`WindowWord`](super::WindowWord)s its window needs beside the breaker: none, unless it is one of
    /// time or of more than 20 calls.
    #[must_use]
    pub const fn words(&self) -> usize {
        match (self.given(Index::window_span), self.given(Index::buckets), self.given(Index::window)) {
            (Some(_), Some(buckets), _) => bucket_words(buckets),
            (Some(_), None, _) => bucket_words(10),
            (None, _, Some(calls)) => window_words(calls),
            (None, _, None) => 0,
        }
    }

    pub(super) const fn states_mode(&self) -> bool {
        self.given(Index::mode).is_some()
    }

    /// Checks every field and every relation between fields.
    ///
    /// # Errors
    /// The first that is impossible, with what would be possible.
    pub const fn check(&self) -> Result<(), ConfigError> {
        match self.settings(Room::MOST) {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The settings for a breaker whose window has so much room.
    pub(super) const fn settings(&self, room: Room) -> Result<Settings, ConfigError> {
        macro_rules! value {
            ($field:ident, $default:expr) => { value!($field, $default, u64::MAX) };
            ($field:ident, $default:expr, $max:expr $(, $because:literal)?) => {
                match self.value(Index::$field, $default, $max) {
                    Ok(value) => value,
                    Err(error) => return Err(error$(.because($because))?),
                }
            };
        }
        const fn min(a: u64, b: u64) -> u64 {
            if a < b { a } else { b }
        }
        const fn max(a: u64, b: u64) -> u64 {
            if a > b { a } else { b }
        }
        const fn left_out(field: Index, given: u64, because: &'static str) -> ConfigError {
            ConfigError::range(&CircuitBreakerConfig::FIELDS[field as usize], given, 1, 0).because(because)
        }
        let rate = self.is_rate();
        let window = match self.value(Index::window, 20, room.calls()) {
            Ok(window) => window,
            Err(error) => return Err(room.explaining(error)),
        };
        let (window, width) = match self.given(Index::window_span) {
            None => match self.given(Index::buckets) {
                Some(given) => return Err(left_out(Index::buckets, given, "window_span is not given")),
                None => (window, Width::NONE),
            },
            Some(given) => {
                if let Some(calls) = self.given(Index::window) {
                    return Err(left_out(Index::window, calls, "window_span is given"));
                }
                let (span, buckets) = (value!(window_span, 0), value!(buckets, 10));
                if !room.has(Self::FIELDS[Index::buckets as usize].min) {
                    return Err(left_out(Index::window_span, given, "its buckets need storage"));
                }
                if !room.has(buckets) {
                    let spec = &Self::FIELDS[Index::buckets as usize];
                    let error = ConfigError::range(spec, buckets, spec.min, room.words() as u64);
                    return Err(error.because("more need more storage"));
                }
                (buckets, Width::of(span, buckets))
            }
        };
        let timed = self.given(Index::window_span).is_some();
        let threshold = if timed {
            value!(failure_threshold, NEVER)
        } else if rate {
            value!(failure_threshold, NEVER, window, "at most window")
        } else {
            value!(failure_threshold, 5)
        };
        let counts = rate && self.given(Index::failure_threshold).is_some();
        let slow_after = value!(slow_after, 0);
        if let (0, Some(given)) = (slow_after, self.given(Index::slow_rate)) {
            return Err(left_out(Index::slow_rate, given, "slow_after is off"));
        }
        let trials = value!(trials, if rate { 3 } else { 1 });
        let reset_after = value!(reset_after, 30_000 * MS);
        let reset_cap = value!(reset_cap, max(300_000 * MS, reset_after));
        if reset_cap < reset_after {
            let spec = &Self::FIELDS[Index::reset_cap as usize];
            return Err(ConfigError::range(spec, reset_cap, reset_after, spec.max).because("at least reset_after"));
        }
        let max_retry_after = value!(max_retry_after, HOUR);
        let trial_timeout = deadline::units(value!(trial_timeout, min(reset_after, HOUR)));
        Ok(Settings {
            mode: Mode::from_number(value!(mode, 0)),
            rate,
            expired_trials: ExpiredTrials::from_number(value!(expired_trials, 0)),
            threshold,
            failure_rate: value!(failure_rate, if counts { NEVER } else { 500_000 }),
            window,
            timed,
            width,
            minimum_calls: if timed {
                value!(minimum_calls, 10)
            } else {
                value!(minimum_calls, min(10, window), window, "at most window")
            },
            slow_after,
            slow_rate: value!(slow_rate, 1_000_000),
            trials,
            close_after: value!(close_after, trials, trials, "at most trials"),
            reset_after: deadline::units(reset_after),
            reset_factor: value!(reset_factor, 1_000),
            reset_cap: deadline::units(reset_cap),
            reset_jitter: value!(reset_jitter, 0),
            max_retry_after: deadline::units(max_retry_after),
            trial_timeout,
            live_bits: reach(deadline::units(max(reset_cap, max_retry_after))),
            lease_bits: reach(trial_timeout),
        })
    }
}

/// A threshold or a rate that is never reached.
pub(super) const NEVER: u64 = THRESHOLD.max();

/// The bits that hold the longest span a deadline is set for, the unit it rounds up by, and the slack
/// for a clock that went back.
const fn reach(longest: u64) -> u64 {
    (longest + 1 + deadline::SLACK_UNITS).ilog2() as u64 + 1
}

/// The checked configuration as a step reads it. Spans are in units of 2^20 ns, except `slow_after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) mode: Mode,
    pub(super) rate: bool,
    pub(super) expired_trials: ExpiredTrials,
    pub(super) threshold: u64,
    pub(super) failure_rate: u64,
    /// How many calls are judged, or in how many buckets of time they lie.
    pub(super) window: u64,
    pub(super) timed: bool,
    /// The width of a bucket.
    pub(super) width: Width,
    pub(super) minimum_calls: u64,
    pub(super) slow_after: u64,
    pub(super) slow_rate: u64,
    pub(super) trials: u64,
    pub(super) close_after: u64,
    pub(super) reset_after: u64,
    pub(super) reset_factor: u64,
    pub(super) reset_cap: u64,
    pub(super) reset_jitter: u64,
    pub(super) max_retry_after: u64,
    pub(super) trial_timeout: u64,
    /// An open period is live while its end lies at most 2^this units ahead.
    pub(super) live_bits: u64,
    /// The trials' lease likewise.
    pub(super) lease_bits: u64,
}

/// As much of the settings as nearly every admission needs: they lie in the first word alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AdmitSettings {
    pub(super) mode: Mode,
    pub(super) live_bits: u64,
}

impl AdmitSettings {
    /// Reads the first word of a configuration.
    #[inline]
    pub(super) const fn unpack(head: u64) -> Self {
        Self { mode: Mode::from_number(MODE.get(head)), live_bits: LIVE.get(head) }
    }
}

/// How many words a configuration takes: 48 bits each, spans in units of 2^20 ns.
///
/// | word | from the lowest bit on |
/// |---|---|
/// | 0 | mode 2, rate mode 1, threshold 20, window or buckets 11, minimum calls (its low 9 bits), live bits 5 |
/// | 1 | failure rate 20, slow rate 20 (parts per million), minimum calls (its high 8 bits) |
/// | 2 | slow after 47 (ns), window of time 1 |
/// | 3 | reset after 30, reset factor 15 (thousandths) |
/// | 4 | reset cap 30, trials 4, close after 4, expired trials 2, width (its low 8 bits) |
/// | 5 | max retry after 30, width (its high 18 bits) |
/// | 6 | trial timeout 22, reset jitter 20 (parts per million), lease bits 5 |
///
/// The first says all that most admissions want to know, the first three all that judging an outcome does.
pub(super) const WORDS: usize = 7;

const MODE: Bits = Bits::new(0, 2);
const RATE: Bits = Bits::new(2, 1);
const THRESHOLD: Bits = Bits::new(3, 20);
const LONGEST: Bits = Bits::new(23, 11);
const MINIMUM_LOW: Bits = Bits::new(34, 9);
const LIVE: Bits = Bits::new(43, 5);

const FAILURE_RATE: Bits = Bits::new(0, 20);
const SLOW_RATE: Bits = Bits::new(20, 20);
const MINIMUM_HIGH: Bits = Bits::new(40, 8);

const SLOW_AFTER: Bits = Bits::new(0, 47);

const TIMED: Bits = Bits::new(47, 1);

const SPAN: Bits = Bits::new(0, 30);
const FACTOR: Bits = Bits::new(30, 15);

const TRIALS: Bits = Bits::new(30, 4);
const CLOSE: Bits = Bits::new(34, 4);
const EXPIRED: Bits = Bits::new(38, 2);
const WIDTH_LOW: Bits = Bits::new(40, 8);

const WIDTH_HIGH: Bits = Bits::new(30, Width::BITS - WIDTH_BITS);

const TIMEOUT: Bits = Bits::new(0, 22);
const JITTER: Bits = Bits::new(22, 20);
const LEASE: Bits = Bits::new(42, 5);

impl Settings {
    #[inline]
    pub(super) const fn admission(&self) -> AdmitSettings {
        AdmitSettings { mode: self.mode, live_bits: self.live_bits }
    }

    /// These settings, under which what `old` has set running still counts as running.
    pub(super) fn outlasting(&self, old: &Self) -> Self {
        Self { live_bits: self.live_bits.max(old.live_bits), lease_bits: self.lease_bits.max(old.lease_bits), ..*self }
    }

    pub(super) const fn pack(&self) -> [u64; WORDS] {
        [
            MODE.of(self.mode as u64)
                | RATE.of(self.rate as u64)
                | THRESHOLD.of(self.threshold)
                | LONGEST.of(self.window)
                | MINIMUM_LOW.of(self.minimum_calls)
                | LIVE.of(self.live_bits),
            FAILURE_RATE.of(self.failure_rate)
                | SLOW_RATE.of(self.slow_rate)
                | MINIMUM_HIGH.of(self.minimum_calls >> MINIMUM_BITS),
            SLOW_AFTER.of(self.slow_after) | TIMED.of(self.timed as u64),
            SPAN.of(self.reset_after) | FACTOR.of(self.reset_factor),
            SPAN.of(self.reset_cap)
                | TRIALS.of(self.trials)
                | CLOSE.of(self.close_after)
                | EXPIRED.of(self.expired_trials as u64)
                | WIDTH_LOW.of(self.width.bits()),
            SPAN.of(self.max_retry_after) | WIDTH_HIGH.of(self.width.bits() >> WIDTH_BITS),
            TIMEOUT.of(self.trial_timeout) | JITTER.of(self.reset_jitter) | LEASE.of(self.lease_bits),
        ]
    }

    /// As much of the settings as it takes to judge an outcome; the rest is zero.
    #[inline(always)]
    pub(super) const fn judging(head: u64, rates: u64, slow: u64, room: Room) -> Self {
        Self::unpack(&[head, rates, slow, 0, 0, 0, 0], room)
    }

    /// Any words are some settings: what a step divides by, shifts by or indexes with is cut to range,
    /// a window that has no room to the longest that has.
    #[inline(always)]
    pub(super) const fn unpack(words: &[u64; WORDS], room: Room) -> Self {
        let [head, rates, slow, reset, cap, told, trial] = *words;
        let timed = TIMED.get(slow) == 1 && room.has(LONGEST.get(head)) && LONGEST.get(head) > 0;
        let longest = if timed { MOST_BUCKETS } else { room.calls() };
        Self {
            mode: Mode::from_number(MODE.get(head)),
            rate: RATE.get(head) == 1,
            expired_trials: ExpiredTrials::from_number(EXPIRED.get(cap)),
            window: if LONGEST.get(head) > longest { longest } else { LONGEST.get(head) },
            timed,
            width: Width::from_bits(WIDTH_HIGH.get(told) << WIDTH_BITS | WIDTH_LOW.get(cap)),
            minimum_calls: MINIMUM_HIGH.get(rates) << MINIMUM_BITS | MINIMUM_LOW.get(head),
            trials: TRIALS.get(cap),
            close_after: CLOSE.get(cap),
            threshold: THRESHOLD.get(head),
            live_bits: LIVE.get(head),
            lease_bits: LEASE.get(trial),
            failure_rate: FAILURE_RATE.get(rates),
            slow_rate: SLOW_RATE.get(rates),
            slow_after: SLOW_AFTER.get(slow),
            reset_after: SPAN.get(reset),
            reset_factor: FACTOR.get(reset),
            reset_cap: SPAN.get(cap),
            max_retry_after: SPAN.get(told),
            trial_timeout: TIMEOUT.get(trial),
            reset_jitter: JITTER.get(trial),
        }
    }

    /// Whether the window is longer than one word holds.
    #[inline(always)]
    pub(super) const fn is_long(&self) -> bool {
        self.rate && !self.timed && self.window > ONE_WORD
    }

    /// Whether the window is one of time.
    #[inline(always)]
    pub(super) const fn is_timed(&self) -> bool {
        self.rate && self.timed
    }

    /// Whether what was learnt under `old` means the same under these settings, as far as it fits.
    pub(super) fn is_like(&self, old: &Self) -> bool {
        self.is_long() == old.is_long()
            && self.is_timed() == old.is_timed()
            && (!self.is_timed() || self.width == old.width)
    }
}

const MINIMUM_BITS: u32 = 9;
const WIDTH_BITS: u32 = 8;
const MOST_BUCKETS: u64 = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn the_largest_settings_survive_their_packing() {
        let largest = CircuitBreakerConfig::new()
            .failure_threshold(1_024)
            .failure_rate(crate::Ratio::ONE)
            .window(1_024)
            .minimum_calls(1_024)
            .slow_after(Duration::from_nanos(DAY))
            .slow_rate(crate::Ratio::ONE)
            .trials(15)
            .close_after(15)
            .reset_after(Duration::from_nanos(7 * DAY))
            .reset_factor(crate::Factor::times(32))
            .reset_cap(Duration::from_nanos(7 * DAY))
            .reset_jitter(crate::Ratio::ppm(900_000))
            .max_retry_after(Duration::from_nanos(7 * DAY))
            .trial_timeout(Duration::from_nanos(HOUR))
            .expired_trials(ExpiredTrials::Close)
            .mode(Mode::Shadow);
        let timed = CircuitBreakerConfig::new()
            .window_span(Duration::from_nanos(DAY))
            .buckets(60)
            .failure_threshold(1_000_000)
            .minimum_calls(100_000)
            .slow_after(Duration::from_nanos(DAY));
        let longest_row = CircuitBreakerConfig::consecutive(1_000_000);
        for config in [largest, timed, longest_row, CircuitBreakerConfig::new(), CircuitBreakerConfig::new().window(2)]
        {
            let settings = config.settings(Room::MOST).unwrap();
            assert_eq!(Settings::unpack(&settings.pack(), Room::MOST), settings);
        }
    }

    #[test]
    fn a_configuration_says_how_many_words_it_needs_and_they_are_enough() {
        let new = CircuitBreakerConfig::new;
        let span = new().window_span(Duration::from_secs(60));
        for (config, words) in [
            (new(), 0),
            (new().window(20), 0),
            (new().window(100), 16),
            (new().window(1_024), 256),
            (span, 16),
            (span.buckets(60), 64),
        ] {
            assert_eq!(config.words(), words);
            assert!(config.settings(Room::of(words)).is_ok());
            assert!(words == 0 || config.settings(Room::of(words / 2)).is_err());
        }
    }

    #[test]
    fn a_window_without_room_is_cut_to_what_there_is() {
        let settings = CircuitBreakerConfig::new().window(1_024).settings(Room::MOST).unwrap();
        for (words, longest) in [(0, 20), (2, 20), (4, 25), (16, 121), (256, 1_024)] {
            assert_eq!(Settings::unpack(&settings.pack(), Room::of(words)).window, longest);
        }
    }
}
