"""Every change of state can be seen: returned, logged and told, exactly once, after the operation."""

from __future__ import annotations

import logging
import threading

import pytest
from conftest import fail, trip

import seawall
from seawall.testing import ManualRandom


def heard(breaker):
    changes = []
    breaker.on_transition(changes.append)
    return changes


def test_a_life_as_transitions(make, clock):
    breaker = make(name="payments")
    changes = heard(breaker)
    trip(breaker)
    clock.advance(10.1)
    with pytest.raises(ConnectionError):
        breaker.call(fail)
    clock.advance(10.1)
    breaker.call(int)
    assert [(c.from_state, c.to_state, c.cause) for c in changes] == [
        ("closed", "open", "failure_threshold"),
        ("open", "half-open", "due"),
        ("half-open", "open", "trial_failed"),
        ("open", "half-open", "due"),
        ("half-open", "closed", "trials_succeeded"),
    ]
    first = changes[0]
    assert (first.policy, first.calls, first.failed, first.slow) == ("payments", 2, 2, 0)
    assert first.at == 1000.0 and 1010.0 <= first.until < 1010.01
    assert [c.generation for c in changes] == sorted(c.generation for c in changes)
    assert (changes[2].reopened, changes[4].until) == (1, None)


def test_changes_by_hand_are_returned_and_told(make):
    breaker = make()
    changes = heard(breaker)
    returned = [breaker.trip(), breaker.half_open(), breaker.half_open(), breaker.reset()]
    assert [c and (c.to_state, c.cause) for c in returned] == [
        ("open", "tripped"),
        ("half-open", "half_opened"),
        None,
        ("closed", "reset"),
    ]
    assert [(c.to_state, c.cause) for c in changes] == [(c.to_state, c.cause) for c in returned if c]


def test_trip_until_and_for(make, clock):
    breaker = make()
    assert 1060 <= breaker.trip(until=1060.0).until < 1060.01
    assert 1090 <= breaker.trip(retry_after="90s").until < 1090.01
    assert 1010 <= breaker.trip().until < 1010.01


def test_transitions_are_logged(make, clock, caplog):
    caplog.set_level(logging.INFO, logger="seawall")
    breaker = make(name="payments")
    trip(breaker)
    clock.advance(10.1)
    breaker.call(int)
    assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records] == [
        ("seawall", "WARNING", "payments: closed -> open (failure_threshold), 2 of 2 calls failed"),
        ("seawall", "INFO", "payments: open -> half-open (due), 0 of 0 calls failed"),
        ("seawall", "INFO", "payments: half-open -> closed (trials_succeeded), 0 of 1 calls failed"),
    ]


def test_a_listener_that_raises_is_logged_and_hurts_nobody(make, caplog):
    breaker = make(failure_threshold=1)

    @breaker.on_transition
    def broken(change):
        raise RuntimeError("broken listener")

    changes = heard(breaker)
    with pytest.raises(ConnectionError):
        breaker.call(fail)
    assert len(changes) == 1, "the next listener is told all the same"
    assert "circuit_breaker: a listener raised" in caplog.text and "broken listener" in caplog.text


def test_a_logging_filter_that_raises_hurts_nobody(make, monkeypatch):
    def broken(record):
        raise RuntimeError("broken filter")

    logger = logging.getLogger("seawall")
    monkeypatch.setattr(logging, "raiseExceptions", False)
    logger.addFilter(broken)
    try:
        breaker = make()
        changes = heard(breaker)
        trip(breaker)
        assert len(changes) == 1
    finally:
        logger.removeFilter(broken)


def test_an_interrupt_in_a_listener_is_not_swallowed_and_loses_no_trial(make, clock):
    breaker = make()
    breaker.trip()
    clock.advance(10.1)

    @breaker.on_transition
    def interrupted(change):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        breaker.admit()
    assert breaker.snapshot().trials_in_flight == 0 and breaker.state == "half-open"


def test_listeners_are_called_outside_of_everything(make, clock):
    """A listener may use the breaker, add listeners and remove itself."""
    breaker = make()
    seen = []

    @breaker.on_transition
    def listener(change):
        seen.append((change.to_state, breaker.state))
        breaker.off_transition(listener)
        breaker.on_transition(lambda change: seen.append(change.to_state))
        if change.to_state == "open":
            breaker.reset()

    trip_and_reset(breaker)
    assert seen == [("open", "open"), "closed"]
    breaker.off_transition(listener)  # it is gone already: nothing happens


def test_a_listener_that_goes_takes_nobody_elses_turn(make):
    breaker = make()

    @breaker.on_transition
    def once(change):
        breaker.off_transition(once)

    changes = heard(breaker)
    breaker.trip()
    assert [change.to_state for change in changes] == ["open"]


def trip_and_reset(breaker):
    for _ in range(2):
        with pytest.raises(ConnectionError):
            breaker.call(fail)
    assert breaker.state == "closed"


def test_only_callables_listen(make):
    with pytest.raises(TypeError):
        make().on_transition(None)


def test_many_threads_one_transition(make):
    breaker = make(failure_threshold=1)
    changes = heard(breaker)
    permits = [breaker.admit() for _ in range(8)]
    start = threading.Barrier(8)

    def settle(permit):
        start.wait()
        permit.failure()

    threads = [threading.Thread(target=settle, args=(permit,)) for permit in permits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [c.to_state for c in changes] == ["open"]


def test_jitter_comes_from_the_system_unless_chosen(make):
    def untils(**options):
        return [make(reset_after=100, reset_jitter=0.5, **options).trip().until for _ in range(8)]

    assert len(set(untils())) > 1, "every breaker waits for a time of its own"
    assert len(set(untils(random=7))) == 1, "equal seeds, equal jitter"
    assert all(1050 <= until <= 1150.01 for until in untils())


def test_without_randomness_there_is_no_jitter_and_it_is_said(make, caplog):
    breaker = make(reset_after=100, reset_jitter=0.5, random=ManualRandom(0))
    change = breaker.trip()
    assert change.unseeded and 1100 <= change.until < 1100.01
    assert "no randomness" in caplog.text


def test_repr(make):
    breaker = make(name="payments")
    assert repr(breaker.trip()) == "<Transition payments: closed -> open (tripped)>"
    assert repr(breaker).startswith("<CircuitBreaker payments: open: ")
    assert repr(breaker.snapshot()) == "<Snapshot open, normal: 0 of 0 failed, 0 slow>"


def test_refusals_are_counted_by_reason(make, clock):
    breaker = make()
    assert breaker.refusals() == {}
    breaker.trip()
    for _ in range(3):
        with pytest.raises(seawall.CircuitOpen):
            breaker.admit()
    clock.advance(10.1)
    trial = breaker.admit()
    with pytest.raises(seawall.CircuitOpen):
        breaker.call(int)
    breaker.mode = "forced-open"
    with pytest.raises(seawall.CircuitOpen) as refused:
        breaker.admit()
    assert refused.value.reason == "forced_open" and refused.value.at is None
    assert breaker.refusals() == {"open": 3, "trials_busy": 1, "forced_open": 1}
    del trial
