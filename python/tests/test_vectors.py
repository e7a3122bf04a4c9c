"""The conformance vectors: the same answers as the engine's, through Python, under virtual time.

`remaining` of a reservation's grant and the layer of a refusal have no place in this face: the layer is
the class of the exception. Everything else is compared.
"""

from __future__ import annotations

import json
import pathlib

import pytest

import seawall
from seawall._seawall import (
    _backoff_from_fields,
    _breaker_from_fields,
    _bucket_from_fields,
    _budget_from_fields,
    _RawCall,
)
from seawall.testing import ManualClock, ManualRandom

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "core" / "vectors"
LAYERS = {seawall.CircuitOpen: "circuit_breaker", seawall.RateLimited: "rate_limit"}


def files(primitive):
    found = sorted((VECTORS / primitive).glob("*.json"))
    assert found, f"no vectors of {primitive}"
    contents = [json.loads(path.read_text()) for path in found]
    assert all(content["format"] == 1 and content["primitive"] == primitive for content in contents)
    return contents


def scenarios(primitive):
    return [
        pytest.param(scenario, id=scenario["name"])
        for content in files(primitive)
        for scenario in content["scenarios"]
        if not scenario.get("misuse")  # a permit of this face settles once by construction
    ]


def config_errors(primitive):
    return [(case["config"], case["error"]) for content in files(primitive) for case in content["config_errors"]]


def numbers(config):
    return {name: int(value) for name, value in config.items()}


def optional(text):
    return None if text is None else int(text)


def refusal(error):
    return {
        "layer": LAYERS[type(error)],
        "reason": error.reason,
        "at_ns": error.at_ns,
        "explain": str(error).partition(": ")[2],
    }


def expected_refusal(expect):
    return {
        key: optional(value) if key == "at_ns" else value for key, value in expect["refused"].items() if key != "when"
    }


class Breaker:
    """Replays the steps of one breaker."""

    def __init__(self, scenario):
        self.clock, self.random, self.permits, self.changes = ManualClock(), ManualRandom(), [], []
        self.breaker = _breaker_from_fields(numbers(scenario["config"]), clock=self.clock, random=self.random)
        self.breaker.on_transition(self.changes.append)

    def step(self, step):
        self.clock.set_ns(int(step.get("now_ns", 0)))
        self.random.set(int(step.get("r", 0)))
        self.changes.clear()
        expect = dict(step["expect"])
        transition = expect.pop("transition", None)
        getattr(self, step["op"])(step, expect)
        assert [self.told(change) for change in self.changes] == ([self.expected(transition)] if transition else [])

    @staticmethod
    def told(change):
        names = "cause at_ns until_ns generation calls failed slow reopened unseeded".split()
        return {"from": change.from_state, "to": change.to_state, **{name: getattr(change, name) for name in names}}

    @staticmethod
    def expected(transition):
        return {key: optional(value) if key.endswith("_ns") else value for key, value in transition.items()}

    def admit(self, step, expect):
        try:
            permit = self.breaker.admit()
        except seawall.CircuitOpen as error:
            assert refusal(error) == expected_refusal(expect)
            return
        kind = "trial" if permit.trial else "bypass" if permit.unrecorded else "call"
        assert kind == expect["admitted"] and len(self.permits) == expect["permit"]
        assert permit.bypassed == (expect["bypassed"] and expect["bypassed"]["reason"])
        self.permits.append(permit)

    def settle(self, step, expect, how, *args):
        permit = self.permits[step["permit"]]
        # A permit of this face settles once; a second time it is stale, where a token may be neutral.
        wanted = "stale" if permit.settled else expect["settlement"]
        assert getattr(permit, how)(*args) == wanted

    def success(self, step, expect):
        self.settle(step, expect, "success")

    def failure(self, step, expect):
        self.settle(step, expect, "failure")

    def ignore(self, step, expect):
        self.settle(step, expect, "ignore")

    def failure_until(self, step, expect):
        self.settle(step, expect, "failure_until_ns", int(step["until_ns"]))

    def trip(self, step, expect):
        until = step["until_ns"]
        self.breaker.trip() if until is None else self.breaker.trip_until_ns(int(until))

    def half_open(self, step, expect):
        self.breaker.half_open()

    def reset(self, step, expect):
        self.breaker.reset()

    def configure(self, step, expect):
        assert configured(self.breaker, step["config"]) == expect["error"]

    def set_mode(self, step, expect):
        assert self.breaker.mode == expect["before"]
        self.breaker.mode = step["mode"]
        assert self.breaker.mode == step["mode"]

    def state(self, step, expect):
        assert self.breaker.state == expect["state"]

    def snapshot(self, step, expect):
        shot = self.breaker.snapshot()
        assert self.breaker.explain() == expect.pop("explain")
        for name, value in expect.items():
            if name.endswith("_ppm"):
                rate = getattr(shot, name.removesuffix("_ppm"))
                assert (rate is None) == (value is None) and (rate is None or round(rate * 1e6) == value), name
            else:
                assert getattr(shot, name) == (optional(value) if name.endswith("_ns") else value), name


