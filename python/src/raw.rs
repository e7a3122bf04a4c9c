//! A call step by step, for the conformance vectors: what the engine says, before the face acts on it.

use std::sync::Mutex;

use core::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use seawall::policy::{Finish, Told};
use seawall::{Call, Deadline, Evidence, Failure, Instant, Step, Verdict, When};

use crate::policy::Policy;

/// One call whose driver is the test itself.
#[pyclass(frozen, name = "_RawCall", module = "seawall")]
#[derive(Debug)]
pub(crate) struct RawCall {
    policy: Py<Policy>,
    call: Mutex<Call>,
}

impl RawCall {
    fn with<T>(&self, act: impl FnOnce(&mut Call) -> T) -> PyResult<T> {
        let mut call = self.call.try_lock().map_err(|_| PyRuntimeError::new_err("in use"))?;
        Ok(act(&mut call))
    }
}

#[pymethods]
impl RawCall {
    #[new]
    fn new(policy: Py<Policy>) -> Self {
        Self { policy, call: Mutex::new(Call::new()) }
    }

    fn start(&self, deadline_ns: u64) -> PyResult<&'static str> {
        self.with(|call| call.start(Deadline::at(Instant::from_nanos(deadline_ns))).name())
    }

    /// Everything it says until it says `wait` or `done`, in the form of the vectors.
    fn poll<'py>(&self, py: Python<'py>, now_ns: u64, r: u64) -> PyResult<Bound<'py, PyList>> {
        let said = PyList::empty(py);
        let now = Instant::from_nanos(now_ns);
        loop {
            let step = self.with(|call| call.poll(&self.policy.get().wiring(), now, r))?;
            let step_said = PyDict::new(py);
            let more = PyDict::new(py);
            let last = matches!(step, Step::Wait { .. } | Step::Done(_));
            let kind = match step {
                Step::Run(attempt) => {
                    more.set_item("attempt", attempt.attempt)?;
                    more.set_item("until_ns", instant(attempt.until))?;
                    more.set_item("waited_ns", attempt.waited.as_nanos().to_string())?;
                    more.set_item("after", attempt.after.map(Failure::name))?;
                    "run"
                }
                Step::Cancel { attempt, reason } => {
                    more.set_item("attempt", attempt)?;
                    more.set_item("reason", reason.name())?;
                    "cancel"
                }
                Step::Changed(change) => {
                    more.set_item("from", change.from.name())?;
                    more.set_item("to", change.to.name())?;
                    more.set_item("cause", change.cause.name())?;
                    more.set_item("at_ns", change.at.as_nanos().to_string())?;
                    more.set_item("until_ns", change.until.map(|until| until.as_nanos().to_string()))?;
                    more.set_item("generation", change.generation)?;
                    more.set_item("calls", change.calls)?;
                    more.set_item("failed", change.failed)?;
                    more.set_item("slow", change.slow)?;
                    more.set_item("reopened", change.reopened)?;
                    more.set_item("unseeded", change.unseeded)?;
                    "changed"
                }
                Step::Wait { until, ticket, pause } => {
                    more.set_item("until_ns", instant(until))?;
                    more.set_item("ticket", ticket)?;
                    more.set_item("pause", pause.name())?;
                    "wait"
                }
                Step::Done(ending) => {
                    more.set_item("end", ending.end.name())?;
                    more.set_item("attempt", ending.attempt)?;
                    more.set_item("attempts", ending.attempts)?;
                    let refused = ending.rejection.map(|rejection| -> PyResult<_> {
                        let refused = PyDict::new(py);
                        refused.set_item("layer", rejection.layer.name())?;
                        refused.set_item("reason", rejection.reason.name())?;
                        let when = match rejection.when {
                            When::At(_) => "at",
                            When::Never => "never",
                            _ => "depends",
                        };
                        refused.set_item("when", when)?;
                        refused.set_item("at_ns", rejection.at().map(|at| at.as_nanos().to_string()))?;
                        refused.set_item("explain", rejection.explain(now).as_str())?;
                        Ok(refused)
                    });
                    more.set_item("refused", refused.transpose()?)?;
                    more.set_item("failure", ending.failure.map(Failure::name))?;
                    more.set_item("told_ns", ending.told.map(|told| told.as_nanos().to_string()))?;
                    "done"
                }
                _ => return Err(PyRuntimeError::new_err("a step that this version does not know")),
            };
            step_said.set_item(kind, more)?;
            said.append(step_said)?;
            if last {
                return Ok(said);
            }
        }
    }

    #[pyo3(signature = (attempt, failure, retryable, breaker, told_ns, stop))]
    fn finished(
        &self,
        attempt: u32,
        failure: Option<&str>,
        retryable: bool,
        breaker: &str,
        told_ns: Option<u64>,
        stop: bool,
    ) -> PyResult<&'static str> {
        let unknown = || PyValueError::new_err("no such name");
        let finish = match failure {
            None => Finish::success(),
            Some(name) => {
                let failure = Failure::ALL.iter().find(|failure| failure.name() == name).ok_or_else(unknown)?;
                let breaker = Evidence::ALL.iter().find(|evidence| evidence.name() == breaker).ok_or_else(unknown)?;
                Finish::judged(*failure, Verdict { retryable, after_wait: false, breaker: *breaker })
            }
        };
        let finish = match (stop, told_ns) {
            (true, _) => finish.told(Told::Stop),
            (false, Some(nanos)) => finish.told(Told::Wait(Duration::from_nanos(nanos))),
            (false, None) => finish,
        };
        self.with(|call| call.finished(attempt, finish).name())
    }

    fn woken(&self, ticket: u64) -> PyResult<&'static str> {
        self.with(|call| call.woken(ticket).name())
    }

    fn cancelled(&self) -> PyResult<&'static str> {
        self.with(|call| call.cancelled().name())
    }
}

/// Never is null.
fn instant(at: Instant) -> Option<String> {
    (at != Instant::MAX).then(|| at.as_nanos().to_string())
}
