"""What must hold after a lunch rush. Counts and orders are checked, never how long something took.

A run is what the provider wrote down and what each client wrote down. Each check is a function that
returns the faults it found (none: it passed) and the figure it looked at.
"""

import json
import pathlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import model
import plan

Events = list[dict]


@dataclass
class Run:
    settings: dict
    provider: Events
    clients: dict[str, Events]

    def arrivals(self, client: str) -> Events:
        return [e for e in self.provider if e["event"] == "arrived" and e["client"] == client]


@dataclass
class Check:
    name: str
    claim: str
    figure: str
    faults: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.faults


def load(folder: pathlib.Path, settings: dict) -> Run:
    def lines(name: str) -> Events:
        return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]

    return Run(settings, lines("provider"), {client: lines(client) for client in plan.CLIENTS})


def of(events: Events, *kinds: str) -> Events:
    return [e for e in events if e["event"] in kinds]


def whole(run: Run, guard: bool) -> tuple[list[str], str]:
    """Every line is there, every order was answered, and the totals are the sums of the lines."""
    faults = []
    orders = len(plan.due(run.settings))
    lines = 0
    for client, events in run.clients.items():
        lines += len(events)
        if [e["n"] for e in events] != list(range(len(events))):
            faults.append(f"{client}: the lines are not numbered 0, 1, 2, ...")
        if not events or events[0]["event"] != "start" or events[-1]["event"] != "end":
            faults.append(f"{client}: the log does not run from start to end")
            continue
        if events[0]["guard"] is not guard:
            faults.append(f"{client}: the guard was {'on' if events[0]['guard'] else 'off'}")
        taken = sorted(e["call"] for e in of(events, "admitted", "refused"))
        # Late orders come on top, in a guarded run whose breaker was not closed yet.
        count = max(orders, len(taken)) if guard else orders
        if taken != list(range(1, count + 1)):
            faults.append(f"{client}: {len(taken)} orders were decided, {orders} fell due")
        sent = sorted(e["call"] for e in of(events, "admitted"))
        if sent != sorted(e["call"] for e in of(events, "settled")):
            faults.append(f"{client}: not every admitted call was settled exactly once")
        counters = events[-1]["counters"]
        counted = {"orders": len(taken), "sent": len(sent)}
        for outcome in ("success", "failure", "told", "ignored"):
            counted[outcome] = sum(e["outcome"] == outcome for e in of(events, "settled"))
        counted["refused"] = {}
        for event in of(events, "refused"):
            counted["refused"][event["reason"]] = counted["refused"].get(event["reason"], 0) + 1
        if counters != counted:
            faults.append(f"{client}: it counted {counters}, its log holds {counted}")
    return faults, f"{lines} lines, {orders} orders for each client"


def arrivals_admitted(run: Run) -> tuple[list[str], str]:
    """What arrived had been admitted, once; what succeeded had arrived and was answered 200."""
    faults = []
    total = 0
    for client, events in run.clients.items():
        admitted = {e["call"]: e for e in of(events, "admitted")}
        arrived = [e["call"] for e in run.arrivals(client)]
        total += len(arrived)
        faults += [f"{client}: call {c} arrived {n} times" for c, n in Counter(arrived).items() if n > 1]
        for call in sorted(set(arrived) - set(admitted)):
            faults.append(f"{client}: call {call} arrived without an admission")
        answered = {e["call"]: e["status"] for e in run.provider if e["event"] == "answered" and e["client"] == client}
        for event in of(events, "settled"):
            if event["outcome"] == "success" and answered.get(event["call"]) != 200:
                faults.append(f"{client}: call {event['call']} counts as paid, the provider did not answer 200")
    return faults, f"{total} arrivals"


