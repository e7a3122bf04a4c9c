"""Figures drawn from the logs of a run: what the charts and the tables show."""

from dataclasses import dataclass

import checks
import plan


@dataclass
class Order:
    """One order as its client saw it; instants in seconds from the start of the run."""

    client: str
    taken: float
    waited: float  # seconds until it was paid, had failed or was refused
    result: str  # success, failure, told, ignored or refused
    sent: bool


@dataclass
class Span:
    """A breaker was in `state` from `start` to `end`, in seconds from the start of the run."""

    state: str
    start: float
    end: float


def start_ns(run: checks.Run) -> int:
    return next(e["start_ns"] for e in run.provider if e["event"] == "start")


def orders(run: checks.Run) -> list[Order]:
    zero = start_ns(run)
    found = []
    for client, events in run.clients.items():
        for event in checks.of(events, "settled", "refused"):
            sent = event["event"] == "settled"
            result = event["outcome"] if sent else "refused"
            taken = (event["t"] - event["ns"] - zero) / plan.SECOND
            found.append(Order(client, taken, event["ns"] / plan.SECOND, result, sent))
    return found


def arrivals(run: checks.Run) -> list[float]:
    """When calls reached the provider."""
    return [(e["t"] - start_ns(run)) / plan.SECOND for e in run.provider if e["event"] == "arrived"]


def in_flight(run: checks.Run) -> tuple[list[float], list[int]]:
    """How many calls the provider held, as the corners of a step line."""
    zero, held = start_ns(run), 0
    times, counts = [0.0], [0]
    for event in run.provider:
        if event["event"] in ("arrived", "answered"):
            held += 1 if event["event"] == "arrived" else -1
            times.append((event["t"] - zero) / plan.SECOND)
            counts.append(held)
    return times, counts


def spans(run: checks.Run, client: str) -> list[Span]:
    zero, end = start_ns(run), plan.length(run.settings)
    state, since, found = "closed", 0.0, []
    for event in checks.of(run.clients[client], "transition"):
        at = (event["t"] - zero) / plan.SECOND
        found.append(Span(state, since, at))
        state, since = event["to"], at
    found.append(Span(state, since, max(end, since)))
    return found


def trials(run: checks.Run, client: str) -> list[float]:
    zero = start_ns(run)
    admitted = checks.of(run.clients[client], "admitted")
    return [(e["t"] - zero) / plan.SECOND for e in admitted if e["permit"] == "trial"]


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed (nearest rank)."""
    ranked = sorted(values)
    rank = max(1, -(-len(ranked) * round(share * 100) // 100))
    return ranked[rank - 1]


def waits_by_phase(run: checks.Run) -> dict[str, list[float]]:
    """Seconds that the orders of each phase waited."""
    found: dict[str, list[float]] = {name: [] for name, _, _ in plan.phases(run.settings)}
    for order in orders(run):
        found[plan.phase_at(run.settings, order.taken)].append(order.waited)
    return found


@dataclass
class Totals:
    orders: int
    sent: int
    paid: int
    failed: int
    told: int  # the provider said when it will be back
    refused: dict[str, int]
    failing_calls: int  # calls that reached the provider while it could not answer them
    wasted: float  # seconds of waiting for calls that failed


def totals(run: checks.Run, client: str | None = None) -> Totals:
    chosen = [order for order in orders(run) if client in (None, order.client)]
    refused: dict[str, int] = {}
    for name, events in run.clients.items():
        if client in (None, name):
            for event in checks.of(events, "refused"):
                refused[event["reason"]] = refused.get(event["reason"], 0) + 1
    return Totals(
        orders=len(chosen),
        sent=sum(order.sent for order in chosen),
        paid=sum(order.result == "success" for order in chosen),
        failed=sum(order.result in ("failure", "ignored") for order in chosen),
        told=sum(order.result == "told" for order in chosen),
        refused=refused,
        failing_calls=checks.failing_calls(run, client),
        wasted=sum(order.waited for order in chosen if order.sent and order.result != "success"),
    )
