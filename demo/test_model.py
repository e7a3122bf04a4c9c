"""The plain breaker that the logs are held against, on histories short enough to follow by hand."""

import model
import pytest

SETTINGS = {"failure_rate": 0.5, "window": 4, "minimum_calls": 3, "trials": 2}


@pytest.fixture
def breaker() -> model.Breaker:
    return model.Breaker(SETTINGS)


def call(breaker: model.Breaker, number: int, outcome: str) -> list[model.Change]:
    return breaker.admitted(number) + breaker.settled(number, outcome)


def opened(breaker: model.Breaker) -> None:
    for number in (1, 2, 3):
        call(breaker, number, "failure")
    assert breaker.state == "open"


def test_it_opens_at_the_rate_but_not_before_the_minimum_of_calls(breaker):
    assert call(breaker, 1, "failure") == []
    assert call(breaker, 2, "failure") == []
    assert call(breaker, 3, "success") == [model.Change("closed", "open", "failure_rate", 3, 2, 0)]


def test_only_the_last_calls_count(breaker):
    for number, outcome in enumerate(["success", "success", "failure", "success", "success", "success"], 1):
        assert call(breaker, number, outcome) == []
    assert call(breaker, 7, "failure") == []
    assert call(breaker, 8, "failure") == [model.Change("closed", "open", "failure_rate", 4, 2, 0)]


def test_an_ignored_call_counts_for_nothing(breaker):
    for number in range(1, 10):
        assert call(breaker, number, "ignored") == []
    assert breaker.state == "closed"


def test_an_answer_that_names_an_instant_opens_it_at_once(breaker):
    assert call(breaker, 1, "told") == [model.Change("closed", "open", "retry_after", 1, 1, 0)]


def test_all_trials_must_succeed_to_close_it(breaker):
    opened(breaker)
    assert breaker.admitted(4) == [model.Change("open", "half-open", "due", 0, 0, 0)]
    assert breaker.settled(4, "success") == []
    assert call(breaker, 5, "success") == [model.Change("half-open", "closed", "trials_succeeded", 2, 0, 1)]


@pytest.mark.parametrize("outcome, cause", [("failure", "trial_failed"), ("told", "retry_after")])
def test_one_failed_trial_opens_it_again(breaker, outcome, cause):
    opened(breaker)
    breaker.admitted(4)
    breaker.settled(4, "success")
    assert call(breaker, 5, outcome) == [model.Change("half-open", "open", cause, 2, 1, 1)]


def test_a_settlement_from_before_a_change_is_stale(breaker):
    breaker.admitted(10)
    opened(breaker)
    breaker.admitted(4)
    assert breaker.settled(10, "failure") == []
    assert breaker.state == "half-open"