def none_while_open(run: Run) -> tuple[list[str], str]:
    """No call is admitted between a change to open and the next change, and none of the calls that
    arrived at the provider in that span was admitted after it began."""
    faults = []
    refused = 0
    for client, events in run.clients.items():
        admitted_at = {e["call"]: e["n"] for e in of(events, "admitted")}
        arrivals = run.arrivals(client)
        opened = None
        for event in events:
            if event["event"] == "transition":
                if opened is not None:
                    for arrival in arrivals:
                        late = admitted_at.get(arrival["call"], -1) > opened["n"]
                        if late and opened["t"] <= arrival["t"] < event["t"]:
                            faults.append(f"{client}: call {arrival['call']} arrived while the breaker was open")
                opened = event if event["to"] == "open" else None
            elif event["event"] == "admitted" and opened is not None:
                faults.append(f"{client}: call {event['call']} was admitted (line {event['n']}) while open")
            elif event["event"] == "refused" and opened is not None:
                refused += 1
    return faults, f"0 calls, {refused} refusals while open" if not faults else f"{len(faults)} calls"


def trials_bounded(run: Run) -> tuple[list[str], str]:
    """In a half-open round the trials that are out or have succeeded never exceed the stated number."""
    faults = []
    stated = run.settings["breaker"]["trials"]
    rounds, most = 0, 0
    for client, events in run.clients.items():
        half_open = False
        trials: dict[int, str] = {}
        for event in events:
            match event["event"]:
                case "transition":
                    half_open = event["to"] == "half-open"
                    rounds += half_open
                    trials = {}
                case "admitted":
                    if (event["permit"] == "trial") is not half_open:
                        state = "half-open" if half_open else "not half-open"
                        faults.append(f"{client}: call {event['call']} had a {event['permit']} permit while {state}")
                    if half_open:
                        trials[event["call"]] = "out"
                        most = max(most, len(trials))
                        if len(trials) > stated:
                            faults.append(f"{client}: {len(trials)} trials in one round (line {event['n']})")
                case "settled" if event["outcome"] == "ignored":
                    trials.pop(event["call"], None)  # an ignored trial gives its place back
    return faults, f"at most {most} of {stated} in {rounds} rounds"


def rate_bounded(run: Run) -> tuple[list[str], str]:
    """Any interval between two admissions holds at most capacity + rate x length of them.

    `before` and `after` are the client's clock just before and just after the bucket decided, so the
    true length is at most after[j] - before[i]. One pass covers all pairs: j - i + 1 <= capacity +
    rate x (after[j] - before[i]) for all i <= j says that the least i - rate x before[i] so far bounds
    j - rate x after[j].
    """
    faults = []
    rate, capacity = run.settings["bucket"]["rate_per_second"], run.settings["bucket"]["capacity"]
    admissions = 0
    rooms = []
    for client, events in run.clients.items():
        least = None
        for j, event in enumerate(of(events, "admitted")):
            admissions += 1
            start = j * plan.SECOND - rate * event["before"]
            least = start if least is None else min(least, start)
            room = least + (capacity - 1) * plan.SECOND - (j * plan.SECOND - rate * event["after"])
            rooms.append(room)
            if room < 0:
                faults.append(f"{client}: call {event['call']} is above {capacity} at once and {rate} a second")
    closest = f", at the tightest {min(rooms) / plan.SECOND:.2f} calls below the bound" if rooms else ""
    return faults, f"{admissions} admissions{closest}"


def transitions_once(run: Run) -> tuple[list[str], str]:
    """Each log holds the changes of state that a plain sequential breaker makes of its events: those
    and no others, each once, each where it belongs, with cause and figures. A change stands just before
    the event that made it."""
    faults = []
    total = 0
    for client, events in run.clients.items():
        breaker = model.Breaker(run.settings["breaker"])
        logged: list[model.Change] = []
        for event in events:
            match event["event"]:
                case "transition":
                    total += 1
                    logged.append(model.Change.logged(event))
                    continue
                case "heard":
                    continue
                case "admitted":
                    expected = breaker.admitted(event["call"])
                case "settled":
                    expected = breaker.settled(event["call"], event["outcome"])
                case "refused" if event["reason"] == "rate_limited":
                    # The bucket is asked after the breaker, whose permit is then given back.
                    expected = breaker.admitted(event["call"]) + breaker.settled(event["call"], "ignored")
                case _:
                    expected = []
            if logged != expected:
                names = [" then ".join(map(str, changes)) or "none" for changes in (expected, logged)]
                faults.append(f"{client}: before line {event['n']} the change should be {names[0]}, it is {names[1]}")
                break  # from here on the two would only drift apart
            logged = []
    return faults, f"{total} transitions"


