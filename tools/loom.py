#!/usr/bin/env python3
"""Run the loom models in both modes and hold them to their floors.

    loom.py [--long] [FILTER]

loom 0.7 silently skips interleavings of plain loads, so a passing model proves little until one
knows how many executions it ran. Every model prints `loom: NAME: N executions`; core/loom/floors.toml
states for every model, in each mode, how many there are at least. A model without a floor, or a
floor without a model, is a failure too. Closes with `N passed, N failed`.
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


def compare(floors: dict[str, int], log: str, complete: bool) -> list[str]:
    """What is wrong with the counts in a log. `complete`: every model was asked for."""
    seen: dict[str, int] = {}
    for name, count in COUNT.findall(log):
        # A model may explore several programs; the floor holds for the smallest.
        seen[name] = min(int(count), seen.get(name, int(count)))
    wrong = [f"{name}: no floor in floors.toml (ran {count})" for name, count in seen.items() if name not in floors]
    wrong += [
        f"{name}: {seen[name]} executions, floor {floor}"
        for name, floor in floors.items()
        if seen.get(name, floor) < floor
    ]
    if complete:
        wrong += [f"{name}: has a floor but printed no count" for name in floors if name not in seen]
    return wrong


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
    parser.add_argument("filter", nargs="*", help="only models whose name contains this")
    options = parser.parse_args()
    floors = tomllib.loads(FLOORS.read_text())
    passed = failed = 0
    for mode in MODES:
        status, log = run(mode, options.filter, options.long)
        counts = closing_lines.read(log)
        wrong = compare(floors.get(mode, {}), log, complete=not options.filter)
        if status or counts.failed or not counts.passed:
            print(log)
        for name, count in sorted(set(COUNT.findall(log))):
            print(f"{mode:5} {name:60} {int(count):9} executions")
        for line in wrong:
            print(f"{mode:5} WRONG {line}")
        passed += counts.passed
        failed += counts.failed + len(wrong)
        if (status and not counts.failed) or not counts.passed:
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
