"""Options: how they are written, and how an impossible one is refused."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

import seawall
from seawall import _seawall


def opened_for(**options):
    breaker = seawall.CircuitBreaker(**options)
    change = breaker.trip()
    return change.until - change.at


@pytest.mark.parametrize(
    "span", [2, 2.0, "2s", "2000ms", "2 s", timedelta(seconds=2), Decimal(2), Fraction(2)], ids=repr
)
def test_spans(span):
    assert opened_for(reset_after=span) == pytest.approx(2.0, abs=0.003)


def test_ratios_and_factors_are_plain_numbers():
    breaker = seawall.CircuitBreaker(failure_rate=Fraction(1, 3), reset_factor=1.5, reset_jitter=0.1)
    fields = breaker.__reduce__()[1][0]
    assert fields == {"failure_rate": 333333, "reset_factor": 1500, "reset_jitter": 100000}


def test_none_is_the_default():
    breaker = seawall.CircuitBreaker(failure_threshold=None, name=None, clock=None, ignore=None)
    assert breaker.__reduce__()[1][0] == {} and breaker.name == "circuit_breaker"


# The sentences are the engine's; every face refuses with the same.
@pytest.mark.parametrize(
    ("options", "field", "allowed"),
    [
        ({"trials": 0}, "trials", "1 to 15"),
        ({"trials": 16}, "trials", "1 to 15"),
        ({"trials": 1.5}, "trials", "1 to 15"),
        ({"trials": True}, "trials", "1 to 15"),
        ({"trials": "3"}, "trials", "1 to 15"),
        ({"trials": -1}, "trials", "1 to 15"),
        ({"trials": 10**30}, "trials", "1 to 15"),
        ({"trials": timedelta(1)}, "trials", "1 to 15"),
        ({"trials": []}, "trials", "1 to 15"),
        ({"trials": 2, "close_after": 3}, "close_after", "1 to 2 (no more than there are trials)"),
        ({"failure_rate": float("nan")}, "failure_rate", "0.000001 to 1"),
        ({"failure_rate": 50}, "failure_rate", "0.000001 to 1"),
        ({"window": 10, "minimum_calls": 11}, "minimum_calls", "1 to 10 (no more than the window holds)"),
        ({"reset_after": "soon"}, "reset_after", "1 ms to 7 d"),
        ({"reset_after": -1}, "reset_after", "1 ms to 7 d"),
        ({"reset_after": timedelta(seconds=-1)}, "reset_after", "1 ms to 7 d"),
        ({"reset_after": float("inf")}, "reset_after", "1 ms to 7 d"),
        ({"mode": "ajar"}, "mode", "normal, forced-open, disabled, shadow"),
    ],
    ids=str,
)
def test_impossible_values(options, field, allowed):
    with pytest.raises(ValueError) as refused:
        seawall.CircuitBreaker(**options)
    error = refused.value
    assert isinstance(error, seawall.ConfigError)
    assert error.field == field and error.value is options[field] or error.value == options[field]
    assert error.allowed.split(" (")[0] == allowed.split(" (")[0]
    assert str(error).startswith(f"circuit_breaker.{field}: ") and str(error).endswith(error.allowed)


def test_a_missing_rate_or_capacity_is_said():
    with pytest.raises(seawall.ConfigError, match="token_bucket.rate: nothing is not allowed"):
        seawall.TokenBucket(capacity=1)
    with pytest.raises(seawall.ConfigError, match="token_bucket.capacity: nothing is not allowed"):
        seawall.TokenBucket(rate=1)


def test_an_unknown_option_is_a_type_error_with_its_name():
    with pytest.raises(TypeError, match="circuit_breaker has no option failure_treshold"):
        seawall.CircuitBreaker(failure_treshold=5)
    with pytest.raises(TypeError, match="token_bucket has no option burst"):
        seawall.TokenBucket(rate=1, capacity=1, burst=3)


def test_the_stub_of_the_bucket_names_every_field():
    import pathlib
    import re

    stub = (pathlib.Path(seawall.__file__).parent / "_seawall.pyi").read_text()
    constructor = re.search(r"class TokenBucket:.*?def __new__\((.*?)\)", stub, re.S).group(1)
    names = set(re.findall(r"(\w+):", constructor)) - {"name", "clock"}
    assert names == set(_seawall._fields()["token_bucket"])
