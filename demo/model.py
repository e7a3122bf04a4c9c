"""A plain sequential circuit breaker in rate mode, to say what an event log ought to hold.

It knows nothing of time: that the open period is over is taken from the log (an admission while open),
everything else follows from the order of the events. The clients ask their breakers from one thread
each, so the order of a log is the order of the decisions.
"""

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """A change of state as a log must tell of it."""

    was: str
    to: str
    cause: str
    calls: int  # how many calls were judged
    failed: int  # how many of them failed
    generation: int

    @classmethod
    def logged(cls, event: dict) -> "Change":
        fields = (event[name] for name in ("from", "to", "cause", "calls", "failed", "generation"))
        return cls(*fields)

    def __str__(self) -> str:
        return f"{self.was} to {self.to} ({self.cause}, {self.failed} of {self.calls} failed, round {self.generation})"


class Breaker:
    def __init__(self, settings: dict):
        self.settings = settings
        self.state = "closed"
        self.generation = 0  # moves on whenever a half-open round ends
        self.period = 0  # moves on with every change: a settlement from an earlier period is stale
        self.window: deque[bool] = deque(maxlen=settings["window"])
        self.out = 0  # trials admitted and not yet settled
        self.won = 0  # trials that succeeded
        self.admitted_in: dict[int, int] = {}

    def change(self, to: str, cause: str, calls: int = 0, failed: int = 0) -> list[Change]:
        self.generation += self.state == "half-open"
        change = Change(self.state, to, cause, calls, failed, self.generation)
        self.state = to
        self.period += 1
        self.window.clear()
        self.out = self.won = 0
        return [change]

    def admitted(self, call: int) -> list[Change]:
        """A permit was given; the changes of state that this implies."""
        changes = self.change("half-open", "due") if self.state == "open" else []
        if self.state == "half-open":
            self.out += 1
        self.admitted_in[call] = self.period
        return changes

    def settled(self, call: int, outcome: str) -> list[Change]:
        """`outcome` is success, failure, told (the provider said when it will be back) or ignored."""
        if self.admitted_in.pop(call) != self.period:
            return []
        failed = outcome in ("failure", "told")
        if self.state == "half-open":
            self.out -= 1
            if outcome == "ignored":
                return []
            if failed:
                cause = "retry_after" if outcome == "told" else "trial_failed"
                return self.change("open", cause, self.won + 1, 1)
            self.won += 1
            if self.won == self.settings["trials"]:
                return self.change("closed", "trials_succeeded", self.won, 0)
            return []
        if outcome == "ignored":
            return []
        self.window.append(failed)
        calls, bad = len(self.window), sum(self.window)
        if outcome == "told":
            return self.change("open", "retry_after", calls, bad)
        if calls >= self.settings["minimum_calls"] and bad >= self.settings["failure_rate"] * calls:
            return self.change("open", "failure_rate", calls, bad)
        return []
