//! Decisions drawn from a byte string.

use seawall::config::{Config, Field};

/// A byte string being used up.
#[derive(Debug)]
pub(super) struct Source<'a> {
    rest: &'a [u8],
    /// The clock.
    pub(super) now: u64,
    /// An instant that an answer named.
    pub(super) named: u64,
}

impl<'a> Source<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self { rest: data, now: 0, named: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next byte; 0 at the end.
    pub(super) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        first
    }

    /// True once in so many times.
    pub(super) fn one_in(&mut self, many: u8) -> bool {
        self.byte().is_multiple_of(many)
    }

    pub(super) fn bytes(&mut self, count: u32) -> u64 {
        (0..count).fold(0, |sum, _| sum << 8 | u64::from(self.byte()))
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.bytes(2) as usize % bound.max(1)
    }

    /// Moves the clock: mostly a little ahead, sometimes back, sometimes anywhere.
    pub(super) fn tick(&mut self) -> u64 {
        self.now = match self.byte() % 16 {
            0..=3 => self.now,
            4 | 5 => self.now.saturating_add(self.bytes(1)),
            6 | 7 => self.now.saturating_add(self.bytes(2) << 12),
            8 | 9 => self.now.saturating_add(self.bytes(2) << 20),
            10 => self.now.saturating_add(self.bytes(4) << 16),
            11 => self.now.saturating_sub(self.bytes(3) << 8),
            12 => self.now.saturating_sub(self.bytes(2) << 24),
            13 => self.named,
            14 => self.named.saturating_sub(1),
            _ => match self.byte() % 4 {
                0 => u64::MAX - self.bytes(1),
                1 => self.bytes(8),
                2 => self.bytes(5) << 20,
                _ => 0,
            },
        };
        self.now
    }

    /// A span: often short, sometimes anything.
    pub(super) fn span(&mut self) -> u64 {
        match self.byte() % 8 {
            0 => 0,
            1 | 2 => self.bytes(2) << 10,
            3..=5 => self.bytes(2) << 20,
            6 => u64::MAX,
            _ => self.bytes(8),
        }
    }

    /// A configuration in which most fields are possible.
    pub(super) fn config<C: Config>(&mut self, always: &[&str]) -> C {
        let mut config = C::new();
        for (place, field) in C::FIELDS.iter().enumerate() {
            let given = self.one_in(4) || always.contains(&field.name);
            if given {
                config = config.with(place, self.value(field));
            }
        }
        config
    }

    fn value(&mut self, field: &Field) -> u64 {
        let width = field.max.saturating_sub(field.min).saturating_add(1).max(1);
        match self.byte() {
            0..=1 => self.bytes(8),
            2..=40 => field.min,
            41..=70 => field.max,
            71..=170 => field.min.saturating_add(self.bytes(1) % width),
            171..=210 => field.min.saturating_add((self.bytes(2) << 16) % width),
            _ => field.min.saturating_add(self.bytes(8) % width),
        }
    }
}

/// The last steps, a line each.
pub(super) fn last<T: std::fmt::Debug>(steps: &[T]) -> String {
    steps[steps.len().saturating_sub(12)..].iter().map(|step| format!("{step:?}\n")).collect()
}
