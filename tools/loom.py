#!/usr/bin/env python3
"""Run the loom models in both modes and hold them to their floors.

    loom.py [--long] [FILTER]
    loom.py --write-floors

loom 0.7 silently skips interleavings of plain loads, so a passing model proves little until one
knows how many executions it ran. Every model prints `loom: NAME: N executions`; core/loom/floors.toml
states for every model, in each mode, how many there are at least. A model without a floor, or a
floor without a model, is a failure too; --write-floors sets every floor to three quarters of what ran,
so that only a loss of interleavings trips it. Closes with `N passed, N failed`.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import closing_lines

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOORS = ROOT / "core" / "loom" / "floors.toml"
# plain: some weak-memory values; rmw: loads and stores as read-modify-writes, every interleaving.
MODES = {"plain": "--cfg seawall_loom", "rmw": "--cfg seawall_loom --cfg seawall_loom_rmw"}
COUNT = re.compile(r"loom: ([\w:]+): (\d+) executions")


def counts(log: str) -> dict[str, int]:
    """Executions by model; the programs that one model explores add up."""
    seen: dict[str, int] = {}
    for name, count in COUNT.findall(log):
        seen[name] = seen.get(name, 0) + int(count)
    return seen


def compare(floors: dict[str, int], log: str, complete: bool) -> list[str]:
    """What is wrong with the counts in a log. `complete`: every model was asked for."""
    seen = counts(log)
    wrong = [f"{name}: no floor in floors.toml (ran {count})" for name, count in seen.items() if name not in floors]
    for name, floor in floors.items():
        if seen.get(name, floor) < floor:
            wrong.append(f"{name}: {seen[name]} executions, floor {floor}")
        if complete and name not in seen:
            wrong.append(f"{name}: has a floor but printed no count")
    return wrong


def written(logs: dict[str, str]) -> str:
    lines = [
        "# The least number of executions of every loom model, in each mode: three quarters of what ran when this",
        "# was written by `tools/loom.py --write-floors`. The programs that one model explores add up.",
    ]
    for mode, log in logs.items():
        lines += ["", f"[{mode}]"]
        lines += [f'"{name}" = {max(1, count * 3 // 4)}' for name, count in sorted(counts(log).items())]
    return "\n".join(lines) + "\n"


def run(mode: str, pattern: list[str], long: bool) -> tuple[int, str]:
    env = dict(os.environ)
    env.update(RUSTFLAGS=MODES[mode], CARGO_TARGET_DIR=str(ROOT / "target" / f"loom-{mode}"))
    env["CARGO_PROFILE_RELEASE_DEBUG"] = "0"
    if long:
        env["SEAWALL_LOOM_LONG"] = "1"
    command = ["cargo", "test", "-p", "seawall", "--release", "--test", "models", "--", "--nocapture", *pattern]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="without the bounds of the everyday run")
    parser.add_argument("--write-floors", action="store_true", help="accept the counts of this run")
    parser.add_argument("filter", nargs="*", help="only models whose name contains this")
    options = parser.parse_args()
    passed = failed = 0
    logs = {}
    for mode in MODES:
        status, logs[mode] = run(mode, options.filter, options.long)
        tests = closing_lines.read(logs[mode])
        if status or tests.failed or not tests.passed:
            print(logs[mode])
        passed += tests.passed
        failed += tests.failed + ((status != 0 and not tests.failed) or not tests.passed)
    if options.write_floors and not failed and not options.filter:
        FLOORS.write_text(written(logs))
    floors = tomllib.loads(FLOORS.read_text()) if FLOORS.is_file() else {}
    for mode, log in logs.items():
        for name, count in sorted(counts(log).items()):
            print(f"{mode:5} {name:90} {count:9} executions")
        for line in compare(floors.get(mode, {}), log, complete=not options.filter):
            failed += 1
            print(f"{mode:5} WRONG {line}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
