//! Configuration, declared once.
//!
//! Each primitive declares its fields in one `declare!` block: name, unit, range, default and the
//! reason for the default. From that table come the setters of the Rust type, the conversion of what
//! Python and Node pass, the error text, and (by `tools/generate`) the option types, the JSON Schema,
//! the C constants and the tables in the docs. So the same bad value is refused with the same
//! sentence in every language.

mod convert;
mod error;

pub use convert::{Invalid, parse_rate, parse_span, rate_from_float, spanning};
pub use error::{ConfigError, Given};

/// What a field's number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A count of things.
    Count,
    /// Nanoseconds. Faces take seconds, milliseconds or text such as `250ms`.
    Span,
    /// Parts per million of one. Faces take a fraction.
    Ratio,
    /// Thousandths of one. Faces take a number.
    Factor,
    /// The number of one of these names.
    Choice(&'static [&'static str]),
}

/// One field of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The configuration it belongs to: `circuit_breaker`.
    pub config: &'static str,
    /// Its name in snake_case; Node writes it in camelCase, C with a unit's suffix.
    pub name: &'static str,
    /// What its number means.
    pub unit: Unit,
    /// The least allowed value.
    pub min: u64,
    /// The greatest allowed value, before other fields narrow it.
    pub max: u64,
    /// The default, where it is a plain number.
    pub default: Option<u64>,
    /// The default in words, where other fields decide it; else empty.
    pub default_text: &'static str,
    /// What it does, and why the default is what it is.
    pub doc: &'static str,
}

/// A configuration as faces see it: fields by place, checked as a whole.
pub trait Config: Copy {
    /// Its fields, in order. A field that others depend on comes before them.
    const FIELDS: &'static [Field];

    /// All fields at their defaults.
    fn new() -> Self;

    /// Sets the field with that place; a place beyond the last is ignored.
    #[must_use]
    fn with(self, place: usize, value: u64) -> Self;

    /// What was given for the field with that place.
    fn get(&self, place: usize) -> Option<u64>;

    /// Checks every field and every relation between fields.
    ///
    /// # Errors
    /// The first that is impossible, with what would be possible.
    fn check(&self) -> Result<(), ConfigError>;
}

/// A fraction in parts per million, for the setters of ratios.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(pub(crate) u64);

impl Ratio {
    /// All of it.
    pub const ONE: Self = Self(1_000_000);

    /// So many per cent.
    #[must_use]
    pub const fn percent(percent: u32) -> Self {
        Self(percent as u64 * 10_000)
    }

    /// So many parts per million.
    #[must_use]
    pub const fn ppm(ppm: u32) -> Self {
        Self(ppm as u64)
    }

    /// `part` of `whole`, rounded down; nothing of nothing is nothing.
    #[must_use]
    pub const fn of(part: u32, whole: u32) -> Self {
        if whole == 0 { Self(0) } else { Self(part as u64 * 1_000_000 / whole as u64) }
    }
}

/// A factor in thousandths, for the setters of factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Factor(pub(crate) u64);

impl Factor {
    /// So many times, a whole number.
    #[must_use]
    pub const fn times(times: u32) -> Self {
        Self(times as u64 * 1_000)
    }

    /// So many thousandths: 1500 is one and a half times.
    #[must_use]
    pub const fn thousandths(thousandths: u32) -> Self {
        Self(thousandths as u64)
    }
}

