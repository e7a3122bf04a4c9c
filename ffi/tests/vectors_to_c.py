#!/usr/bin/env python3
"""The conformance vectors (core/vectors/README.md) as tables of C, for replay.c.

    vectors_to_c.py OUT [--steps N]

With --steps the scenarios of each file are taken in turn until N steps are reached, for machines with
little memory. What C cannot say differently is turned here: an absent field becomes SW_DEFAULT, null
becomes 0, a settlement becomes a status.
"""

import argparse
import itertools
import json
import pathlib

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "core" / "vectors"
PRIMITIVES = ("circuit_breaker", "token_bucket")
# policy_to_c.py turns whole calls, asked_to_c.py what has one operation each.
ELSEWHERE = {"policy", "backoff", "retry_budget", "retry", "deadline", "wire"}
SETTLED = {"counted": "SW_OK", "neutral": "SW_NEUTRAL", "stale": "SW_STALE"}
SUFFIXED = {
    "failure_rate": "failure_rate_ppm",
    "window_span": "window_span_ns",
    "slow_after": "slow_after_ns",
    "slow_rate": "slow_rate_ppm",
    "reset_after": "reset_after_ns",
    "reset_factor": "reset_factor_permille",
    "reset_cap": "reset_cap_ns",
    "reset_jitter": "reset_jitter_ppm",
    "max_retry_after": "max_retry_after_ns",
    "trial_timeout": "trial_timeout_ns",
    "period": "period_ns",
}
FIELDS = {
    "circuit_breaker": "failure_threshold failure_rate window window_span buckets minimum_calls slow_after slow_rate "
    "trials close_after reset_after reset_factor reset_cap reset_jitter max_retry_after trial_timeout expired_trials "
    "mode".split(),
    "token_bucket": "period rate capacity start".split(),
}


def number(value) -> str:
    return f"UINT64_C({int(value or 0)})"


def constant(kind: str, name: str) -> str:
    return f"SW_{kind}_{name.upper().replace('-', '_')}"


def quoted(text: str | None) -> str:
    return "NULL" if text is None else json.dumps(text)


class Table:
    """Values that steps point to, each kept once."""

    def __init__(self, type_: str, name: str) -> None:
        self.type, self.name, self.rows = type_, name, {}

    def put(self, row: str | None) -> str:
        return "NULL" if row is None else f"&{self.name}[{self.rows.setdefault(row, len(self.rows))}]"

    def text(self) -> str:
        rows = "".join(f"    {row},\n" for row in self.rows or ["{0}"])
        return f"static const {self.type} {self.name}[] = {{\n{rows}}};\n"


