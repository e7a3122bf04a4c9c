#!/usr/bin/env python3
"""The conformance vectors of one operation each (core/vectors/README.md) as a function of C per scenario.

    asked_to_c.py OUT

asked_vectors.c includes what this writes. What C has no function for (the pause after a told wait, which
sw_call_poll decides, and text that only other faces read) is counted and left out.
"""

import json
import pathlib
import sys

from policy_to_c import constant, field, instant, number, quoted, refused

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "core" / "vectors"
PRIMITIVES = ("backoff", "retry_budget", "retry", "deadline", "wire")
CONFIG = {"deadline": "timeouts"}
LEFT_OUT = set(
    "peek pause may_repeat timeouts parse_grpc_timeout write_grpc_timeout parse_pushback "
    "parse_deadline_ms write_deadline_ms".split()
)


def text(value: str) -> str:
    """Every byte that could be anything else than itself is written by its number."""
    plain = (chr(byte) if chr(byte).isalnum() or chr(byte) in " ,:+-." else f"\\{byte:03o}" for byte in value.encode())
    return f'"{"".join(plain)}"'


def sized(value: str) -> str:
    return f"{text(value)}, {len(value.encode())}"


def config(primitive: str, given: dict) -> list[str]:
    name = CONFIG.get(primitive, primitive)
    lines = [f"sw_{name}_config config = sw_{name}_config_default();"]
    return lines + [f"config.{field(key)} = {number(value)};" for key, value in given.items()]


def asked(step: dict) -> str:
    op, expect = step["op"], step["expect"]
    wait = number(expect["wait_ns"]) if expect.get("wait_ns") else "UINT64_MAX"
    at = number(step["now_ns"]) if "now_ns" in step else ""
    r = number(step.get("r", 0))
    match op:
        case "ceiling":
            return f"EQUAL(sw_backoff_ceiling(&backoff, UINT32_C({step['retry']}), &wait), SW_OK); SAME(wait, {wait});"
        case "delay":
            given = f"UINT32_C({step['retry']}), {number(step['previous_ns'])}, {r}"
            return f"EQUAL(sw_backoff_delay(&backoff, {given}, &wait), SW_OK); SAME(wait, {wait});"
        case "ttl":
            return f"SAME(sw_ttl_ns({number(step['span_ns'])}, UINT32_C({step['spread_ppm']}), {r}), {wait});"
        case "schedule":
            given = f"{number(step['period_ns'])}, {step['spread_ppm']}, {number(step['seed'])}"
            wanted = f"{number(expect['phase_ns'])}, {number(expect['at_ns'])}"
            return f"schedule({given}, {at}, {wanted});"
        case "reconnect":
            return f"EQUAL(sw_reconnect_init(&link, &backoff, {number(step['stable_after_ns'])}), SW_OK);"
        case "connected":
            return f"EQUAL(sw_reconnect_connected(&link, {at}), SW_OK);"
        case "lost":
            return f"EQUAL(sw_reconnect_lost(&link, {at}, {r}, &wait), SW_OK); SAME(wait, {wait});"
        case "deposit" | "refund" | "reset":
            return f"EQUAL(sw_retry_budget_{op}(&budget, {at}), SW_OK);"
        case "withdraw":
            no = expect.get("refused")
            return f"withdraw({at}, {'SW_REFUSED' if no else 'SW_OK'}, {refused(no)});"
        case "balance":
            return f"SAME(sw_retry_budget_balance_ppm(&budget, {at}), {number(expect['balance_ppm'])});"
        case "configure":
            change = " ".join(config("retry_budget", step["config"]))
            status = "SW_ERR_CONFIG" if expect["error"] else "SW_OK"
            return f"{{ {change} EQUAL(sw_retry_budget_configure(&budget, &config, {at}), {status}); }}"
        case "check":
            no = expect.get("refused")
            left = instant(expect.get("remaining_ns")) if not no else "0"
            given = f"{instant(step['deadline_ns'])}, {number(step['expected_ns'])}, {at}"
            return f"deadline({given}, {left}, {refused(no)});"
        case "shrunk":
            given = f"{instant(step['deadline_ns'])}, {number(step['margin_ns'])}"
            return f"SAME(sw_deadline_shrunk_ns({given}), {instant(expect['deadline_ns'])});"
        case "status" | "failure":
            made = (
                f"sw_finish_status({step['status']}, UINT64_MAX)"
                if op == "status"
                else f"sw_finish_failure({constant('FAILURE', step['failure'])})"
            )
            flags = f"{int(expect['retryable'])}, {int(expect['after_wait'])}"
            return f"verdict({made}, {flags}, {constant('EVIDENCE', expect['breaker'])});"
        case "parse_retry_after":
            return f"retry_after({sized(step['value'])}, {step['now_unix']}, {wait});"
        case "write_retry_after":
            return (
                f"written(sw_format_retry_after({number(step['wait_ns'])}, out, sizeof out), {quoted(expect['text'])});"
            )
        case "parse_date":
            there, unix = int(expect["unix"] is not None), expect["unix"] or 0
            return f"date({sized(step['value'])}, {step['now_unix']}, {there}, INT64_C({unix}));"
        case "write_date":
            return f"written(sw_format_http_date(INT64_C({step['unix']}), out, sizeof out), {quoted(expect['text'])});"
    raise SystemExit(f"what is {op}?")


def scenario(primitive: str, one: dict) -> list[str]:
    lines = []
    if primitive == "backoff":
        lines = [*config(primitive, one["config"]), "EQUAL(sw_backoff_init(&backoff, &config), SW_OK);"]
    if primitive == "retry_budget":
        start = number(one["start_ns"])
        lines = [*config(primitive, one["config"]), f"EQUAL(sw_retry_budget_init(&budget, &config, {start}), SW_OK);"]
    return lines + [asked(step) for step in one["steps"] if step["op"] not in LEFT_OUT]


def main() -> None:
    out, names, left = ["/* generated by asked_to_c.py; do not edit */"], [], 0
    for path in sorted(path for primitive in PRIMITIVES for path in (VECTORS / primitive).glob("*.json")):
        data = json.loads(path.read_text())
        primitive = data["primitive"]
        if data["format"] != 1 or primitive not in PRIMITIVES:
            raise SystemExit(f"{path.name}: format {data['format']} of {primitive} is not known here")
        bodies = {one["name"]: scenario(primitive, one) for one in data["scenarios"]}
        left += sum(step["op"] in LEFT_OUT for one in data["scenarios"] for step in one["steps"])
        for place, error in enumerate(data["config_errors"]):
            explain = f"sw_{CONFIG.get(primitive, primitive)}_config_explain(&config, out, sizeof out)"
            bodies[f"error_{place}"] = [
                *config(primitive, error["config"]),
                f"written({explain}, {quoted(error['error'])});",
            ]
        for name, lines in bodies.items():
            if lines:
                names.append(f"{primitive}_{path.stem}_{name}")
                out += [f"static void {names[-1]}(void)", "{", *(f"    {line}" for line in lines), "}"]
    out += ["static void all(void)", "{", *(f"    RUN({name});" for name in names), "}"]
    pathlib.Path(sys.argv[1]).write_text("\n".join(out) + "\n")
    print(f"{len(names)} scenarios; {left} steps of other faces alone")


if __name__ == "__main__":
    main()
