//! The policy, which is wiring, and the call, which is the state of one call.

use core::ffi::c_char;
use core::time::Duration;

use core_seawall::policy::{Call, Ending, Finish, Policy, PolicyConfig, Receipt, Step, Told};
use core_seawall::{Backoff, Deadline, Failure, Instant, Retry, Timeouts, Verdict};

use crate::backoff::sw_backoff;
use crate::caller::{Caller, Plain};
use crate::circuit_breaker::sw_circuit_breaker;
use crate::circuit_breaker_config::SW_DEFAULT;
use crate::decision::{sw_rejection, sw_transition};
use crate::names;
use crate::retry::{sw_retry_config, sw_timeouts_config};
use crate::retry_budget::sw_retry_budget;
use crate::status::{status, sw_status};
use crate::text;
use crate::token_bucket::sw_token_bucket;

/// What no part of a policy has to itself. Begin with `sw_policy_config_default()`. Meaning, range and default of
/// each field are told at `enum sw_policy_field` (seawall_constants.h).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_policy_config {
    pub expected_ns: u64,
    pub max_wait_ns: u64,
    pub cost: u64,
    /// An `enum sw_late`.
    pub late: u64,
}

/// Which rules a call goes by and which parts it asks. A plain value: set the pointers to what calls to
/// this dependency share, or leave them NULL. Not for memory that is shared between processes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sw_policy {
    opaque: [u64; 19],
    /// Retries are paid for here; NULL: they cost nothing.
    pub budget: *mut sw_retry_budget,
    /// Every attempt asks it; NULL: there is none.
    pub breaker: *mut sw_circuit_breaker,
    /// Every attempt takes its cost from it; NULL: there is none.
    pub rate_limit: *mut sw_token_bucket,
}

/// The state of one call, for one thread at a time. Zero is a call that was never started.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct sw_call {
    opaque: [u64; 44],
}

// SAFETY: a call is repr(C), made of u64 throughout, and any bytes are a call (fuzzed).
unsafe impl Plain for Call {}

const _: () = assert!(size_of::<Call>() == size_of::<sw_call>() && align_of::<Call>() == align_of::<sw_call>());
const _: () = assert!(Policy::WORDS == 19);

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sw_step_kind {
    /// Send the attempt `attempt`, to be cut off at `until_ns`; then poll again.
    SW_STEP_RUN = 1,
    /// Cut the attempt `attempt` off: `why` is an `enum sw_cut`. Its result no longer matters. Poll again.
    SW_STEP_CANCEL = 2,
    /// Nothing to do until `until_ns`, or until an input comes: `why` is an `enum sw_pause`.
    SW_STEP_WAIT = 3,
    /// The breaker has changed its state: log `transition`; nobody else is told. Poll again.
    SW_STEP_CHANGED = 4,
    /// The call is over: `why` is an `enum sw_end`.
    SW_STEP_DONE = 5,
}

/// A step of a call. What a kind does not speak of is 0.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct sw_step {
    /// An `enum sw_step_kind`.
    pub kind: u32,
    /// Run, cancel: its number, from 1. Done: the attempt whose success is the answer, or the last that
    /// failed; 0: none.
    pub attempt: u32,
    /// Cancel: an `enum sw_cut`. Wait: an `enum sw_pause`. Done: an `enum sw_end`.
    pub why: u32,
    /// Run: the failure that it is a retry after. Done: the last failure's class. An `enum sw_failure`; 0:
    /// none.
    pub failure: u32,
    /// Done: how many attempts were sent.
    pub attempts: u32,
    /// Done: 1 when there is an answer.
    pub success: u32,
    /// Run: when it is cut off. Wait: when to poll again. UINT64_MAX: never by itself.
    pub until_ns: u64,
    /// Run: how long was waited before it.
    pub waited_ns: u64,
    /// Wait: what `sw_call_woken` takes; 0: the wait is not cut short.
    pub ticket: u64,
    /// Done: when the dependency said it would be back; 0: it did not.
    pub told_ns: u64,
    /// Done: who refused, where one of our own layers did.
    pub rejection: sw_rejection,
    /// Changed: the breaker's change of state.
    pub transition: sw_transition,
}

