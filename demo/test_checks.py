"""The checks must pass a good log and fail a bad one: each test spoils one thing in a good run."""

import copy

import checks
import plan
import pytest

MS = 1_000_000
BREAKER = {"failure_rate": 0.5, "window": 4, "minimum_calls": 4, "trials": 2}
SETTINGS = {
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
    s.change("half-open", "open", "told", 1, 1, 1)
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


@pytest.fixture
def without() -> checks.Run:
    return run_of(bare_story)


@pytest.fixture
def guarded() -> checks.Run:
    return run_of(guarded_story)


def find(events: list[dict], **wanted) -> dict:
    return next(e for e in events if all(e.get(name) == value for name, value in wanted.items()))


def renumber(events: list[dict]) -> None:
    for n, event in enumerate(events):
        event["n"] = n


def failed(without: checks.Run, guarded: checks.Run) -> set[str]:
    return {check.name for check in checks.all_checks(without, guarded) if not check.passed}


def faults(name: str, without: checks.Run, guarded: checks.Run) -> str:
    return "\n".join(next(check.faults for check in checks.all_checks(without, guarded) if check.name == name))


def test_a_good_run_passes_every_check(without, guarded):
    assert [c.faults for c in checks.all_checks(without, guarded) if c.faults] == []


def test_a_missing_line_is_seen(without, guarded):
    guarded.clients["c"].remove(find(guarded.clients["c"], event="heard"))
    assert faults("logs whole, with", without, guarded) == "c: the lines are not numbered 0, 1, 2, ..."


def test_a_call_that_was_never_settled_is_seen(without, guarded):
    events = guarded.clients["c"]
    events.remove(find(events, event="settled", call=12))
    events[-1]["counters"]["success"] -= 1
    renumber(events)
    assert faults("logs whole, with", without, guarded) == "c: not every admitted call was settled exactly once"


def test_an_order_that_nobody_decided_is_seen(without, guarded):
    events = without.clients["node"]
    for event in ("admitted", "settled"):
        events.remove(find(events, event=event, call=12))
    counters = events[-1]["counters"]
    counters.update({name: counters[name] - 1 for name in ("orders", "sent", "success")})
    renumber(events)
    assert failed(without, guarded) == {"logs whole, without"}
    assert faults("logs whole, without", without, guarded) == "node: 11 orders were decided, 12 fell due"


def test_a_guard_that_was_off_is_seen(without, guarded):
    guarded.clients["python"][0]["guard"] = False
    assert failed(without, guarded) == {"logs whole, with"}


def test_counters_that_differ_from_the_log_are_seen(without, guarded):
    guarded.clients["python"][-1]["counters"]["refused"]["open"] += 1
    assert failed(without, guarded) == {"logs whole, with"}


def test_an_arrival_without_an_admission_is_seen(without, guarded):
    guarded.provider.append({"t": 1, "event": "arrived", "client": "c", "call": 5, "phase": "healthy"})
    assert failed(without, guarded) == {"admitted first"}


def test_a_call_that_arrived_twice_is_seen(without, guarded):
    guarded.provider.append(dict(find(guarded.provider, event="arrived", client="node", call=1)))
    assert failed(without, guarded) == {"admitted first"}


def test_a_success_that_the_provider_did_not_give_is_seen(without, guarded):
    find(guarded.provider, event="answered", client="node", call=1)["status"] = None
    assert failed(without, guarded) == {"admitted first"}


def test_a_call_admitted_while_open_is_seen(without, guarded):
    events = guarded.clients["python"]
    refusal = find(events, event="refused", call=5)
    refusal.update(event="admitted", permit="normal", before=refusal["t"], after=refusal["t"])
    assert "none while open" in failed(without, guarded)


def test_a_call_that_arrives_while_open_is_seen_by_the_provider_s_clock(without, guarded):
    """The log claims an admission after the half-opening; the provider saw the call before it."""
    opened = find(guarded.clients["c"], event="transition", to="open")
    find(guarded.provider, event="arrived", client="c", call=6)["t"] = opened["t"] + 1
    assert failed(without, guarded) == {"none while open"}


def test_a_call_that_was_on_its_way_when_the_breaker_opened_is_no_fault(without, guarded):
    opened = find(guarded.clients["c"], event="transition", to="open")
    find(guarded.provider, event="arrived", client="c", call=4)["t"] = opened["t"] + 1
    assert failed(without, guarded) == set()


def test_a_trial_too_many_is_seen(without, guarded):
    events = guarded.clients["node"]
    refusal = find(events, event="refused", reason="trials_busy")
    refusal.update(event="admitted", permit="trial", before=refusal["t"], after=refusal["t"])
    assert "trials" in failed(without, guarded)


def test_a_trial_that_was_ignored_gives_its_place_back(without, guarded):
    events = guarded.clients["node"]
    at = events.index(find(events, event="admitted", call=10))
    more = [
        {"t": 0, "event": "admitted", "call": 99, "permit": "trial", "before": 10**12, "after": 10**12},
        {"t": 0, "event": "settled", "call": 99, "outcome": "ignored"},
    ]
    events[at:at] = more
    assert "trials" not in failed(without, guarded)
    more[1]["outcome"] = "success"
    assert "trials" in failed(without, guarded)


def test_a_trial_permit_outside_a_half_open_round_is_seen(without, guarded):
    find(guarded.clients["c"], event="admitted", call=12)["permit"] = "trial"
    assert failed(without, guarded) == {"trials"}


def test_the_bound_of_the_rate_is_exact(without, guarded):
    """Two at once and ten a second: a third call fits 100 ms after the first, not a nanosecond sooner."""
    first, second, third = (find(guarded.clients["c"], event="admitted", call=call) for call in (1, 2, 3))
    for event, at in ((first, 0), (second, 0), (third, 100 * MS)):
        event["before"] = event["after"] = at
    assert failed(without, guarded) == set()
    third["before"] = third["after"] = 100 * MS - 1
    assert failed(without, guarded) == {"rate"}


def test_a_pair_far_apart_counts_for_the_rate_as_well(without, guarded):
    """Each step is within the rate and only the whole is above it: 5 calls in 299 ms."""
    admitted = checks.of(guarded.clients["c"], "admitted")[:5]
    for event, at in zip(admitted, (0, 75 * MS, 150 * MS, 225 * MS, 299 * MS), strict=True):
        event["before"] = event["after"] = at
    assert "rate" in failed(without, guarded)
    admitted[4]["before"] = admitted[4]["after"] = 300 * MS
    assert "rate" not in failed(without, guarded)


@pytest.mark.parametrize("to", ["open", "half-open", "closed"])
def test_a_transition_that_was_not_logged_is_seen(without, guarded, to):
    events = guarded.clients["python"]
    events.remove(find(events, event="transition", to=to))
    assert {"transitions", "two channels"} <= failed(without, guarded)


@pytest.mark.parametrize("to", ["open", "half-open", "closed"])
def test_a_transition_that_was_logged_twice_is_seen(without, guarded, to):
    events = guarded.clients["python"]
    event = find(events, event="transition", to=to)
    events.insert(events.index(event), dict(event))
    assert {"transitions", "two channels"} <= failed(without, guarded)


@pytest.mark.parametrize("field, value", [("cause", "tripped"), ("calls", 3), ("failed", 1), ("generation", 1)])
def test_a_transition_with_wrong_figures_is_seen(without, guarded, field, value):
    find(guarded.clients["c"], event="transition", to="open")[field] = value
    assert "transitions" in failed(without, guarded)


def test_a_transition_in_the_wrong_place_is_seen(without, guarded):
    """It is logged after one more failure than it takes."""
    events = guarded.clients["c"]
    at = events.index(find(events, event="transition", to="open"))
    events.insert(at - 1, events.pop(at))
    assert "transitions" in failed(without, guarded)


def test_a_channel_that_missed_a_transition_is_seen(without, guarded):
    events = guarded.clients["node"]
    events.remove(find(events, event="heard", to="closed"))
    renumber(events)
    assert failed(without, guarded) == {"two channels"}


def test_a_call_before_the_named_instant_is_seen(without, guarded):
    settled = find(guarded.clients["python"], event="settled", outcome="told")
    settled["told_until"] = find(guarded.clients["python"], event="admitted", call=9)["after"]
    assert failed(without, guarded) == set()
    settled["told_until"] += 1
    assert failed(without, guarded) == {"Retry-After"}


def test_as_many_calls_as_without_seawall_are_seen(without, guarded):
    for event in without.provider:
        if event["event"] == "arrived" and event["client"] == "c" and event["call"] > 5:
            event["phase"] = "healthy"
    assert failed(without, guarded) == {"spared"}


def test_a_breaker_that_never_opened_makes_no_test(without, guarded):
    guarded.clients["c"] = [e for e in guarded.clients["c"] if e["event"] != "transition"]
    assert faults("exercised", without, guarded) == "c: its breaker never opened"


def test_a_breaker_that_did_not_close_again_is_seen(without, guarded):
    events = guarded.clients["c"]
    events.remove(find(events, event="transition", to="closed"))
    assert faults("exercised", without, guarded) == "c: its breaker ended half-open"


@pytest.mark.parametrize("reason", ["open", "rate_limited"])
def test_a_limit_that_refused_nothing_makes_no_test(without, guarded, reason):
    guarded.clients["c"] = [e for e in guarded.clients["c"] if e.get("reason") != reason]
    assert faults("exercised", without, guarded) == f"c: nothing was refused as {reason}"


def test_a_log_that_is_none_fails_instead_of_stopping_the_checks(without, guarded):
    guarded.clients["c"] = [{"n": 0, "t": 0, "event": "settled"}]
    assert {"logs whole, with", "transitions", "exercised"} <= failed(without, guarded)
