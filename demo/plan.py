"""The plan of a run: what the provider does when, and when each order falls due.

Every part of the demo works from the same settings; this file reads them for the Python parts.
All instants are absolute nanoseconds of CLOCK_MONOTONIC, which every process of a host shares.
"""

import json
import pathlib

SECOND = 1_000_000_000
CLIENTS = ["python", "node", "c"]
LANGUAGE = {"python": "Python", "node": "Node", "c": "C"}
# Phases in which a call to the provider cannot succeed.
FAILING = {"503", "429", "hanging"}


def load(path: pathlib.Path, seconds: float | None = None) -> dict:
    """The settings; with `seconds`, the script and the rush are stretched or shrunk to that length."""
    settings = json.loads(path.read_text())
    if seconds is not None:
        factor = seconds / length(settings)
        for part in (*settings["script"], *settings["orders"]):
            part["seconds"] = round(part["seconds"] * factor, 3)
    return settings


def length(settings: dict) -> float:
    """Seconds from the first order to the last."""
    return sum(part["seconds"] for part in settings["script"])


def phases(settings: dict) -> list[tuple[str, float, float]]:
    """(name, from, to) in seconds from the start."""
    found, at = [], 0.0
    for part in settings["script"]:
        found.append((part["phase"], at, at + part["seconds"]))
        at += part["seconds"]
    return found


def phase_at(settings: dict, seconds: float) -> str:
    for name, _, end in phases(settings):
        if seconds < end:
            return name
    return settings["script"][-1]["phase"]


def due(settings: dict) -> list[int]:
    """When each order falls due, in nanoseconds from the start; order k is at index k - 1."""
    instants, start = [], 0
    for part in settings["orders"]:
        count = int(part["seconds"] * part["per_second"] + 0.5)
        gap = SECOND // part["per_second"]
        instants += [start + k * gap for k in range(count)]
        start += int(part["seconds"] * SECOND + 0.5)
    return instants


def late(settings: dict) -> list[int]:
    """More instants, at the last pace. A client whose breaker is not closed after the last order (the machine
    was busy with other things) takes as many more as it needs."""
    last = due(settings)[-1]
    gap = SECOND // settings["orders"][-1]["per_second"]
    return [last + k * gap for k in range(1, settings["late_orders"] + 1)]
