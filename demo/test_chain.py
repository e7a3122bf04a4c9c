"""The chain's claims fail when the counts are wrong."""

import pytest
from chain import ACTIONS, VARIANTS, Outcome, checked


def outcomes(*calls: int, answered: int = ACTIONS) -> list[Outcome]:
    return [Outcome(variant, count, answered) for variant, count in zip(VARIANTS, calls, strict=True)]


GOOD = (5400, 600, 230, 30)


def failed(found: list[Outcome]) -> list[int]:
    return [place for place, check in enumerate(checked(found)) if not check.passed]


def test_the_expected_counts_pass():
    assert failed(outcomes(*GOOD)) == []


@pytest.mark.parametrize(
    ("place", "wrong"), [(0, 5399), (0, 5401), (1, 599), (1, 601), (2, 231), (2, 0), (3, 40), (3, 0)]
)
def test_a_wrong_count_fails(place, wrong):
    calls = [*GOOD]
    calls[place] = wrong
    assert failed(outcomes(*calls)) == [place]


def test_an_action_without_an_answer_fails():
    assert failed(outcomes(*GOOD, answered=ACTIONS - 1)) == [0, 1, 2, 3]