def told_honoured(run: Run) -> tuple[list[str], str]:
    """After an answer with Retry-After that opened the breaker, no call is sent before the named instant."""
    faults = []
    total = 0
    for client, events in run.clients.items():
        told, opened_by_told = None, False
        for event in events:
            if event["event"] == "transition":
                opened_by_told = event["to"] == "open" and event["cause"] == "retry_after"
            elif event["event"] == "settled" and opened_by_told:
                total += 1
                told, opened_by_told = event["told_until"], False
            elif event["event"] == "admitted" and told is not None and event["after"] < told:
                faults.append(f"{client}: call {event['call']} was sent before the instant the provider named")
    return faults, f"0 calls too early after {total} openings by Retry-After" if not faults else f"{len(faults)} calls"


def heard_twice(run: Run) -> tuple[list[str], str]:
    """The second channel of each face told of the same changes of state, in the same order."""
    faults = []
    total = 0
    for client, events in run.clients.items():
        first, second = ([(e["from"], e["to"]) for e in of(events, kind)] for kind in ("transition", "heard"))
        total += len(second)
        if first != second:
            faults.append(f"{client}: the listener heard {len(first)} transitions, the other channel {len(second)}")
    return faults, f"{total} transitions"


def failing_calls(run: Run, client: str | None = None) -> int:
    return sum(
        e["event"] == "arrived" and e["phase"] in plan.FAILING and client in (None, e["client"]) for e in run.provider
    )


def spared(without: Run, guarded: Run) -> tuple[list[str], str]:
    """While it could not answer, the provider got fewer calls from each client with seawall than without."""
    faults = []
    for client in guarded.clients:
        bare, kept = failing_calls(without, client), failing_calls(guarded, client)
        if kept >= bare:
            faults.append(f"{client}: {kept} calls with seawall, {bare} without")
    return faults, f"{failing_calls(without)} calls without, {failing_calls(guarded)} with"


def exercised(run: Run) -> tuple[list[str], str]:
    """The run was a test: each breaker opened and refused, each bucket refused, each breaker closed again."""
    faults = []
    openings = 0
    for client, events in run.clients.items():
        changes = [e["to"] for e in of(events, "transition")]
        reasons = {e["reason"] for e in of(events, "refused")}
        openings += changes.count("open")
        if "open" not in changes:
            faults.append(f"{client}: its breaker never opened")
        elif changes[-1] != "closed":
            faults.append(f"{client}: its breaker ended {changes[-1]}")
        faults += [f"{client}: nothing was refused as {r}" for r in ("open", "rate_limited") if r not in reasons]
    return faults, f"{openings} openings"


def all_checks(without: Run, guarded: Run) -> list[Check]:
    checks: list[tuple[str, str, Callable[[], tuple[list[str], str]]]] = [
        (
            "logs whole, without",
            "without seawall: every order decided once, every line there",
            lambda: whole(without, False),
        ),
        ("logs whole, with", "with seawall: every order decided once, every line there", lambda: whole(guarded, True)),
        ("admitted first", "the provider saw no call that had not been admitted", lambda: arrivals_admitted(guarded)),
        ("none while open", "no call while that client's breaker was open", lambda: none_while_open(guarded)),
        ("trials", "at most the stated trials in each half-open round", lambda: trials_bounded(guarded)),
        ("rate", "never above the token bucket's rate, over any interval", lambda: rate_bounded(guarded)),
        ("transitions", "every change of state logged exactly once", lambda: transitions_once(guarded)),
        ("Retry-After", "no call before the instant that the provider named", lambda: told_honoured(guarded)),
        ("two channels", "listener and second channel agree on every change", lambda: heard_twice(guarded)),
        ("spared", "fewer calls reach the failing provider with seawall", lambda: spared(without, guarded)),
        ("exercised", "every breaker opened and closed again, every limit refused", lambda: exercised(guarded)),
    ]
    done = []
    for name, claim, check in checks:
        try:
            faults, figure = check()
        except (KeyError, IndexError, TypeError) as error:
            faults, figure = [f"the log cannot be read as one: {error!r}"], "-"
        done.append(Check(name, claim, figure, faults))
    return done
