"""What is dropped is gone: no registry, and cycles through listeners and decorated functions end."""

from __future__ import annotations

import gc
import sys
import weakref

import pytest
from conftest import fail

import seawall


def test_breakers_that_are_dropped_are_gone(make):
    references = [weakref.ref(make()) for _ in range(1000)]
    gc.collect()
    assert not any(reference() for reference in references)


class Owner:
    """Has a breaker that has its methods: three kinds of cycle."""

    def __init__(self):
        self.breaker = seawall.CircuitBreaker(is_failure=self.judge, is_failure_result=self.judge)
        self.breaker.on_transition(self.heard)
        self.call = self.breaker(self.work)
        self.call.owner = self
        self.permit = self.breaker.admit()

    def judge(self, _):
        return False

    def heard(self, _):
        pass

    def work(self):
        pass


def test_cycles_are_collected():
    owner = Owner()
    owner.call()
    gone = weakref.ref(owner), weakref.ref(owner.breaker), weakref.ref(owner.call)
    del owner
    gc.collect()
    assert not any(reference() for reference in gone)


def test_blocks_leave_nothing_behind(make):
    breaker = make()
    gone = weakref.ref(breaker)
    with breaker:
        with pytest.raises(ConnectionError), breaker:
            fail()
    del breaker
    gc.collect()
    assert gone() is None


def test_calls_leak_no_references(make):
    """Every way through, many times: arguments, results and errors have as many references as before."""
    breaker = make(failure_threshold=1_000_000)
    argument, error = object(), ConnectionError()
    guarded = breaker(lambda x: x)
    failing = breaker(lambda: fail(error))

    def once():
        guarded(argument)
        breaker.call(lambda x: x, argument)
        try:
            failing()
        except ConnectionError:
            error.__traceback__ = None
        with breaker:
            pass
        breaker.admit().ignore()
        breaker._returned(breaker._enter(), argument)

    once()
    gc.collect()
    before = sys.getrefcount(argument), sys.getrefcount(error), sys.getrefcount(breaker), len(gc.get_objects())
    for _ in range(1000):
        once()
    gc.collect()
    after = sys.getrefcount(argument), sys.getrefcount(error), sys.getrefcount(breaker), len(gc.get_objects())
    assert after[:3] == before[:3] and after[3] <= before[3] + 10