/// How an attempt ended. Make it with `sw_finish_success`, `sw_finish_failure` or `sw_finish_status`, and overrule
/// what you know better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct sw_finish {
    /// An `enum sw_failure`; 0: it worked.
    pub failure: u32,
    /// 1: it may go away, so that another attempt makes sense.
    pub retryable: u32,
    /// 1: another attempt makes sense only after the wait that was told, if one was.
    pub after_wait: u32,
    /// What the breaker makes of it: an `enum sw_evidence`.
    pub evidence: u32,
    /// 1: the dependency said not to try again.
    pub stop: u32,
    /// 0.
    pub reserved: u32,
    /// The dependency said to wait so long (`Retry-After`); UINT64_MAX: it did not.
    pub retry_after_ns: u64,
}

impl sw_policy_config {
    fn core(&self) -> PolicyConfig {
        let fields: [u64; PolicyConfig::FIELDS.len()] = [self.expected_ns, self.max_wait_ns, self.cost, self.late];
        let given = fields.into_iter().enumerate().filter(|&(_, value)| value != SW_DEFAULT);
        given.fold(PolicyConfig::new(), |config, (place, value)| config.with(place, value))
    }
}

/// A configuration with every field at its default.
#[unsafe(no_mangle)]
pub extern "C" fn sw_policy_config_default() -> sw_policy_config {
    sw_policy_config { expected_ns: SW_DEFAULT, max_wait_ns: SW_DEFAULT, cost: SW_DEFAULT, late: SW_DEFAULT }
}

/// Why a configuration is impossible, as a sentence; see `sw_circuit_breaker_config_explain`.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_policy_config_explain(
    config: *const sw_policy_config,
    text: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    match caller.read(config).map(|config| config.core().check()) {
        Ok(Ok(())) => text::put(caller, text, size, ""),
        Ok(Err(error)) => text::put(caller, text, size, error),
        Err(error) => text::put(caller, text, size, names::sentence(error)),
    }
}

/// Makes a policy of one attempt within these timeouts, which must all be stated, with nothing shared. `config` may
/// be NULL: every field at its default.
///
/// SW_ERR_CONFIG: configuration or timeouts are impossible; the policy is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_policy_init(
    policy: *mut sw_policy,
    config: *const sw_policy_config,
    timeouts: *const sw_timeouts_config,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let out = caller.out(policy)?;
        let config = if config.is_null() { PolicyConfig::new() } else { caller.read(config)?.core() };
        let timeouts = Timeouts::new(&caller.read(timeouts)?.core()).map_err(|_| sw_status::SW_ERR_CONFIG)?;
        let made = Policy::new(&config, timeouts).map_err(|_| sw_status::SW_ERR_CONFIG)?;
        out.put(|| sw_policy {
            opaque: made.rules_to_words(),
            budget: core::ptr::null_mut(),
            breaker: core::ptr::null_mut(),
            rate_limit: core::ptr::null_mut(),
        });
        Ok(sw_status::SW_OK)
    })
}

/// Retries by these rules, with these pauses.
///
/// SW_ERR_CONFIG: the rules are impossible; SW_ERR_UNCONFIGURED: there are no pauses. The policy is as it was then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_policy_retry(
    policy: *mut sw_policy,
    retry: *const sw_retry_config,
    backoff: *const sw_backoff,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let present = caller.read(policy)?;
        let retry = Retry::new(&caller.read(retry)?.core()).map_err(|_| sw_status::SW_ERR_CONFIG)?;
        let backoff: Backoff = crate::backoff::configured(caller, backoff)?;
        let rules = Policy::from_words(present.opaque).retry(retry, backoff).rules_to_words();
        caller.out(policy)?.put(|| sw_policy { opaque: rules, ..present });
        Ok(sw_status::SW_OK)
    })
}

