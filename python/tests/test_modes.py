"""Modes are chosen, states are measured; both change while it runs."""

from __future__ import annotations

import pytest
from conftest import fail, trip

import seawall
from seawall.testing import mode


def test_forced_open_keeps_what_was_learnt(make):
    breaker = make(failure_threshold=3)
    for _ in range(2):
        with pytest.raises(ConnectionError):
            breaker.call(fail)
    breaker.mode = "forced-open"
    assert (breaker.mode, breaker.state) == ("forced-open", "closed")
    with pytest.raises(seawall.CircuitOpen) as refused:
        breaker.call(int)
    assert (refused.value.reason, refused.value.retry_after) == ("forced_open", None)
    breaker.mode = "normal"
    with pytest.raises(ConnectionError):
        breaker.call(fail)
    assert breaker.state == "open", "the third failure in a row"


def test_disabled_is_identity(make):
    breaker = make()
    with mode(breaker, "disabled"):
        for _ in range(5):
            with pytest.raises(ConnectionError):
                breaker.call(fail)
            assert breaker.call(lambda: 3) == 3
        assert breaker.admit().unrecorded
    assert (breaker.mode, breaker.state, breaker.snapshot().failed) == ("normal", "closed", 0)


def test_shadow_measures_and_never_refuses(make):
    breaker = make(mode="shadow")
    trip(breaker)
    assert breaker.call(lambda: 3) == 3
    permit = breaker.admit()
    assert permit.bypassed == "open" and permit.unrecorded
    assert breaker.refusals() == {} and breaker.bypasses() == {"open": 2}


def test_a_mode_for_the_length_of_a_block_ends_with_it(make):
    breaker = make()
    with pytest.raises(seawall.CircuitOpen), mode(breaker, "forced-open"):
        breaker.admit()
    assert breaker.mode == "normal"


def test_the_configuration_changes_while_it_runs_and_what_is_not_named_is_the_default(make, clock):
    breaker = make(reset_after=20)
    with pytest.raises(ConnectionError):
        breaker.call(fail)
    breaker.configure(failure_threshold=3, reset_after=10)
    with pytest.raises(ConnectionError):
        breaker.call(fail)
    assert (breaker.state, breaker.snapshot().failed) == ("closed", 2), "what was learnt is kept"
    with pytest.raises(ConnectionError):
        breaker.call(fail)
    with pytest.raises(seawall.CircuitOpen) as refused:
        breaker.admit()
    assert 10 <= refused.value.retry_after < 10.01
    breaker.reset()
    breaker.configure()
    for _ in range(4):
        with pytest.raises(ConnectionError):
            breaker.call(fail)
    assert breaker.state == "closed", "the default of 5 again"


def test_a_mode_for_the_length_of_a_block_keeps_the_configuration(make):
    breaker = make(failure_threshold=1)
    with mode(breaker, "disabled"):
        pass
    trip(breaker, 1)


def test_the_mode_stays_when_the_configuration_changes_unless_it_is_named(make):
    breaker = make()
    breaker.mode = "forced-open"
    breaker.configure(failure_threshold=3)
    assert breaker.mode == "forced-open", "what someone switched off stays off"
    breaker.configure(failure_threshold=1, mode="normal")
    assert breaker.mode == "normal"
    trip(breaker, 1)


def test_a_change_of_mode_keeps_the_configuration(make):
    breaker = make(failure_threshold=1)
    breaker.mode = "shadow"
    breaker.mode = "normal"
    trip(breaker, 1)


def test_an_impossible_change_changes_nothing(make):
    breaker = make()
    with pytest.raises(seawall.ConfigError, match="circuit_breaker.trials: 0 is not allowed; allowed are 1 to 15"):
        breaker.configure(trials=0, failure_threshold=50)
    with pytest.raises(TypeError):
        breaker.configure(trails=1)
    for wrong in ("ajar", None, 0.5):
        with pytest.raises(seawall.ConfigError, match="circuit_breaker.mode"):
            breaker.mode = wrong
    trip(breaker)


def test_a_half_open_breaker_is_seen_without_a_timer(make, clock):
    breaker = make()
    trip(breaker)
    clock.advance(10.1)
    assert breaker.state == breaker.snapshot().state == "half-open"
    assert breaker.explain() == "half-open: the next call is a trial"


def test_the_snapshot_says_what_the_sentence_says(make, clock):
    breaker = make(failure_rate=0.5, window=20, minimum_calls=10)
    for _ in range(9):
        breaker.call(int)
    assert breaker.snapshot().failure_rate is None, "insufficient data"
    for _ in range(9):
        with pytest.raises(ConnectionError):
            breaker.call(fail)
    shot = breaker.snapshot()
    assert (shot.state, shot.calls, shot.failed, shot.cause) == ("open", 18, 9, "failure_rate")
    assert shot.until >= 1010.0 and shot.changed_at == pytest.approx(1000.0, abs=1e-5)
    assert breaker.explain().startswith("open: 9 of the last 18 calls failed; next trial in 10")


def test_refusals_are_told_to_who_listens(make, caplog):
    breaker, heard = make(), []
    breaker.on_refused(heard.append)
    breaker.on_refused(lambda refused: 1 / 0)
    breaker.trip()
    with pytest.raises(seawall.CircuitOpen) as refused:
        breaker.admit()
    assert heard == [refused.value] and "a listener raised" in caplog.text
    breaker.off_refused(heard.append)
    breaker.off_refused(print)
    with pytest.raises(seawall.CircuitOpen):
        breaker.call(int)
    assert len(heard) == 1 and breaker.refusals() == {"open": 2}
    with pytest.raises(TypeError):
        breaker.on_refused(7)
