"""Logs written by hand, for the tests: a short run of three clients, without seawall and with it."""

import copy

import checks
import plan

MS = 1_000_000
BREAKER = {"failure_rate": 0.5, "window": 4, "minimum_calls": 4, "trials": 2, "reset_after_ms": 1000}
SETTINGS = {
    "call": {"timeout_ms": 800},
    "script": [{"phase": "healthy", "seconds": 1}, {"phase": "503", "seconds": 1}],
    "orders": [{"seconds": 1, "per_second": 12}],
    "breaker": BREAKER,
    "bucket": {"rate_per_second": 10, "capacity": 2},
}


class Story:
    """Writes the log of one client, and what the provider sees of it. Each event takes 100 ms."""

    def __init__(self, client: str, guard: bool):
        self.client, self.now = client, 0
        self.events: list[dict] = []
        self.provider: list[dict] = []
        self.counters = {"orders": 0, "sent": 0, "success": 0, "failure": 0, "told": 0, "ignored": 0, "refused": {}}
        self.provider.append({"t": 0, "event": "start", "start_ns": 0})
        self.write("start", client=client, guard=guard)

    def write(self, event: str, **fields) -> None:
        self.now += 100 * MS
        self.events.append({"n": len(self.events), "t": self.now, "event": event, **fields})

    def admit(self, call: int, permit: str = "normal", phase: str = "healthy") -> None:
        self.write("admitted", call=call, permit=permit, before=self.now, after=self.now)
        self.counters["orders"] += 1
        self.counters["sent"] += 1
        self.provider.append({"t": self.now, "event": "arrived", "client": self.client, "call": call, "phase": phase})

    def settle(self, call: int, outcome: str, told_until: int | None = None) -> None:
        status = {"success": 200, "failure": 503, "told": 429, "ignored": 404}[outcome]
        self.provider.append(
            {"t": self.now, "event": "answered", "client": self.client, "call": call, "status": status}
        )
        self.write("settled", call=call, outcome=outcome, why=str(status), told_until=told_until, ns=MS)
        self.counters[outcome] += 1

    def refuse(self, call: int, reason: str, permit: str = "none") -> None:
        self.write("refused", call=call, reason=reason, permit=permit, ns=MS)
        self.counters["orders"] += 1
        self.counters["refused"][reason] = self.counters["refused"].get(reason, 0) + 1

    def change(self, was: str, to: str, cause: str, calls: int, failed: int, generation: int) -> None:
        change = {"from": was, "to": to}
        self.write("transition", **change, cause=cause, calls=calls, failed=failed, generation=generation)
        self.write("heard", **change)

    def end(self) -> None:
        self.write("end", counters=self.counters)


def guarded_story(client: str) -> Story:
    """Opens by its failure rate, is told to wait by a trial, is rate limited during one, and closes again."""
    s = Story(client, guard=True)
    for call, outcome in ((1, "success"), (2, "success"), (3, "failure")):
        s.admit(call, phase="503" if outcome == "failure" else "healthy")
        s.settle(call, outcome)
    s.admit(4, phase="503")
    s.change("closed", "open", "failure_rate", 4, 2, 0)
    s.settle(4, "failure")
    s.refuse(5, "open")
    s.change("open", "half-open", "due", 0, 0, 0)
    s.admit(6, permit="trial", phase="503")
    s.change("half-open", "open", "retry_after", 1, 1, 1)
    s.settle(6, "told", told_until=s.now + 400 * MS)
    s.refuse(7, "open")
    s.write("noted")
    s.change("open", "half-open", "due", 0, 0, 1)
    s.refuse(8, "rate_limited", permit="trial")
    s.admit(9, permit="trial")
    s.admit(10, permit="trial")
    s.refuse(11, "trials_busy")
    s.settle(9, "success")
    s.change("half-open", "closed", "trials_succeeded", 2, 0, 2)
    s.settle(10, "success")
    s.admit(12)
    s.settle(12, "success")
    s.end()
    return s


def bare_story(client: str) -> Story:
    s = Story(client, guard=False)
    for call in range(1, 13):
        failing = 3 <= call <= 8
        s.admit(call, permit="none", phase="503" if failing else "healthy")
        s.settle(call, "failure" if failing else "success")
    s.end()
    return s


def run_of(story) -> checks.Run:
    stories = [story(client) for client in plan.CLIENTS]
    provider = [event for s in stories for event in s.provider]
    return checks.Run(copy.deepcopy(SETTINGS), provider, {s.client: s.events for s in stories})
