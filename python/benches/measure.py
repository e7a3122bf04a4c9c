"""How the benches time: the best of several runs of an unrolled loop, less the loop's own cost."""

from __future__ import annotations

import time
from collections.abc import Callable

UNROLLED = 10
RUNS = 100
SECONDS = 0.001
"""How long one run takes; the best of RUNS counts, since a shared machine only ever adds time."""


def compiled(statement: str, names: dict, is_async: bool = False) -> Callable:
    """A function of the number of rounds, each of UNROLLED statements."""
    body = "\n".join(f"            {line}" for _ in range(UNROLLED) for line in statement.splitlines())
    source = f"""
{"async " if is_async else ""}def loop(rounds):
        begin = clock()
        for _ in range(rounds):
{body}
        return clock() - begin
"""
    scope = {**names, "clock": time.thread_time}
    # Names become the function's own, as they would be in a program that cares.
    header = ", ".join(f"{name}={name}" for name in names)
    exec(source.replace("loop(rounds)", f"loop(rounds, {header})" if header else "loop(rounds)"), scope)
    return scope["loop"]


def drive(coroutine):
    """Runs a coroutine that never suspends, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it suspended")


def nanoseconds(statement: str, names: dict, is_async: bool = False) -> float:
    """Nanoseconds per statement."""
    loop = compiled(statement, names, is_async)

    def run(rounds: int) -> float:
        return drive(loop(rounds)) if is_async else loop(rounds)

    rounds = 100
    while (took := run(rounds)) < SECONDS:
        rounds = max(rounds * 2, int(rounds * SECONDS / max(took, 1e-9)))
    return min(run(rounds) for _ in range(RUNS)) / rounds / UNROLLED * 1e9
