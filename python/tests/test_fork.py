"""After a fork the child holds nothing of the parent's and jitters anew."""

from __future__ import annotations

import os
import pickle
import warnings

import pytest

import seawall

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def in_child(function):
    """What `function` returns in a forked child."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        # Other tests of this process may have left threads behind; the child only runs `function`.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.write(write, pickle.dumps(function()))
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "the child failed"
    return pickle.loads(answer)


def test_a_trial_of_the_parent_is_not_out_in_the_child(make, clock):
    breaker = make()
    breaker.trip()
    clock.advance(10.1)
    trial = breaker.admit()

    def child():
        in_flight = breaker.snapshot().trials_in_flight
        own = breaker.admit()
        late = trial.success()
        return in_flight, own.trial, late, breaker.state

    assert in_child(child) == (0, True, "stale", "half-open")
    with pytest.raises(seawall.CircuitOpen):
        breaker.admit()
    assert trial.success() == "counted" and breaker.state == "closed"


def test_a_call_that_forks_is_settled_by_the_parent_alone(make):
    breaker = make(failure_threshold=1, is_failure_result=lambda forked: True)
    result = breaker.call(in_child, lambda: None)
    assert result is None and breaker.state == "open"

    breaker = make(failure_threshold=1)
    permit = breaker.admit()
    assert in_child(lambda: (permit.failure(), breaker.state)) == ("stale", "closed")


def test_what_was_learnt_stays_in_the_child(make):
    breaker = make()
    breaker.trip()
    assert in_child(lambda: breaker.state) == "open"


def test_parent_and_child_jitter_apart(clock):
    def untils():
        """Under a clock that stands still, so that only the jitter tells them apart."""
        options = {"clock": clock, "reset_after": 1000, "reset_jitter": 0.9}
        return [seawall.CircuitBreaker(**options).trip().until_ns for _ in range(4)]

    untils()
    child, other = in_child(untils), in_child(untils)
    parent = untils()
    assert len({tuple(child), tuple(other), tuple(parent)}) == 3
