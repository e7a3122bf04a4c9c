//! Stops a thread at every instruction of one operation and looks at what the others can still do.
//!
//! The state lies in memory that several processes share. One process, the *victim*, runs one
//! operation under `ptrace`, one machine instruction at a time; a second one, the *others*, runs
//! its operations while the victim stands still. A lock-free operation lets the others through
//! wherever the victim is stopped. What they do takes microseconds; when they have used up
//! [`PATIENCE`] of processor time (their own, so a busy machine does not matter) they are waiting
//! for the victim, and that shows as [`Blocked`].
//!
//! Processes instead of threads, because `ptrace` cannot trace a thread of its own process; the
//! state is position independent and holds only atomics, so the operation cannot tell the
//! difference.
//!
//! x86-64 and aarch64 Linux only: that is where `PTRACE_SINGLESTEP` steps every instruction (the
//! includer leaves the tests out elsewhere). On aarch64 the processor needs LSE atomics: a step
//! between `ldxr` and `stxr` makes the pair fail, always.

use std::io::Error;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// Processor time in which the others have to finish, in microseconds.
const PATIENCE: libc::suseconds_t = 200_000;

/// No operation of ours is this long; one that is does not end under stepping.
const LONGEST: usize = 50_000;

/// A value in memory that stays shared across `fork`.
pub(crate) struct Shared<T> {
    at: NonNull<T>,
}

// SAFETY: a `Shared<T>` hands out `&T` and nothing else, like `Box<T>` would.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        // SAFETY: a fresh anonymous mapping; nothing existing is touched.
        let at = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size_of::<T>().max(1),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert!(at != libc::MAP_FAILED, "mmap: {}", Error::last_os_error());
        let at = NonNull::new(at.cast::<T>()).expect("a mapping is never null");
        // SAFETY: the mapping is writable, large enough and aligned to a page.
        unsafe { at.write(value) };
        Self { at }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: written in `new` and mapped until `drop`.
        unsafe { self.at.as_ref() }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this size; no reference outlives `self`.
        unsafe { libc::munmap(self.at.as_ptr().cast(), size_of::<T>().max(1)) };
    }
}

/// A mailbox by which a process hands its result to the test. Plain bytes are enough: both sides
/// are forks of one process, so even addresses mean the same.
struct Mailbox<T>(std::cell::UnsafeCell<MaybeUninit<T>>);

// SAFETY: the test reads only after the process that writes has stopped at its second marker.
unsafe impl<T> Sync for Mailbox<T> {}

impl<T: Copy> Mailbox<T> {
    fn empty() -> Shared<Self> {
        Shared::new(Self(std::cell::UnsafeCell::new(MaybeUninit::uninit())))
    }

    fn put(&self, value: T) {
        // SAFETY: one writer, see `Sync`.
        unsafe { self.0.get().write(MaybeUninit::new(value)) };
    }

    /// # Safety
    /// `put` has been called.
    unsafe fn take(&self) -> T {
        // SAFETY: nobody writes any more.
        let filled = unsafe { self.0.get().read() };
        // SAFETY: it is filled, says the caller.
        unsafe { filled.assume_init() }
    }
}

/// Where a traced process stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// One instruction further.
    Instruction,
    /// At the marker behind the operation.
    Marker,
    /// Its processor time is used up.
    Exhausted,
}

/// A forked process, stopped at the marker in front of its operation.
struct Traced {
    pid: libc::pid_t,
}

impl Traced {
    fn start(operation: impl FnOnce()) -> Self {
        // SAFETY: the child runs `operation` and system calls, and leaves by `_exit`.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "fork: {}", Error::last_os_error());
        if pid == 0 {
            // SAFETY: asks to be traced by the parent, which waits for the stop below.
            let asked = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) };
            if asked == 0 {
                marker();
                operation();
                marker();
            }
            // SAFETY: always allowed; no destructor of the test process runs twice.
            unsafe { libc::_exit(if asked == 0 { 0 } else { 77 }) };
        }
        let child = Self { pid };
        assert_eq!(child.wait(), At::Marker, "the child stops in front of its operation");
        // SAFETY: the child is stopped and ours.
        let set = unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, libc::PTRACE_O_EXITKILL) };
        assert_eq!(set, 0, "PTRACE_SETOPTIONS: {}", Error::last_os_error());
        child
    }

    /// Runs one instruction.
    fn step(&mut self) -> At {
        self.resume(libc::PTRACE_SINGLESTEP)
    }

    /// Runs to the marker behind the operation.
    fn finish(&mut self) {
        assert_eq!(self.resume(libc::PTRACE_CONT), At::Marker);
    }

    fn resume(&mut self, how: libc::c_uint) -> At {
        // SAFETY: the child is stopped and ours; signal 0 delivers nothing.
        let done = unsafe { libc::ptrace(how, self.pid, 0, 0) };
        assert_eq!(done, 0, "ptrace: {}", Error::last_os_error());
        self.wait()
    }

    fn wait(&self) -> At {
        let mut status = 0;
        // SAFETY: `status` is a valid place.
        let got = unsafe { libc::waitpid(self.pid, &raw mut status, 0) };
        assert_eq!(got, self.pid, "waitpid: {}", Error::last_os_error());
        assert!(
            libc::WIFSTOPPED(status),
            "the traced operation did not end normally (exit {}, signal {}); run it without tracing to see why",
            libc::WEXITSTATUS(status),
            libc::WTERMSIG(status),
        );
        match libc::WSTOPSIG(status) {
            libc::SIGTRAP => At::Instruction,
            libc::SIGSTOP => At::Marker,
            libc::SIGVTALRM => At::Exhausted,
            signal => panic!("the traced operation got signal {signal}"),
        }
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let mut status = 0;
        // SAFETY: a child of ours that has not been reaped, so the id is still its own.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        // SAFETY: `status` is a valid place.
        unsafe { libc::waitpid(self.pid, &raw mut status, 0) };
    }
}