/// The policy with what it shares; parts that are there must have been configured.
fn wired<'a>(caller: Caller<'a>, policy: *const sw_policy) -> Result<Policy<'a>, sw_status> {
    let sw_policy { opaque, budget, breaker, rate_limit } = caller.read(policy)?;
    let mut policy = Policy::from_words(opaque);
    if !budget.is_null() {
        policy = policy.budget(crate::retry_budget::configured(caller, budget)?);
    }
    if !breaker.is_null() {
        policy = policy.breaker(crate::circuit_breaker::configured(caller, breaker)?);
    }
    if !rate_limit.is_null() {
        policy = policy.rate_limit(crate::token_bucket::configured(caller, rate_limit)?);
    }
    Ok(policy)
}

/// Starts a call; `deadline_ns` is when its caller wants all of it done, UINT64_MAX: whenever. A call is started
/// once: zero it before it is used again.
///
/// SW_STALE: it was started before, and nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_call_start(call: *mut sw_call, deadline_ns: u64) -> sw_status {
    // SAFETY: the header's section "Pointers"; a call belongs to one caller at a time.
    let caller = unsafe { Caller::promises() };
    status(|| Ok(receipt(call_of(caller, call)?.start(Deadline::at(Instant::from_nanos(deadline_ns))))))
}

/// What to do next. After every input, whenever the instant of a wait has come, and after every other step:
/// poll until it is SW_STEP_WAIT or SW_STEP_DONE. `r` is randomness for the pauses; 0: none.
///
/// SW_ERR_UNCONFIGURED: a part of the policy was never initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_call_poll(
    call: *mut sw_call,
    policy: *const sw_policy,
    now_ns: u64,
    r: u64,
    step: *mut sw_step,
) -> sw_status {
    // SAFETY: the header's section "Pointers"; a call belongs to one caller at a time.
    let caller = unsafe { Caller::promises() };
    status(|| {
        let out = caller.out(step)?;
        let policy = wired(caller, policy)?;
        let step = call_of(caller, call)?.poll(&policy, Instant::from_nanos(now_ns), r);
        out.put(|| step.into());
        Ok(sw_status::SW_OK)
    })
}

/// An attempt has ended. Only the first result of an attempt that is out is taken.
///
/// SW_STALE: it ended before, was cut off, was never sent, or the call is over; nothing has changed.
/// SW_ERR_VALUE: a number of `finish` is none of its enumeration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_call_finished(call: *mut sw_call, attempt: u32, finish: *const sw_finish) -> sw_status {
    // SAFETY: the header's section "Pointers"; a call belongs to one caller at a time.
    let caller = unsafe { Caller::promises() };
    status(|| {
        let finish = caller.read(finish)?.core().ok_or(sw_status::SW_ERR_VALUE)?;
        Ok(receipt(call_of(caller, call)?.finished(attempt, finish)))
    })
}

/// The pause with this ticket need not last any longer: the connection is back, say.
///
/// SW_STALE: that pause is over, or the dependency told it; nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_call_woken(call: *mut sw_call, ticket: u64) -> sw_status {
    // SAFETY: the header's section "Pointers"; a call belongs to one caller at a time.
    let caller = unsafe { Caller::promises() };
    status(|| Ok(receipt(call_of(caller, call)?.woken(ticket))))
}

/// The caller wants no more of it: no further attempt, and no verdict on those that are out. Poll: what is out is
/// to be cut off.
///
/// SW_STALE: it is over; nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_call_cancelled(call: *mut sw_call) -> sw_status {
    // SAFETY: the header's section "Pointers"; a call belongs to one caller at a time.
    let caller = unsafe { Caller::promises() };
    status(|| Ok(receipt(call_of(caller, call)?.cancelled())))
}

/// It worked.
#[unsafe(no_mangle)]
pub extern "C" fn sw_finish_success() -> sw_finish {
    Finish::success().into()
}

/// It failed like this (an `enum sw_failure`), and that means what the table of the reference says. A number that is none
/// counts as SW_FAILURE_OTHER.
#[unsafe(no_mangle)]
pub extern "C" fn sw_finish_failure(failure: u32) -> sw_finish {
    let failure = u8::try_from(failure).ok().and_then(Failure::from_number).unwrap_or(Failure::Other);
    Finish::failed(failure).into()
}

