"""What a call through seawall costs in Python, its peers beside it in the same run.

    python python/benches/faces.py [--json]

Nanoseconds per call; for decorated functions above the bare call. Take ratios: the machine decides
the rest. Peers that are not installed are left out (requirements-bench.txt).
"""

from __future__ import annotations

import json
import sys
import time

from measure import nanoseconds

import seawall


def bare(x):
    return x


async def bare_async(x):
    return x


async def passed_through(*args, **kwargs):
    return await bare_async(*args, **kwargs)


def peers_sync():
    """(name, decorated bare) of those that are installed."""
    try:
        import circuitbreaker

        yield "circuitbreaker", circuitbreaker.circuit(bare)
    except ImportError:
        pass
    try:
        import pybreaker

        yield "pybreaker", pybreaker.CircuitBreaker()(bare)
    except ImportError:
        pass


def peers_retries():
    """(name, bare with retries) of those that are installed."""
    try:
        import tenacity

        yield "tenacity", tenacity.retry(stop=tenacity.stop_after_attempt(3))(bare)
    except ImportError:
        pass
    try:
        import stamina

        yield "stamina", stamina.retry(on=ConnectionError, attempts=3)(bare)
    except ImportError:
        pass
    try:
        import backoff

        yield "backoff", backoff.on_exception(backoff.expo, ConnectionError, max_tries=3)(bare)
    except ImportError:
        pass


def peers_async():
    try:
        import circuitbreaker

        yield "circuitbreaker", circuitbreaker.circuit(bare_async)
    except ImportError:
        pass


def peers_limits():
    try:
        import limits
    except ImportError:
        return
    item = limits.parse("1000000000/second")
    limiter = limits.strategies.FixedWindowRateLimiter(limits.storage.MemoryStorage())
    yield "limits, fixed window", "hit(item, 'key')", {"hit": limiter.hit, "item": item}


def breakers():
    """A healthy breaker of each kind, as it is after some calls."""
    kinds = {
        "consecutive": seawall.CircuitBreaker(),
        "rate": seawall.CircuitBreaker(failure_rate=0.5),
        "slow_after": seawall.CircuitBreaker(slow_after=1),
    }
    for breaker in kinds.values():
        for _ in range(30):
            breaker.call(bare, 1)
    return kinds


def measured():
    """(what, nanoseconds, target or None) in the order of the table."""
    rows = [("time.monotonic()", nanoseconds("clock_()", {"clock_": time.monotonic}), None)]
    bucket = seawall.TokenBucket(rate=1_000_000_000, capacity=1_000_000)
    empty = seawall.TokenBucket(rate=1, capacity=1)
    empty.drain()
    for what, statement, target in (
        ("bucket.try_acquire()", "bucket.try_acquire()", 40),
        ("bucket.try_acquire(), refused", "empty.try_acquire()", None),
        ("bucket.allow()", "bucket.allow()", None),
        ("bucket.decide()", "bucket.decide()", None),
    ):
        rows.append((what, nanoseconds(statement, {"bucket": bucket, "empty": empty}), target))
    for what, statement, names in peers_limits():
        rows.append((what, nanoseconds(statement, names), None))

    call = nanoseconds("f(1)", {"f": bare})
    rows.append(("f(1)", call, None))

    def above(function):
        return nanoseconds("f(1)", {"f": function}) - call

    kinds = breakers()
    for kind, breaker in kinds.items():
        rows.append((f"@breaker, {kind}: above f(1)", above(breaker(bare)), 45 if kind == "consecutive" else None))
    breaker = kinds["consecutive"]
    rows.append(("breaker.call(f, 1): above f(1)", nanoseconds("b.call(f, 1)", {"b": breaker, "f": bare}) - call, None))
    rows.append(("with breaker.admit()", nanoseconds("with b.admit():\n    pass", {"b": breaker}), None))
    rows.append(("with breaker", nanoseconds("with b:\n    pass", {"b": breaker}), None))
    for what, function in peers_sync():
        rows.append((f"{what}: above f(1)", above(function), None))

    retry = seawall.Retry(idempotent="yes")
    timeouts = seawall.Timeouts(connect=None, attempt=1, total=3)
    rows.append(("@retry: above f(1)", above(retry(bare)), 100))
    whole = seawall.Policy(timeouts=timeouts, retry=retry, breaker=breaker)
    rows.append(("@policy, with timeouts and breaker: above f(1)", above(whole(bare)), None))
    rows.append(("call_with_retries(f)", nanoseconds("c(f)", {"c": seawall.call_with_retries, "f": int}), None))
    for what, function in peers_retries():
        rows.append((f"{what}: above f(1)", above(function), None))

    awaited = nanoseconds("await f(1)", {"f": bare_async}, is_async=True)
    rows.append(("await f(1)", awaited, None))

    def above_await(function):
        return nanoseconds("await f(1)", {"f": function}, is_async=True) - awaited

    rows.append(("an async wrapper that does nothing: above it", above_await(passed_through), None))
    rows.append(("@breaker: above it", above_await(breaker(bare_async)), 150))
    rows.append(("@retry: above it", above_await(retry(bare_async)), None))
    for what, function in peers_async():
        rows.append((f"{what}: above it", above_await(function), None))
    return rows


def main() -> None:
    rows = measured()
    if "--json" in sys.argv:
        print(json.dumps({what: round(cost, 1) for what, cost, _ in rows}))
        return
    width = max(len(what) for what, _, _ in rows)
    print(f"{'Python ' + sys.version.split()[0]:{width}}  {'ns':>7}  target")
    for what, cost, target in rows:
        print(f"{what:{width}}  {cost:7.1f}  {'' if target is None else target}")


if __name__ == "__main__":
    main()