/// Stops the calling process until its tracer lets it go on.
#[inline(never)]
fn marker() {
    // SAFETY: `raise` is always allowed.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// The others could not finish while the victim stood still: the operation is not lock-free.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// How many instructions the victim had run.
    pub(crate) stopped_after: usize,
}

/// What happened around one stop.
pub(crate) struct Stop<'a, S, V, O> {
    pub(crate) state: &'a S,
    pub(crate) stopped_after: usize,
    pub(crate) victim: V,
    pub(crate) others: O,
}

/// Stops `victim` after its first, second, third … instruction, each time on a fresh state; lets
/// `others` finish; lets the victim finish; hands all to `check`. Returns how many stops there were,
/// the markers' own instructions included.
pub(crate) fn stop_once_everywhere<S: Sync, V: Copy, O: Copy>(
    fresh: impl Fn() -> S,
    victim: impl Fn(&S) -> V,
    others: impl Fn(&S) -> O,
    mut check: impl FnMut(Stop<'_, S, V, O>),
) -> Result<usize, Blocked> {
    for stopped_after in 0..LONGEST {
        let state = Shared::new(fresh());
        let answer = Mailbox::empty();
        let mut traced = Traced::start(|| answer.put(victim(&state)));
        let ended = (0..stopped_after).any(|_| traced.step() == At::Marker);
        if ended {
            return Ok(stopped_after);
        }
        let others = meanwhile(stopped_after, || others(&state))?;
        traced.finish();
        // SAFETY: the victim has reached its second marker, behind its `put`.
        let victim = unsafe { answer.take() };
        check(Stop { state: &state, stopped_after, victim, others });
    }
    panic!("the victim did not end within {LONGEST} instructions")
}

/// Stops `victim` at every instruction of one run, the first `most` of them, and lets `others` finish
/// at each; then the victim finishes undisturbed. Each answer of the others goes to `seen` as it
/// comes. Returns the victim's answer and how many stops there were.
pub(crate) fn stop_always<S: Sync, V: Copy, O: Copy>(
    most: usize,
    state: S,
    victim: impl Fn(&S) -> V,
    others: impl Fn(&S, usize) -> O,
    mut seen: impl FnMut(&S, usize, O),
) -> Result<(V, usize), Blocked> {
    let state = Shared::new(state);
    let answer = Mailbox::empty();
    let mut traced = Traced::start(|| answer.put(victim(&state)));
    let mut stops = 0;
    let mut ended = false;
    while stops < most && !ended {
        let replies = meanwhile(stops, || others(&state, stops))?;
        seen(&state, stops, replies);
        stops += 1;
        ended = traced.step() == At::Marker;
    }
    if !ended {
        traced.finish();
    }
    // SAFETY: the victim has reached its second marker, behind its `put`.
    Ok((unsafe { answer.take() }, stops))
}

/// Runs `operation` to its end in a process of its own, if its processor time suffices.
fn meanwhile<O: Copy>(stopped_after: usize, operation: impl FnOnce() -> O) -> Result<O, Blocked> {
    let replies = Mailbox::empty();
    let mut traced = Traced::start(|| {
        let patience = libc::timeval { tv_sec: 0, tv_usec: PATIENCE };
        let once = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: patience };
        // SAFETY: a valid timer, and no place for the old one.
        unsafe { libc::setitimer(libc::ITIMER_VIRTUAL, &raw const once, ptr::null_mut()) };
        replies.put(operation());
    });
    match traced.resume(libc::PTRACE_CONT) {
        // SAFETY: the others have reached their second marker, behind their `put`.
        At::Marker => Ok(unsafe { replies.take() }),
        At::Exhausted => Err(Blocked { stopped_after }),
        At::Instruction => unreachable!("it was not stepped"),
    }
}

/// What the markers and the mailbox cost in instructions: the length of a walk over nothing.
pub(crate) fn overhead() -> usize {
    stop_once_everywhere(|| (), |()| 0_u64, |()| 0_u64, |_| ()).expect("nothing cannot block")
}
