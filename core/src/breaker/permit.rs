//! A permit: the right to make one call, settled exactly once.

use core::borrow::Borrow;
use core::ops::Deref;

use super::room::{WindowWord, WindowWords};
use super::token::Token;
use super::{Admission, CircuitBreaker, Refused, Settled, Transition};
use crate::decision::{Outcome, Rejection, Settlement};
use crate::time::{Clock, Clocked, Instant};

/// A circuit breaker of any window: what a permit needs of it.
pub trait Breaker: sealed::Sealed {
    #[doc(hidden)]
    fn glance(&self, now: Instant) -> Option<Result<Token, Rejection>>;
    #[doc(hidden)]
    fn in_full(&self, now: Instant, r: u64) -> Admission;
    #[doc(hidden)]
    fn end(&self, token: Token, outcome: Outcome, granted: Instant, now: Instant, r: u64) -> Settled;
}

mod sealed {
    pub trait Sealed {}
    impl<S: super::WindowWords + ?Sized> Sealed for super::CircuitBreaker<S> {}
}

impl<S: WindowWords + ?Sized> Breaker for CircuitBreaker<S> {
    #[inline(always)]
    fn glance(&self, now: Instant) -> Option<Result<Token, Rejection>> {
        self.admit_at_a_glance(now)
    }

    #[inline(always)]
    fn in_full(&self, now: Instant, r: u64) -> Admission {
        self.admit_in_full(now, r)
    }

    #[inline(always)]
    fn end(&self, token: Token, outcome: Outcome, granted: Instant, now: Instant, r: u64) -> Settled {
        self.settle(token, outcome, granted, now, r)
    }
}

/// The right to make one call. `R` is how the breaker is held: `&CircuitBreaker`, `Arc<..>`,
/// `&'static ..`.
///
/// Settle it with [`success`](Self::success), [`failure`](Self::failure),
/// [`failure_until`](Self::failure_until) or [`ignore`](Self::ignore). Dropping it is neutral: the
/// place of a trial returns, and nothing is counted.
#[derive(Debug)]
#[must_use = "a permit that is dropped counts for nothing; settle it when the call has ended"]
pub struct Permit<R: Deref<Target: Breaker>> {
    breaker: Option<R>,
    token: Token,
    granted: Instant,
    bypassed: Option<Rejection>,
    transition: Option<Transition>,
}

impl<R: Deref<Target: Breaker>> Permit<R> {
    /// Asks `breaker` for a permit.
    ///
    /// # Errors
    /// Who refused, why and when to ask again.
    #[inline(always)]
    pub fn acquire(breaker: R, now: Instant, r: u64) -> Result<Self, Refused> {
        let permit = |breaker, token, bypassed, transition| Self {
            breaker: Some(breaker),
            token,
            granted: now,
            bypassed,
            transition,
        };
        match breaker.glance(now) {
            Some(Ok(token)) => Ok(permit(breaker, token, None, None)),
            Some(Err(rejection)) => Err(Refused { rejection, transition: None }),
            None => {
                let Admission { verdict, bypassed, transition } = breaker.in_full(now, r);
                match verdict {
                    Ok(token) => Ok(permit(breaker, token, bypassed, transition)),
                    Err(rejection) => Err(Refused { rejection, transition }),
                }
            }
        }
    }

    /// The call worked. `now` decides whether it was slow, where `slow_after` is set.
    #[inline(always)]
    pub fn success(self, now: Instant, r: u64) -> Settled {
        self.settle(Outcome::Success, now, r)
    }

    /// The dependency failed.
    #[inline(always)]
    pub fn failure(self, now: Instant, r: u64) -> Settled {
        self.settle(Outcome::Failure, now, r)
    }

    /// The dependency failed and said when it will be back: the breaker opens at once, until then (at
    /// most `max_retry_after`). An instant that is not in the future makes it an ordinary failure.
    #[inline(always)]
    pub fn failure_until(self, until: Instant, now: Instant, r: u64) -> Settled {
        self.settle(Outcome::FailureUntil(until), now, r)
    }

    /// No verdict: cancelled, the caller's own mistake, refused by another of our own layers.
    #[inline(always)]
    pub fn ignore(self, now: Instant) -> Settled {
        self.settle(Outcome::Ignored, now, 0)
    }

    /// Settles with any outcome.
    #[inline(always)]
    pub fn settle(mut self, outcome: Outcome, now: Instant, r: u64) -> Settled {
        let (breaker, token, granted) = (self.breaker.take(), self.token, self.granted);
        // Nothing is left to drop. Said here, so that the permit need not lie in memory for a drop.
        core::mem::forget(self);
        match breaker {
            Some(breaker) => breaker.end(token, outcome, granted, now, r),
            // A permit holds its breaker until it is settled, and settling consumes the permit.
            None => Settled { settlement: Settlement::Stale, transition: None },
        }
    }

    /// Whether this is a trial of a half-open breaker.
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.token.is_trial()
    }

    /// What a breaker in shadow mode would have said instead.
    #[must_use]
    pub fn bypassed(&self) -> Option<&Rejection> {
        self.bypassed.as_ref()
    }

    /// The change of state that this admission made.
    #[must_use]
    pub fn transition(&self) -> Option<&Transition> {
        self.transition.as_ref()
    }
}

impl<R: Deref<Target: Breaker>> Drop for Permit<R> {
    #[inline]
    fn drop(&mut self) {
        if let Some(breaker) = self.breaker.take() {
            breaker.end(self.token, Outcome::Ignored, self.granted, self.granted, 0);
        }
    }
}

/// A permit that knows its clock.
#[derive(Debug)]
#[must_use = "a permit that is dropped counts for nothing; settle it when the call has ended"]
pub struct ClockedPermit<'a, P, C: Clock, S: WindowWords + ?Sized = [WindowWord; 0]> {
    permit: Permit<&'a CircuitBreaker<S>>,
    clocked: &'a Clocked<P, C>,
}

impl<'a, P, C: Clock, S: WindowWords + ?Sized> ClockedPermit<'a, P, C, S> {
    /// See [`Permit::success`].
    pub fn success(self) -> Settled {
        self.settle(Outcome::Success)
    }

    /// See [`Permit::failure`].
    pub fn failure(self) -> Settled {
        self.settle(Outcome::Failure)
    }

    /// See [`Permit::failure_until`].
    pub fn failure_until(self, until: Instant) -> Settled {
        self.settle(Outcome::FailureUntil(until))
    }

    /// See [`Permit::ignore`].
    pub fn ignore(self) -> Settled {
        self.settle(Outcome::Ignored)
    }

    /// See [`Permit::settle`].
    pub fn settle(self, outcome: Outcome) -> Settled {
        self.permit.settle(outcome, self.clocked.now(), self.clocked.random.next())
    }

    /// The permit itself.
    pub fn permit(&self) -> &Permit<&'a CircuitBreaker<S>> {
        &self.permit
    }
}

impl<P, C: Clock> Clocked<P, C> {
    /// Asks for a permit now.
    ///
    /// # Errors
    /// Who refused, why and when to ask again.
    pub fn admit<S>(&self) -> Result<ClockedPermit<'_, P, C, S>, Refused>
    where
        P: Borrow<CircuitBreaker<S>>,
        S: WindowWords + ?Sized,
    {
        let permit = Permit::acquire(self.inner.borrow(), self.now(), self.random.next())?;
        Ok(ClockedPermit { permit, clocked: self })
    }
}