/// An HTTP answer with this status, a success or a failure by the table of the reference. `retry_after_ns` is what its
/// Retry-After said (`sw_parse_retry_after`); UINT64_MAX: nothing.
#[unsafe(no_mangle)]
pub extern "C" fn sw_finish_status(http_status: u32, retry_after_ns: u64) -> sw_finish {
    let finish = Finish::status(u16::try_from(http_status).unwrap_or(u16::MAX));
    sw_finish { retry_after_ns, ..finish.into() }
}

fn call_of<'a>(caller: Caller<'a>, call: *mut sw_call) -> Result<&'a mut Call, sw_status> {
    caller.own(call.cast())
}

fn receipt(receipt: Receipt) -> sw_status {
    match receipt {
        Receipt::Taken => sw_status::SW_OK,
        _ => sw_status::SW_STALE,
    }
}

fn number(failure: Option<Failure>) -> u32 {
    failure.map_or(0, |failure| u32::from(failure.number()))
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

impl From<Finish> for sw_finish {
    fn from(finish: Finish) -> Self {
        let Verdict { retryable, after_wait, breaker, .. } = finish.verdict();
        Self {
            failure: number(finish.failure()),
            retryable: u32::from(retryable),
            after_wait: u32::from(after_wait),
            evidence: u32::from(breaker.number()),
            stop: 0,
            reserved: 0,
            retry_after_ns: u64::MAX,
        }
    }
}

impl sw_finish {
    fn core(&self) -> Option<Finish> {
        let told = match (self.stop, self.retry_after_ns) {
            (0, u64::MAX) => Told::Nothing,
            (0, wait) => Told::Wait(Duration::from_nanos(wait)),
            _ => Told::Stop,
        };
        if self.failure == 0 {
            return Some(Finish::success());
        }
        let failure = Failure::from_number(u8::try_from(self.failure).ok()?)?;
        let breaker = core_seawall::Evidence::from_number(u8::try_from(self.evidence).ok()?)?;
        let verdict = Verdict { retryable: self.retryable != 0, after_wait: self.after_wait != 0, breaker };
        Some(Finish::judged(failure, verdict).told(told))
    }
}

impl From<Step> for sw_step {
    fn from(step: Step) -> Self {
        let of = |kind: sw_step_kind| Self { kind: kind as u32, ..Self::default() };
        match step {
            Step::Run(run) => Self {
                attempt: run.attempt,
                until_ns: run.until.as_nanos(),
                waited_ns: nanos(run.waited),
                failure: number(run.after),
                ..of(sw_step_kind::SW_STEP_RUN)
            },
            Step::Cancel { attempt, reason } => {
                Self { attempt, why: u32::from(reason.number()), ..of(sw_step_kind::SW_STEP_CANCEL) }
            }
            Step::Wait { until, ticket, pause } => Self {
                until_ns: until.as_nanos(),
                ticket,
                why: u32::from(pause.number()),
                ..of(sw_step_kind::SW_STEP_WAIT)
            },
            Step::Changed(change) => Self { transition: change.into(), ..of(sw_step_kind::SW_STEP_CHANGED) },
            Step::Done(ending) => ending.into(),
            // A step that this version does not know: nothing to do, poll again.
            _ => of(sw_step_kind::SW_STEP_WAIT),
        }
    }
}

impl From<Ending> for sw_step {
    fn from(ending: Ending) -> Self {
        Self {
            kind: sw_step_kind::SW_STEP_DONE as u32,
            attempt: ending.attempt,
            why: u32::from(ending.end.number()),
            failure: number(ending.failure),
            attempts: ending.attempts,
            success: u32::from(ending.is_success()),
            told_ns: ending.told.map_or(0, Instant::as_nanos),
            rejection: ending.rejection.map_or_else(sw_rejection::default, Into::into),
            ..Self::default()
        }
    }
}
