//! Backoff as the formulas have it, in floating point and wide integers.

use seawall::config::Config;
use seawall::{BackoffConfig, Growth, Jitter};

/// The formulas for one configuration.
#[derive(Clone, Copy, Debug)]
pub struct Formulas {
    base: u64,
    cap: u64,
    growth: Growth,
    /// Thousandths.
    factor: u64,
    jitter: Jitter,
    /// Parts per million.
    spread: u64,
}

impl Formulas {
    /// `None` when the configuration is impossible.
    #[must_use]
    pub fn of(config: &BackoffConfig) -> Option<Self> {
        const DAY: u64 = 86_400_000_000_000;
        let given = |name: &str| {
            let place = BackoffConfig::FIELDS.iter().position(|field| field.name == name)?;
            Config::get(config, place)
        };
        let base = given("base").unwrap_or(100_000_000);
        let cap = given("cap").unwrap_or(base.max(2_000_000_000));
        let (growth, jitter) = (given("growth").unwrap_or(0), given("jitter").unwrap_or(0));
        let (factor, spread) = (given("factor").unwrap_or(2_000), given("spread").unwrap_or(200_000));
        let possible = (1..=DAY).contains(&base)
            && (base..=DAY).contains(&cap)
            && growth <= 2
            && jitter <= 4
            && (1_000..=100_000).contains(&factor)
            && (1..=1_000_000).contains(&spread);
        possible.then(|| Self {
            base,
            cap,
            growth: Growth::from_number(growth),
            factor,
            jitter: Jitter::from_number(jitter),
            spread,
        })
    }

    /// The ceiling of that retry, and by how much another calculation may be off.
    #[must_use]
    pub fn ceiling(&self, retry: u32) -> (u64, u64) {
        let cap = |span: u128| span.min(u128::from(self.cap)) as u64;
        match self.growth {
            Growth::Linear => (cap(u128::from(self.base) * (u128::from(retry) + 1)), 0),
            // A power of two is exact in both.
            Growth::Exponential if self.factor == 2_000 => {
                let shifted = if retry > 63 { u128::MAX } else { u128::from(self.base) << retry };
                (cap(shifted), 0)
            }
            Growth::Exponential => {
                let grown = self.base as f64 * (self.factor as f64 / 1e3).powf(f64::from(retry));
                let ceiling = grown.min(self.cap as f64) as u64;
                (ceiling, 1 + ceiling / 1_000_000_000)
            }
            _ => (self.base, 0),
        }
    }

    /// The wait without randomness: the ceiling, where there is one.
    #[must_use]
    pub fn undrawn(&self, ceiling: u64, previous: u64) -> u64 {
        if self.jitter == Jitter::Decorrelated { self.range(ceiling, previous).1 } else { ceiling }
    }

    /// The least and the greatest wait under that ceiling after the wait before.
    #[must_use]
    pub fn range(&self, ceiling: u64, previous: u64) -> (u64, u64) {
        let wide = u128::from;
        match self.jitter {
            Jitter::Full => (0, ceiling),
            Jitter::Equal => (ceiling / 2, ceiling),
            Jitter::Decorrelated => {
                let tripled = 3 * wide(previous.max(self.base));
                (self.base, tripled.min(wide(self.cap)) as u64)
            }
            Jitter::Proportional => {
                let share = wide(ceiling) * wide(self.spread) / 1_000_000;
                ((wide(ceiling) - share) as u64, (wide(ceiling) + share).min(wide(self.cap)) as u64)
            }
            _ => (ceiling, ceiling),
        }
    }
}
