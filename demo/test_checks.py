"""The checks must pass a good log and fail a bad one: each test spoils one thing in a good run."""

import checks
import pytest
from story import MS, bare_story, guarded_story, run_of


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