class Bucket:
    """Replays the steps of one bucket."""

    def __init__(self, scenario):
        self.clock, self.reservations = ManualClock(), []
        self.clock.set_ns(int(scenario["start_ns"]))
        self.bucket = _bucket_from_fields(numbers(scenario["config"]), clock=self.clock)

    def step(self, step):
        self.clock.set_ns(int(step["now_ns"]))
        getattr(self, step["op"])(step, step["expect"])

    def decided(self, decision, expect):
        if decision:
            granted = {"remaining": str(decision.remaining), "reset_after_ns": str(decision.reset_after_ns)}
            assert {"granted": granted} == expect
        else:
            answer = {"reason": decision.reason, "at_ns": decision.at_ns, "explain": decision.explain()}
            assert {"layer": "rate_limit", **answer} == expected_refusal(expect)

    def try_acquire(self, step, expect):
        # One of the ways of asking decides, and the others, asked before it, must not disagree.
        cost = int(step["cost"])
        self.decided(self.bucket.peek(cost), expect)
        if "refused" in expect:
            assert not self.bucket.try_acquire(cost) and not self.bucket.allow(cost)[0]
            with pytest.raises(seawall.RateLimited) as refused:
                self.bucket.acquire(cost)
            assert refusal(refused.value) == expected_refusal(expect)
        self.decided(self.bucket.decide(cost), expect)

    def peek(self, step, expect):
        self.decided(self.bucket.peek(int(step["cost"])), expect)

    def reserve(self, step, expect):
        try:
            reservation = self.bucket.reserve(int(step["cost"]), f"{step['max_wait_ns']}ns")
        except seawall.RateLimited as error:
            assert refusal(error) == expected_refusal(expect)
            return
        assert len(self.reservations) == expect["reserved"]["reservation"]
        assert reservation.at_ns == int(expect["reserved"]["at_ns"])
        self.reservations.append(reservation)

    def cancel(self, step, expect):
        assert self.reservations[step["reservation"]].cancel() == expect["refund"]

    def drain(self, step, expect):
        self.bucket.drain()

    def reset(self, step, expect):
        self.bucket.reset()

    def configure(self, step, expect):
        assert configured(self.bucket, step["config"]) == expect["error"]


def configured(some, config):
    try:
        some._configure_fields(numbers(config))
    except seawall.ConfigError as error:
        return str(error)
    return None


CHOICES = {
    "retry.idempotent": ["yes", "no", "by_key"],
    "retry.on_retry_after": ["wait", "fail", "grpc", "aws"],
    "policy.late": ["discard", "use"],
}
COUNTS = {"retry.attempts", "policy.cost"}


