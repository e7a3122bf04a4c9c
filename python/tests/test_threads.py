"""Threads: no lock is held across user code, nothing is lost, nothing is admitted twice."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
import time

import pytest
from conftest import fail

import seawall


@pytest.fixture(autouse=True)
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(*functions):
    start = threading.Barrier(len(functions))
    errors = []

    def run(function):
        start.wait()
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def test_no_lock_is_held_across_the_call(make):
    """Five calls that can only end together: they would never, were one to hold a lock."""
    breaker = make()
    meet = threading.Barrier(5)
    together(*[lambda: breaker.call(meet.wait, 10)] * 5)


def test_everything_at_once(clock, make):
    """Calls, refusals, trips, resets, changes of configuration and looks, for a while: all answers are
    among those that are possible, and the breaker works afterwards."""
    breaker = make(failure_threshold=3, trials=2, reset_after="1ms")
    guarded = breaker(lambda ok: 1 if ok else fail())
    end = time.monotonic() + 0.5

    def calls():
        n = 0
        while time.monotonic() < end:
            n += 1
            try:
                assert guarded(n % 3) == 1
            except (ConnectionError, seawall.CircuitOpen):
                pass
            try:
                with breaker:
                    pass
            except seawall.CircuitOpen:
                pass
            clock.advance_ns(300_000)

    def hands():
        while time.monotonic() < end:
            breaker.trip()
            breaker.half_open()
            breaker.configure(failure_threshold=4, trials=3)
            breaker.mode = "shadow"
            breaker.mode = "normal"
            breaker.configure(window=5)
            breaker.configure(failure_threshold=3, trials=2)
            breaker.reset()

    def looks():
        while time.monotonic() < end:
            shot = breaker.snapshot()
            assert shot.state in ("closed", "open", "half-open") and shot.trials_in_flight <= 3
            assert breaker.explain() and repr(breaker) and breaker.refusals() is not None

    together(calls, calls, hands, looks)
    breaker.reset()
    assert breaker.call(int) == 0 and breaker.state == "closed"


def test_trials_never_exceed_their_number(make, clock):
    breaker = make(trials=3, trial_timeout=1000)
    for _ in range(20):
        breaker.trip()
        clock.advance(10.1)
        admitted = []

        def ask(admitted=admitted):
            for _ in range(20):
                try:
                    admitted.append(breaker.admit())
                except seawall.CircuitOpen:
                    pass

        together(ask, ask, ask)
        assert len(admitted) == 3 and all(permit.trial for permit in admitted)


def test_a_permit_raced_for_is_settled_once(make):
    breaker = make(failure_threshold=1000)
    for round_ in range(50):
        permit = breaker.admit()
        answers = []
        together(*[lambda permit=permit, answers=answers: answers.append(permit.failure())] * 3)
        assert sorted(answers) == ["counted", "stale", "stale"]
        assert breaker.snapshot().failed == round_ + 1


@pytest.mark.skipif(not hasattr(sys, "_is_gil_enabled"), reason="an interpreter before 3.13")
def test_free_threading_is_declared():
    """Importing the module does not bring the lock back on an interpreter that runs without."""
    assert sys._is_gil_enabled() == (not sysconfig.get_config_var("Py_GIL_DISABLED"))


def test_no_threads_are_started(make):
    """Neither Python's nor any of the operating system's."""

    def threads():
        native = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
        return threading.active_count(), native

    before = threads()
    for _ in range(50):
        breaker, bucket = make(), seawall.TokenBucket(rate=1, capacity=1)
        breaker.trip()
        bucket.try_acquire()
    after = threads()
    # Threads of earlier tests may end meanwhile; none begins.
    assert after[0] <= before[0] and after[1] <= before[1]
