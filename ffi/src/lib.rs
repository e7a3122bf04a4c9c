//! libseawall: the engine for C and C++.
//!
//! The face converts and checks; it decides nothing. Its documentation is the header,
//! `include/seawall.h`, which cbindgen writes from this crate: every public item here is written out,
//! none is made by a macro, and its text is meant for readers of C.
//!
//! | file | what |
//! |---|---|
//! | `caller.rs` | pointers become references, and nothing else is unsafe |
//! | `status.rs` | answers and errors by number |
//! | `decision.rs` | refusals and changes of state as C sees them |
//! | `names.rs` | names of what is numbered |
//! | `circuit_breaker.rs`, `token_bucket.rs`, `retry_budget.rs`, `backoff.rs`, `event_ring.rs` | the primitives |
//! | `policy.rs`, `retry.rs` | wiring, and the state of one call |
//! | `deadline.rs`, `wire.rs` | until when; header text |
//! | `claim.rs` | what can be used once only: permits and reservations |
//! | `random.rs`, `clock.rs` | arguments of the operations |
//! | `text.rs` | sentences into buffers |
//! | `freestanding.rs` | the panic handler that does not link |

#![no_std]
#![allow(non_camel_case_types, reason = "the names are C's")]
#![allow(unreachable_pub, reason = "what is public is exported by name, not by path")]
#![allow(clippy::missing_safety_doc, reason = "stated once for all functions, under Pointers in the header")]

#[cfg(any(feature = "std", test))]
extern crate std;

mod backoff;
mod caller;
mod circuit_breaker;
mod circuit_breaker_config;
mod claim;
#[cfg(feature = "std")]
mod clock;
mod deadline;
mod decision;
mod event_ring;
#[cfg(all(feature = "freestanding", not(feature = "std"), not(test)))]
mod freestanding;
mod names;
mod permit;
mod policy;
mod random;
mod reservation;
mod retry;
mod retry_budget;
mod status;
mod text;
mod token_bucket;
mod wire;
