"""Random misuse: no panic reaches Python, and nothing but ordinary exceptions comes out."""

from __future__ import annotations

import random
from datetime import timedelta

import seawall
from seawall import _seawall
from seawall.testing import ManualClock, ManualRandom

ODD = [
    None, True, False, 0, 1, -1, 2, 15, 16, 2**31, 2**63, 2**64, -(2**64), 10**400, 0.0, -0.0, 0.5, 1.5, 1e-300, 1e300,
    float("nan"), float("inf"), float("-inf"), "", "x", "1s", "1/s", "250ms", "9" * 400 + "s", "1.5.5s", "é", "\0",
    "\ud800", b"1s", [], (), {}, object(), int, ValueError, len, timedelta(1), timedelta(-1), timedelta.max, 1j,
]  # fmt: skip


class Hostile:
    """Raises from whatever is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError(name)

    def __bool__(self):
        raise RuntimeError("bool")

    def __eq__(self, other):
        raise RuntimeError("eq")

    __hash__ = None

    def __float__(self):
        raise RuntimeError("float")

    def __index__(self):
        raise RuntimeError("index")

    def __call__(self, *args, **kwargs):
        raise RuntimeError("call")


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        assert type(error).__name__ != "PanicException"
    return None


def test_panics_would_be_seen():
    """What pyo3 makes of a panic is a BaseException, which `attempt` lets through."""
    base = [c for c in BaseException.__subclasses__() if c.__name__ == "PanicException"]
    assert not base or not issubclass(base[0], Exception)


def test_random_misuse():
    draw = random.Random(1)
    values = [*ODD, Hostile()]
    fields = [name for names in _seawall._fields().values() for name in names]
    clock = ManualClock()
    objects = [seawall.CircuitBreaker(clock=clock), seawall.TokenBucket(5, 20, clock=clock)]
    objects += [objects[0].admit(), objects[0].trip(), objects[0].snapshot(), objects[1].decide()]
    objects += [objects[1].reserve(1, 1), clock, ManualRandom(), objects[0](len)]
    settled = 0
    for _ in range(20_000):
        some = draw.choice(objects)
        name = draw.choice([name for name in dir(some) if name not in ("__class__", "__init_subclass__")])
        args = [draw.choice(values) for _ in range(draw.randrange(3))]
        kwargs = {draw.choice(fields): draw.choice(values) for _ in range(draw.randrange(3))}
        method = attempt(getattr, some, name)
        if callable(method):
            attempt(method, *args, **draw.choice([{}, kwargs]))
            settled += 1
        attempt(clock.set_ns, draw.choice([0, 1, 2**36, 2**63, 2**64 - 1, draw.getrandbits(64)]))
    assert settled > 10_000
    clock.set(0)
    fresh = seawall.CircuitBreaker(failure_threshold=1)
    assert fresh.call(int) == 0


def test_random_constructions():
    draw = random.Random(2)
    values = [*ODD, Hostile()]
    made = 0
    for _ in range(5_000):
        kind, names = draw.choice(list(_seawall._fields().items()))
        options = {draw.choice([*names, "name", "clock", "random", "ignore", "is_failure"]): draw.choice(values)}
        options |= {draw.choice(names): draw.choice(values)}
        constructor = seawall.CircuitBreaker if kind == "circuit_breaker" else seawall.TokenBucket
        some = attempt(constructor, **options)
        made += some is not None
        if some is not None:
            assert repr(some)
    assert made > 50


def test_any_instant_of_the_clock_is_answered():
    clock = ManualClock()
    breaker = seawall.CircuitBreaker(failure_threshold=1, clock=clock, reset_factor=3, reset_jitter=0.5)
    bucket = seawall.TokenBucket(5, 20, clock=clock)
    draw = random.Random(3)
    for _ in range(5_000):
        clock.set_ns(draw.choice([0, 2**64 - 1, draw.getrandbits(64), draw.getrandbits(40)]))
        for ask in (breaker.admit, breaker.trip, breaker.half_open, breaker.explain, breaker.snapshot):
            attempt(ask)
        attempt(breaker.call, draw.choice([int, lambda: 1 / 0]))
        bucket.allow(draw.getrandbits(70))
        bucket.decide(draw.randrange(25)).explain()
        attempt(lambda: bucket.reserve(draw.randrange(25), 1e9).cancel())
