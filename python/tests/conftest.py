"""What the tests share: virtual time, and both event loops."""

from __future__ import annotations

import asyncio
import logging

import pytest
import trio

import seawall
from seawall.testing import ManualClock


@pytest.fixture
def clock():
    return ManualClock(1000.0)


@pytest.fixture
def make(clock):
    """A breaker under virtual time: two failures open it for ten seconds, unless said otherwise."""

    def make(**options):
        if not {"failure_rate", "window", "minimum_calls", "slow_rate"} & options.keys():
            options = {"failure_threshold": 2, **options}
        return seawall.CircuitBreaker(clock=clock, **{"reset_after": 10, **options})

    return make


@pytest.fixture(params=["asyncio", "trio"])
def run(request):
    """Runs `run(function, *args)` under an event loop, as asyncio and as trio do it."""
    if request.param == "asyncio":
        return lambda function, *args: asyncio.run(function(*args))
    return trio.run


@pytest.fixture(autouse=True)
def quiet_log():
    """Transitions are logged in every test; only those about logging look at it."""
    logger = logging.getLogger("seawall")
    before = logger.level
    yield
    logger.setLevel(before)


def fail(error: BaseException | None = None):
    raise error or ConnectionError("refused")


def trip(breaker, failures=2):
    """Opens a breaker by failures."""
    for _ in range(failures):
        with pytest.raises(ConnectionError):
            breaker.call(fail)
    assert breaker.state == "open"
