//! Stops a thread at every instruction of one operation and looks at what the others can still do.
//!
//! The state lies in memory that several processes share. One process, the *victim*, runs one
//! operation under `ptrace`, one machine instruction at a time; a second one, the *others*, runs
//! its operations while the victim stands still. A lock-free operation lets the others through
//! wherever the victim is stopped, so the others are stepped too and have to finish within a
//! stated number of instructions: a lock shows as [`Blocked`], at once and without a clock.
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

/// No operation of ours is this long; one that is does not end under stepping.
const LONGEST: usize = 50_000;

/// A value in memory that stays shared across `fork`.
pub struct Shared<T> {
    at: NonNull<T>,
}

// SAFETY: a `Shared<T>` hands out `&T` and nothing else, like `Box<T>` would.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub fn new(value: T) -> Self {
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

impl<T> Mailbox<T> {
    fn empty() -> Shared<Self> {
        Shared::new(Self(std::cell::UnsafeCell::new(MaybeUninit::uninit())))
    }

    fn put(&self, value: T) {
        // SAFETY: one writer, see `Sync`.
        unsafe { (*self.0.get()).write(value) };
    }

    /// # Safety
    /// `put` has been called.
    unsafe fn take(&self) -> T {
        // SAFETY: filled, says the caller; read once, as every stop has its own mailbox.
        unsafe { (*self.0.get()).assume_init_read() }
    }
}

/// Where a traced process stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// One instruction further.
    Instruction,
    /// At the marker behind the operation.
    Marker,
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
pub struct Blocked {
    /// How many instructions the victim had run.
    pub stopped_after: usize,
}

/// What a walk has seen.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    /// Instructions of the victim, each of them a place where it was stopped; markers included.
    pub stops: usize,
    /// The most instructions that the others needed at one stop.
    pub most_others: usize,
}

/// What happened around one stop.
pub struct Stop<'a, S, V, O> {
    pub state: &'a S,
    pub stopped_after: usize,
    pub victim: V,
    pub others: O,
}

/// Stops `victim` after its first, second, third … instruction, each time on a fresh state; lets
/// `others` finish within `bound` instructions; lets the victim finish; hands all to `check`.
pub fn stop_once_everywhere<S: Sync, V: Copy, O: Copy>(
    bound: usize,
    fresh: impl Fn() -> S,
    victim: impl Fn(&S) -> V,
    others: impl Fn(&S) -> O,
    mut check: impl FnMut(Stop<'_, S, V, O>),
) -> Result<Report, Blocked> {
    let mut most_others = 0;
    for stopped_after in 0..LONGEST {
        let state = Shared::new(fresh());
        let (answer, replies) = (Mailbox::empty(), Mailbox::empty());
        let mut traced = Traced::start(|| answer.put(victim(&state)));
        let ended = (0..stopped_after).any(|_| traced.step() == At::Marker);
        if ended {
            return Ok(Report { stops: stopped_after, most_others });
        }
        let steps = run_bounded(bound, || replies.put(others(&state))).ok_or(Blocked { stopped_after })?;
        most_others = most_others.max(steps);
        traced.finish();
        // SAFETY: both processes have reached their second marker, behind their `put`.
        let (victim, others) = unsafe { (answer.take(), replies.take()) };
        check(Stop { state: &state, stopped_after, victim, others });
    }
    panic!("the victim did not end within {LONGEST} instructions")
}

/// Stops `victim` at every instruction of one run, the first `rounds` of them, and lets `others`
/// finish at each; then the victim finishes undisturbed. Each call of `others` and its answer goes
/// to `seen` as it happens.
pub fn stop_always<S: Sync, V: Copy, O: Copy>(
    bound: usize,
    rounds: usize,
    state: S,
    victim: impl Fn(&S) -> V,
    others: impl Fn(&S, usize) -> O,
    mut seen: impl FnMut(&S, usize, O),
) -> Result<(V, Report), Blocked> {
    let state = Shared::new(state);
    let answer = Mailbox::empty();
    let mut traced = Traced::start(|| answer.put(victim(&state)));
    let mut report = Report { stops: 0, most_others: 0 };
    let mut ended = false;
    while report.stops < rounds && !ended {
        let replies = Mailbox::empty();
        let round = report.stops;
        let steps = run_bounded(bound, || replies.put(others(&state, round))).ok_or(Blocked { stopped_after: round })?;
        report.most_others = report.most_others.max(steps);
        // SAFETY: the others have reached their second marker, behind their `put`.
        seen(&state, round, unsafe { replies.take() });
        report.stops += 1;
        ended = traced.step() == At::Marker;
    }
    if !ended {
        traced.finish();
    }
    // SAFETY: the victim has reached its second marker, behind its `put`.
    Ok((unsafe { answer.take() }, report))
}

/// Runs `operation` in a process of its own, instruction by instruction: how many it took, or
/// `None` if they were more than `bound`.
fn run_bounded(bound: usize, operation: impl FnOnce()) -> Option<usize> {
    let mut traced = Traced::start(operation);
    (0..=bound).find(|_| traced.step() == At::Marker)
}

/// What the markers and the mailbox cost in instructions: the length of a walk over nothing.
pub fn overhead() -> usize {
    let nothing = stop_once_everywhere(10_000, || (), |()| 0_u64, |()| 0_u64, |_| ());
    nothing.expect("nothing cannot block").stops
}
