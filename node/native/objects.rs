//! Who holds which object, and the names by which threads share them.
//!
//! An object lives until its last holder, in whichever thread, lets go of it. Everything here is cold:
//! it happens when objects are made, attached to and closed, under one lock.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use seawall::{CircuitBreakerConfig, RetryBudget, RetryBudgetConfig, TokenBucket, TokenBucketConfig};

use crate::clock::Manual;
use crate::handle::{Kind, kind};
use crate::slab::{self, Slab};

pub(crate) static BREAKERS: Slab<slab::Breaker> = Slab::new(Kind::Breaker);
pub(crate) static BUCKETS: Slab<TokenBucket> = Slab::new(Kind::Bucket);
pub(crate) static BUDGETS: Slab<RetryBudget> = Slab::new(Kind::Budget);
pub(crate) static CLOCKS: Slab<Manual> = Slab::new(Kind::Clock);

/// What a shared object was made from, to tell whether somebody else means the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one for each name in use, and mostly breakers")]
pub(crate) enum Origin {
    Breaker(CircuitBreakerConfig),
    Bucket(TokenBucketConfig),
    Budget(RetryBudgetConfig),
}

struct Object {
    holders: u32,
    /// The manual clock it goes by, which it holds; 0 for the system's.
    clock: u32,
    name: Option<String>,
}

#[derive(Default)]
struct Objects {
    all: HashMap<u32, Object>,
    names: HashMap<(Kind, String), (u32, Origin)>,
}

static OBJECTS: LazyLock<Mutex<Objects>> = LazyLock::new(Mutex::default);

fn lock() -> MutexGuard<'static, Objects> {
    // No panic can happen between two changes that belong together.
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why there is no object.
pub(crate) enum Refusal<E> {
    /// All 2^20 places are taken.
    Full,
    /// The name belongs to an object that was made from other options.
    OtherOptions,
    /// It could not be set up.
    Setup(E),
}

/// The shared object of that name, or a new one; held once more.
pub(crate) fn open<E>(
    shared: Option<(String, Origin)>,
    kind: Kind,
    clock: u32,
    make: impl FnOnce() -> Option<Result<u32, E>>,
) -> Result<u32, Refusal<E>> {
    let mut objects = lock();
    if let Some((name, origin)) = &shared
        && let Some(&(handle, made_from)) = objects.names.get(&(kind, name.clone()))
    {
        if made_from != *origin {
            return Err(Refusal::OtherOptions);
        }
        objects.hold(handle);
        return Ok(handle);
    }
    let handle = make().ok_or(Refusal::Full)?.map_err(Refusal::Setup)?;
    objects.hold(clock);
    let name = shared.as_ref().map(|(name, _)| name.clone());
    objects.all.insert(handle, Object { holders: 1, clock, name });
    if let Some((name, origin)) = shared {
        objects.names.insert((kind, name), (handle, origin));
    }
    Ok(handle)
}

/// The shared object of that name, held once more.
pub(crate) fn attach(kind: Kind, name: String) -> Option<u32> {
    let mut objects = lock();
    let (handle, _) = *objects.names.get(&(kind, name))?;
    objects.hold(handle);
    Some(handle)
}

/// Holds an object once more, if it is there.
pub(crate) fn hold(handle: u32) -> bool {
    let mut objects = lock();
    objects.hold(handle);
    objects.all.contains_key(&handle)
}

/// Lets go of `count` holds; the last one ends the object.
pub(crate) fn release(handle: u32, count: u32) {
    lock().release(handle, count);
}

impl Objects {
    fn hold(&mut self, handle: u32) {
        if let Some(object) = self.all.get_mut(&handle) {
            object.holders += 1;
        }
    }

    fn release(&mut self, handle: u32, count: u32) {
        let Some(object) = self.all.get_mut(&handle) else { return };
        object.holders = object.holders.saturating_sub(count);
        if object.holders > 0 {
            return;
        }
        let Some(object) = self.all.remove(&handle) else { return };
        let Some(of) = kind(handle) else { return };
        match of {
            Kind::Breaker => BREAKERS.remove(handle),
            Kind::Bucket => BUCKETS.remove(handle),
            Kind::Clock => CLOCKS.remove(handle),
            Kind::Budget => BUDGETS.remove(handle),
        }
        if let Some(name) = object.name {
            self.names.remove(&(of, name));
        }
        if object.clock != 0 {
            self.release(object.clock, 1);
        }
    }
}