/// Declares a configuration: the struct, its table of fields, and a setter for each.
macro_rules! declare {
    (
        $(#[$meta:meta])*
        pub struct $config:ident as $id:literal {
            $(
                $(#[doc = $doc:literal])+
                $name:ident: $kind:tt [$min:expr, $max:expr] = $default:tt,
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $config {
            given: [Option<u64>; Self::COUNT],
        }

        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        #[derive(Clone, Copy)]
        enum Index { $($name),+ }

        impl $config {
            const COUNT: usize = [$(stringify!($name)),+].len();

            /// Its fields, in order.
            pub const FIELDS: &'static [$crate::config::Field] = &[$(
                $crate::config::Field {
                    config: $id,
                    name: stringify!($name),
                    unit: $crate::config::declare!(@unit $kind),
                    min: $min,
                    max: $max,
                    default: $crate::config::declare!(@default $default),
                    default_text: $crate::config::declare!(@text $default),
                    doc: concat!($($doc),+).trim_ascii(),
                }
            ),+];

            /// All fields at their defaults.
            #[must_use]
            pub const fn new() -> Self {
                Self { given: [None; Self::COUNT] }
            }

            /// Sets the field with that place in [`FIELDS`](Self::FIELDS), in the field's own unit;
            /// a place beyond the last is ignored.
            #[must_use]
            pub const fn with(mut self, place: usize, value: u64) -> Self {
                if place < Self::COUNT {
                    self.given[place] = Some(value);
                }
                self
            }

            $($crate::config::declare!(@setter $(#[doc = $doc])+ $name $kind);)+

            /// What was given for a field.
            const fn given(&self, field: Index) -> Option<u64> {
                self.given[field as usize]
            }

            /// The field's value, or `default`, within the field's own range narrowed to `max`.
            const fn value(&self, field: Index, default: u64, max: u64) -> Result<u64, $crate::config::ConfigError> {
                let spec = &Self::FIELDS[field as usize];
                let max = if max < spec.max { max } else { spec.max };
                match self.given(field) {
                    None => Ok(default),
                    Some(value) if value < spec.min || value > max => {
                        Err($crate::config::ConfigError::range(spec, value, spec.min, max))
                    }
                    Some(value) => Ok(value),
                }
            }
        }

        impl Default for $config {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $crate::config::Config for $config {
            const FIELDS: &'static [$crate::config::Field] = Self::FIELDS;

            fn new() -> Self {
                Self::new()
            }

            fn with(self, place: usize, value: u64) -> Self {
                self.with(place, value)
            }

            fn get(&self, place: usize) -> Option<u64> {
                self.given.get(place).copied().flatten()
            }

            fn check(&self) -> Result<(), $crate::config::ConfigError> {
                self.check()
            }
        }
    };

    (@unit count) => { $crate::config::Unit::Count };
    (@unit span) => { $crate::config::Unit::Span };
    (@unit ratio) => { $crate::config::Unit::Ratio };
    (@unit factor) => { $crate::config::Unit::Factor };
    (@unit ($choice:ty)) => { $crate::config::Unit::Choice(<$choice>::NAMES) };

    (@default $default:literal) => { Some($default) };
    (@default ($text:literal)) => { None };
    (@default none) => { None };
    (@text $default:literal) => { "" };
    (@text ($text:literal)) => { $text };
    (@text none) => { "" };

    (@setter $(#[doc = $doc:literal])+ $name:ident count) => {
        $(#[doc = $doc])+
        #[must_use]
        pub const fn $name(self, count: u64) -> Self {
            self.with(Index::$name as usize, count)
        }
    };
    (@setter $(#[doc = $doc:literal])+ $name:ident span) => {
        $(#[doc = $doc])+
        #[must_use]
        pub const fn $name(self, span: core::time::Duration) -> Self {
            self.with(Index::$name as usize, $crate::time::saturating_nanos(span))
        }
    };
    (@setter $(#[doc = $doc:literal])+ $name:ident ratio) => {
        $(#[doc = $doc])+
        #[must_use]
        pub const fn $name(self, ratio: $crate::config::Ratio) -> Self {
            self.with(Index::$name as usize, ratio.0)
        }
    };
    (@setter $(#[doc = $doc:literal])+ $name:ident factor) => {
        $(#[doc = $doc])+
        #[must_use]
        pub const fn $name(self, factor: $crate::config::Factor) -> Self {
            self.with(Index::$name as usize, factor.0)
        }
    };
    (@setter $(#[doc = $doc:literal])+ $name:ident ($choice:ty)) => {
        $(#[doc = $doc])+
        #[must_use]
        pub const fn $name(self, choice: $choice) -> Self {
            self.with(Index::$name as usize, choice as u64)
        }
    };
}
pub(crate) use declare;

/// Declares an enum that a configuration can choose from.
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $number:literal $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant = $number,)+ }

        impl $name {
            /// The names, in the order of their numbers.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            const FIRST: Self = [$(Self::$variant),+][0];

            /// The name, the same in every language.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The one with that number; the first when there is none.
            #[must_use]
            pub const fn from_number(number: u64) -> Self {
                match number {
                    $($number => Self::$variant,)+
                    _ => Self::FIRST,
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use choice;
