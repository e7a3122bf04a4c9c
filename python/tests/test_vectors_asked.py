"""The conformance vectors of one operation each: backoff and its helpers, retry budget, deadlines, header text.

Left out by name: what the native half alone decides (classification and the pause after a told wait, which whole
calls replay), a budget's peek (its balance tells), and header text that only other faces read.
"""

from __future__ import annotations

from collections import Counter

import pytest
from test_vectors import config_errors, files, numbers, scenarios

import seawall
from seawall import wire
from seawall._seawall import _backoff_from_fields, _budget_from_fields
from seawall.testing import ManualClock, ManualRandom

# How many steps each operation that is left out has: a new one is noticed, not passed over.
LEFT_OUT = {
    ("retry_budget", "peek"): 9,
    ("retry", "pause"): 168,
    ("retry", "status"): 29,
    ("retry", "failure"): 8,
    ("retry", "may_repeat"): 6,
    ("deadline", "timeouts"): 6,
    ("deadline", "check"): 15,  # those whose deadline a float of seconds cannot name to the nanosecond
    ("wire", "parse_date"): 22,
    ("wire", "write_date"): 9,
    ("wire", "parse_grpc_timeout"): 20,
    ("wire", "write_grpc_timeout"): 8,
    ("wire", "parse_pushback"): 11,
}


def seconds(text: str | None) -> float | None:
    return None if text is None else int(text) / 1e9


def near(wait: float | None) -> object:
    """A float has 53 bits; a nanosecond of a long span is not among them."""
    return None if wait is None else pytest.approx(wait, rel=1e-12, abs=1e-9)


def sayable(step: dict) -> bool:
    """Whether a float of seconds can name the step's deadline to the nanosecond."""
    return int(step.get("deadline_ns") or 0) < 2**53


def played(step: dict) -> bool:
    return hasattr(Player, step["op"]) and sayable(step)


class Player:
    """What a scenario works with; a method per operation answers as the face does, in its units."""

    def __init__(self, primitive: str, scenario: dict) -> None:
        self.clock = ManualClock()
        self.random = ManualRandom()
        self.clock.set_ns(int(scenario["start_ns"]))
        config = numbers(scenario["config"])
        if primitive == "backoff":
            self.backoff = _backoff_from_fields(config, random=self.random)
        if primitive == "retry_budget":
            self.budget = _budget_from_fields(config, clock=self.clock)

    def play(self, step: dict) -> object:
        if "now_ns" in step:
            self.clock.set_ns(int(step["now_ns"]))
        self.random.set(int(step.get("r", 0)))
        return getattr(self, step["op"])(step)

    def ceiling(self, step):
        return self.backoff.ceiling_ns(step["retry"])

    def delay(self, step):
        return self.backoff.delay_ns(step["retry"], int(step["previous_ns"]))

    def ttl(self, step):
        return seawall.ttl(f"{step['span_ns']}ns", min(1.0, step["spread_ppm"] / 1e6), random=self.random)

    def schedule(self, step):
        spread = step["spread_ppm"] / 1e6
        made = seawall.Schedule(f"{step['period_ns']}ns", seed=int(step["seed"]), spread=spread)
        return made.phase, made.next_ns(int(step["now_ns"]))

    def reconnect(self, step):
        stable = f"{step['stable_after_ns']}ns"
        self.link = seawall.Reconnect(self.backoff, stable_after=stable, clock=self.clock, random=self.random)

    def connected(self, _):
        self.link.connected()

    def lost(self, _):
        return self.link.lost()

    def deposit(self, _):
        self.budget.deposit()

    def refund(self, _):
        self.budget.refund()

    def reset(self, _):
        self.budget.reset()

    def withdraw(self, _):
        try:
            self.budget.withdraw()
        except seawall.BudgetEmpty as error:
            return error.reason, error.at
        return None

    def balance(self, _):
        return self.budget.balance_ppm

    def configure(self, step):
        try:
            self.budget._configure_fields(numbers(step["config"]))
        except seawall.ConfigError as error:
            return str(error)
        return None

    def check(self, step):
        if step["deadline_ns"] is None:
            return None
        try:
            left = self.deadline(step["deadline_ns"]).check(f"{step['expected_ns']}ns")
        except seawall.DeadlineExceeded as error:
            return error.reason
        return left

    def shrunk(self, step):
        if step["deadline_ns"] is None:
            return None
        return self.deadline(step["deadline_ns"]).shrunk_by(f"{step['margin_ns']}ns").at

    def deadline(self, nanoseconds: str):
        return seawall.Deadline(int(nanoseconds) / 1e9, clock=self.clock)

    def parse_retry_after(self, step):
        return wire.parse_retry_after(step["value"], step["now_unix"])

    def write_retry_after(self, step):
        return wire.format_retry_after(f"{step['wait_ns']}ns")

    def parse_deadline_ms(self, step):
        return wire.parse_remaining(step["value"])

    def write_deadline_ms(self, step):
        return wire.format_remaining(f"{step['wait_ns']}ns")


def expected(step: dict) -> object:
    op, expect = step["op"], step["expect"]
    if op in ("ceiling", "delay"):
        return int(expect["wait_ns"])
    if op == "schedule":
        return near(seconds(expect["phase_ns"])), int(expect["at_ns"])
    if "refused" in expect:
        no = expect["refused"]
        return no["reason"] if op == "check" else (no["reason"], near(seconds(no["at_ns"])))
    for key in ("wait_ns", "remaining_ns", "deadline_ns"):
        if key in expect:
            return near(seconds(expect[key]))
    if "balance_ppm" in expect:
        return int(expect["balance_ppm"])
    return expect.get("text", expect.get("error"))


PRIMITIVES = ("backoff", "retry_budget", "deadline", "wire")


@pytest.mark.parametrize(
    ("primitive", "scenario"),
    [
        pytest.param(primitive, *one.values, id=f"{primitive}-{one.id}")
        for primitive in PRIMITIVES
        for one in scenarios(primitive)
    ],
)
def test_scenarios(primitive, scenario):
    player = Player(primitive, scenario)
    steps = [step for step in scenario["steps"] if played(step)]
    for place, step in enumerate(steps):
        assert player.play(step) == expected(step), f"step {place}: {step}"


def test_what_is_left_out_is_counted():
    left_out = Counter(
        (primitive, step["op"])
        for primitive in (*PRIMITIVES, "retry")
        for content in files(primitive)
        for scenario in content["scenarios"]
        for step in scenario["steps"]
        if not played(step)
    )
    assert left_out == LEFT_OUT


@pytest.mark.parametrize(("config", "error"), config_errors("backoff"))
def test_impossible_backoffs(config, error):
    with pytest.raises(seawall.ConfigError) as raised:
        _backoff_from_fields(numbers(config))
    assert str(raised.value) == error


@pytest.mark.parametrize(("config", "error"), config_errors("retry_budget"))
def test_impossible_budgets(config, error):
    with pytest.raises(seawall.ConfigError) as raised:
        _budget_from_fields(numbers(config))
    assert str(raised.value) == error
