//! What belongs to one thread of JavaScript: the objects it holds, and the details of its last answer.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;

use napi_sys::{napi_add_env_cleanup_hook, napi_env};
use seawall::{Call, Instant, Transition};

use crate::objects;
use crate::outbound::Wiring;
use crate::table::Table;

/// One per environment, given to every function as its data. Only the environment's own thread uses it.
#[derive(Default)]
pub(crate) struct Environment {
    /// How often each handle is held here; given back when the environment ends, since no finalizer
    /// of JavaScript's runs then.
    held: RefCell<HashMap<u32, u32>>,
    /// When the last refusal said to ask again.
    pub(crate) refused_at: Cell<Instant>,
    /// The last transition that an operation of this thread made.
    pub(crate) transition: Cell<Option<Transition>>,
    /// What a breaker in shadow would have refused with.
    pub(crate) bypassed: Cell<Option<Bypassed>>,
    /// Policies and the calls under them: nobody but this thread uses them, so they need no slab.
    pub(crate) policies: RefCell<Table<Wiring>>,
    pub(crate) calls: RefCell<Table<Call>>,
    /// Details put aside while listeners run, which may use other objects.
    aside: RefCell<Vec<(Instant, Option<Bypassed>)>>,
}

/// A refusal as one number (see `refusal`), and when to ask again.
pub(crate) type Bypassed = (f64, Option<Instant>);

impl Environment {
    /// A new one, which ends with `env`.
    pub(crate) fn start(env: napi_env) -> *mut Self {
        let this = Box::into_raw(Box::<Self>::default());
        // SAFETY: `end` is called once, with this pointer, when no more JavaScript runs in `env`.
        unsafe { napi_add_env_cleanup_hook(env, Some(end), this.cast()) };
        this
    }

    /// Puts the details of the last answer aside.
    pub(crate) fn save(&self) {
        self.aside.borrow_mut().push((self.refused_at.get(), self.bypassed.get()));
    }

    /// Takes up again what was put aside last.
    pub(crate) fn restore(&self) {
        if let Some((refused_at, bypassed)) = self.aside.borrow_mut().pop() {
            self.refused_at.set(refused_at);
            self.bypassed.set(bypassed);
        }
    }

    pub(crate) fn hold(&self, handle: u32) {
        *self.held.borrow_mut().entry(handle).or_default() += 1;
    }

    /// Gives one hold back, if there is one: a handle is closed at most as often as it was opened.
    pub(crate) fn release(&self, handle: u32) {
        let mut held = self.held.borrow_mut();
        let Some(count) = held.get_mut(&handle) else { return };
        *count -= 1;
        if *count == 0 {
            held.remove(&handle);
        }
        objects::release(handle, 1);
    }
}

unsafe extern "C" fn end(this: *mut c_void) {
    // SAFETY: made by `Box::into_raw` in `start`, and nobody uses it after the environment's end.
    let this = unsafe { Box::from_raw(this.cast::<Environment>()) };
    for (handle, count) in this.held.take() {
        objects::release(handle, count);
    }
}