class Writer:
    def __init__(self) -> None:
        self.transitions = Table("sw_transition", "transitions")
        self.rejections = Table("sw_rejection", "rejections")
        self.snapshots = Table("sw_snapshot", "snapshots")
        self.configs = {p: Table(f"sw_{p}_config", f"{p}_configs") for p in PRIMITIVES}
        self.steps: list[str] = []
        self.scenarios: list[str] = []
        self.kept = 1

    def config(self, primitive: str, given: dict) -> str:
        unknown = set(given) - set(FIELDS[primitive])
        if unknown:
            raise SystemExit(f"{primitive} has no field {unknown}")
        values = (number(given[field]) if field in given else "SW_DEFAULT" for field in FIELDS[primitive])
        names = (SUFFIXED.get(field, field) for field in FIELDS[primitive])
        pairs = (f".{name} = {value}" for name, value in zip(names, values, strict=True))
        return self.configs[primitive].put("{" + ", ".join(pairs) + "}")

    def transition(self, t: dict | None) -> str:
        if t is None:
            return "NULL"
        counts = ", ".join(
            f".{key} = {int(t[key])}" for key in ("generation", "calls", "failed", "slow", "reopened", "unseeded")
        )
        return self.transitions.put(
            f"{{.at_ns = {number(t['at_ns'])}, .until_ns = {number(t['until_ns'])}, "
            f".from = {constant('STATE', t['from'])}, .to = {constant('STATE', t['to'])}, "
            f".cause = {constant('CAUSE', t['cause'])}, {counts}}}"
        )

    def rejection(self, r: dict | None) -> str:
        if r is None:
            return "NULL"
        when = {"at": "AT", "never": "NEVER", "depends": "UNKNOWN" if r["at_ns"] is None else "ESTIMATE"}[r["when"]]
        return self.rejections.put(
            f"{{.at_ns = {number(r['at_ns'])}, .layer = {constant('LAYER', r['layer'])}, "
            f".reason = {constant('REASON', r['reason'])}, .when = SW_WHEN_{when}}}"
        )

    def snapshot(self, s: dict) -> str:
        counts = "generation calls failed slow trials_in_flight trials_succeeded trials reopened".split()
        rates = (
            f".{key} = {'SW_NO_RATE' if s[key] is None else s[key]}" for key in ("failure_rate_ppm", "slow_rate_ppm")
        )
        return self.snapshots.put(
            f"{{.until_ns = {number(s['until_ns'])}, .changed_at_ns = {number(s['changed_at_ns'])}, "
            f".state = {constant('STATE', s['state'])}, .mode = {constant('MODE', s['mode'])}, "
            f".cause = {constant('CAUSE', s['cause']) if s['cause'] else 0}, {', '.join(rates)}, "
            + ", ".join(f".{key} = {s[key]}" for key in counts)
            + "}"
        )

    def step(self, primitive: str, step: dict) -> None:
        op, expect = step["op"], step["expect"]
        set_ = {"op": f"OP_{primitive}_{op}".upper(), "now": number(step.get("now_ns")), "r": number(step.get("r"))}
        set_["transition"] = self.transition(expect.get("transition"))
        if "permit" in step or "reservation" in step:
            set_["index"] = step.get("permit", step.get("reservation"))
        for key, field in (("until_ns", "x"), ("cost", "x"), ("max_wait_ns", "y")):
            if key in step:
                set_[field] = "SW_DEFAULT" if step[key] is None else number(step[key])
        if "config" in step:
            set_["config"] = self.config(primitive, step["config"])
        if "refused" in expect:
            no = expect["refused"]
            set_ |= {"status": "SW_REFUSED", "rejection": self.rejection(no), "text": quoted(no.get("explain"))}
        elif "admitted" in expect:
            kind = f"SW_PERMIT_{expect['admitted'].upper()}"
            set_ |= {"want": kind, "index": expect["permit"], "rejection": self.rejection(expect["bypassed"])}
        elif "settlement" in expect:
            set_["status"] = SETTLED[expect["settlement"]]
        elif "granted" in expect:
            grant = expect["granted"]
            set_ |= {"want": number(grant["remaining"]), "want_more": number(grant["reset_after_ns"])}
        elif "reserved" in expect:
            made = expect["reserved"]
            set_ |= {"index": made["reservation"], "want": number(made["at_ns"])}
        elif "refund" in expect:
            set_["want"] = f"SW_REFUND_{expect['refund'].upper()}"
        elif "error" in expect:
            set_ |= {"status": "SW_ERR_CONFIG" if expect["error"] else "SW_OK", "text": quoted(expect["error"])}
        elif op == "set_mode":
            set_ |= {"x": constant("MODE", step["mode"]), "want": constant("MODE", expect["before"])}
        elif op == "state":
            set_["want"] = constant("STATE", expect["state"])
        elif op == "snapshot":
            set_ |= {"snapshot": self.snapshot(expect), "text": quoted(expect["explain"])}
        elif expect and set(expect) != {"transition"}:
            raise SystemExit(f"{op}: what is {expect}?")
        self.kept = max(self.kept, set_.get("index", 0) + 1)
        self.steps.append("{" + ", ".join(f".{key} = {value}" for key, value in set_.items()) + "}")

    def scenario(self, name: str, primitive: str, config: dict, start, steps: list[dict]) -> None:
        first = len(self.steps)
        for step in steps:
            self.step(primitive, step)
        self.scenarios.append(
            f'{{.name = "{primitive}: {name}", .token_bucket = {int(primitive == "token_bucket")}, '
            f".config = {self.config(primitive, config)}, .start = {number(start)}, "
            f".first = {first}, .count = {len(steps)}}}"
        )

    def text(self) -> str:
        out = "/* generated by vectors_to_c.py; do not edit */\n"
        out += f"/* Permits and reservations that a scenario keeps. */\n#define KEPT {self.kept}\n"
        for table in (self.transitions, self.rejections, self.snapshots, *self.configs.values()):
            out += table.text()
        for type_, name, rows in (("step", "steps", self.steps), ("scenario", "scenarios", self.scenarios)):
            out += f"static const struct {type_} {name}[] = {{\n" + "".join(f"    {row},\n" for row in rows) + "};\n"
        return out


def load() -> list[list[tuple]]:
    """Per file, what there is to replay: (name, primitive, config, start, steps)."""
    files = []
    for path in sorted(VECTORS.glob("*/*.json")):
        data = json.loads(path.read_text())
        if data["primitive"] in ELSEWHERE:
            continue
        if data["format"] != 1 or data["primitive"] not in PRIMITIVES:
            raise SystemExit(f"{path.name}: format {data['format']} of {data['primitive']} is not known here")
        primitive, replays = data["primitive"], []
        for s in data["scenarios"]:
            replays.append((s["name"], primitive, s["config"], s["start_ns"], s["steps"]))
        if data["config_errors"]:
            possible = {"rate": "1", "capacity": "1"} if primitive == "token_bucket" else {}
            steps = [
                {"op": "configure", "config": e["config"], "expect": {"error": e["error"]}}
                for e in data["config_errors"]
            ]
            replays.append((f"{path.stem} are refused", primitive, possible, 0, steps))
        files.append(replays)
    if not any(files):
        raise SystemExit("there are no vectors")
    return files


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--steps", type=int)
    arguments = parser.parse_args()
    writer = Writer()
    # Of every file one scenario in turn, so that a bounded subset still has something of each.
    for turn in itertools.zip_longest(*load()):
        for replay in filter(None, turn):
            if arguments.steps is None or len(writer.steps) + len(replay[-1]) <= arguments.steps:
                writer.scenario(*replay)
    arguments.out.write_text(writer.text())
    print(f"{len(writer.scenarios)} scenarios, {len(writer.steps)} steps")


if __name__ == "__main__":
    main()