class Whole:
    """Replays the steps of up to four calls under one policy."""

    def __init__(self, scenario):
        self.clock, self.calls, self.over = ManualClock(), {}, set()
        self.clock.set_ns(int(scenario["start_ns"]))
        self.policy = self.wired(scenario["config"])

    def wired(self, config):
        parts = {}
        for name, value in config.items():
            part, _, field = name.partition(".")
            parts.setdefault(part, {})[field] = int(value)

        def options(part):
            """As a constructor takes them: spans as text, choices by name."""
            return {
                field: CHOICES[f"{part}.{field}"][value]
                if f"{part}.{field}" in CHOICES
                else value
                if f"{part}.{field}" in COUNTS
                else f"{value}ns"
                for field, value in parts.get(part, {}).items()
            }

        def made(part, make, *args, **options):
            return make(*args, **options) if part in parts else None

        self.breaker = made("circuit_breaker", _breaker_from_fields, parts.get("circuit_breaker"), clock=self.clock)
        bucket = made("token_bucket", _bucket_from_fields, parts.get("token_bucket"), clock=self.clock)
        budget = made("retry_budget", _budget_from_fields, parts.get("retry_budget"), clock=self.clock)
        backoff = made("backoff", _backoff_from_fields, parts.get("backoff"))
        retry = made("retry", seawall.Retry, backoff=backoff, budget=budget, **options("retry"))
        return seawall.Policy(
            timeouts=seawall.Timeouts(**options("timeouts")),
            retry=retry,
            breaker=self.breaker,
            rate_limit=bucket,
            clock=self.clock,
            **options("policy"),
        )

    def step(self, step):
        if "now_ns" in step:
            self.clock.set_ns(int(step["now_ns"]))
        call = step.get("call", 0)
        self.calls.setdefault(call, _RawCall(self.policy))
        answer = getattr(self, step["op"])(call, step)
        assert answer == step["expect"]

    def start(self, call, step):
        if call in self.over:  # one that has said `done` is made anew
            self.calls[call] = _RawCall(self.policy)
            self.over.discard(call)
        return {"receipt": self.calls[call].start(int(step.get("deadline_ns") or 2**64 - 1))}

    def poll(self, call, step):
        steps = self.calls[call].poll(int(step["now_ns"]), int(step.get("r", 0)))
        if "done" in steps[-1]:
            self.over.add(call)
        return {"steps": steps}

    def finished(self, call, step):
        result = step["result"]
        told = optional(result["told_ns"])
        verdict = (result["failure"], result["retryable"], result["breaker"], told, result.get("stop", False))
        return {"receipt": self.calls[call].finished(step["attempt"], *verdict)}

    def woken(self, call, step):
        return {"receipt": self.calls[call].woken(step["ticket"])}

    def cancelled(self, call, step):
        return {"receipt": self.calls[call].cancelled()}

    def fail(self, call, step):
        self.breaker.admit().failure()
        return {}


def replay(player, steps):
    for number, step in enumerate(steps):
        try:
            player.step(step)
        except AssertionError as error:
            raise AssertionError(f"step {number}: {step}") from error


@pytest.mark.parametrize("scenario", scenarios("circuit_breaker"))
def test_circuit_breaker(scenario):
    replay(Breaker(scenario), scenario["steps"])


@pytest.mark.parametrize("scenario", scenarios("token_bucket"))
def test_token_bucket(scenario):
    replay(Bucket(scenario), scenario["steps"])


@pytest.mark.parametrize("scenario", scenarios("policy"))
def test_whole_calls(scenario):
    replay(Whole(scenario), scenario["steps"])


def test_config_errors_have_the_engines_text():
    for primitive, make in (("circuit_breaker", _breaker_from_fields), ("token_bucket", _bucket_from_fields)):
        for config, error in config_errors(primitive):
            with pytest.raises(seawall.ConfigError) as refused:
                make(numbers(config))
            assert str(refused.value) == error
