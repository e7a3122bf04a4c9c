#!/usr/bin/env python3
"""Run the parts of one list (tools/test.toml, lint.toml or prove.toml), one line per part and a total.

    run_parts.py LIST [NAME ...]

Each part is a shell command that runs from the project's root; its output goes to
target/LIST-logs/NAME.log. What its test runners counted is read from their closing lines.
A part fails when its command fails, when a closing line counts a failure, when it runs longer
than its bound, or when it counts no test at all. A part with `check = true` is one yes or no: its exit status
is its only test.
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import tomllib

import closing_lines
from closing_lines import Counts

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIELDS = {"name", "run", "covers", "check", "minutes"}
TAIL_LINES = 60


def load(path: pathlib.Path) -> list[dict]:
    parts = tomllib.loads(path.read_text())["part"]
    names = set()
    for part in parts:
        unknown = set(part) - FIELDS
        if unknown or not {"name", "run"} <= set(part):
            raise SystemExit(f"{path.name}: part {part.get('name')!r}: unknown {unknown or 'none'}, needs name and run")
        if part["name"] in names:
            raise SystemExit(f"{path.name}: two parts are called {part['name']!r}")
        names.add(part["name"])
    return parts


def environment() -> dict[str, str]:
    env = dict(os.environ)
    # Plain output, so that closing lines look the same wherever the parts run.
    env.update(CARGO_TERM_COLOR="never", NO_COLOR="1", PYTHONDONTWRITEBYTECODE="1")
    env.pop("FORCE_COLOR", None)
    venv = ROOT / ".venv" / "bin"
    if venv.is_dir():
        env["PATH"] = f"{venv}{os.pathsep}{env['PATH']}"
        env["VIRTUAL_ENV"] = str(venv.parent)
    return env


def run(command: str, log: pathlib.Path, seconds: float) -> tuple[int, str]:
    """Run a command with its output in `log`; returns its status and why it was ended, if it was."""
    with log.open("wb") as out:
        # A session of its own, so that a part over its bound is ended with all that it started.
        child = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment(),
            start_new_session=True,
        )
        try:
            return child.wait(timeout=seconds), ""
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return child.wait(), f"ended after its bound of {seconds / 60:g} minutes"
        except KeyboardInterrupt:
            os.killpg(child.pid, signal.SIGTERM)
            raise


def judge(part: dict, status: int, ended: str, log: str) -> tuple[Counts, str]:
    """What a finished part counts as, and why it failed ('' if it did not)."""
    if part.get("check"):
        good = status == 0
        return Counts(int(good), int(not good)), ended or ("" if good else f"exit status {status}")
    counts = closing_lines.read(log)
    why = ended
    if not why and counts.failed:
        why = f"{counts.failed} failed"
    elif not why and status != 0:
        why = f"exit status {status}"
    elif not why and counts.passed == 0:
        why = "ran no test"
    if why and counts.failed == 0:
        counts += Counts(failed=1)
    return counts, why


def show(name: str, counts: Counts, seconds: float, why: str) -> str:
    skipped = f", {counts.skipped} skipped" if counts.skipped else ""
    mark = "FAILED" if why else "ok"
    return f"{mark:6} {name:34} {counts.passed:6} passed {counts.failed:4} failed {seconds:7.1f} s{skipped}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("list", type=pathlib.Path, help="a TOML file of parts")
    parser.add_argument("names", nargs="*", help="only these parts")
    options = parser.parse_args()
    parts = load(options.list)
    unknown = set(options.names) - {part["name"] for part in parts}
    if unknown:
        raise SystemExit(f"no such part: {', '.join(sorted(unknown))}")
    if options.names:
        parts = [part for part in parts if part["name"] in options.names]
    logs = ROOT / "target" / f"{options.list.stem}-logs"
    if not options.names:
        shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True, exist_ok=True)

    total = Counts()
    began = time.monotonic()
    for part in parts:
        log = logs / f"{part['name'].replace(' ', '-').replace('/', '-')}.log"
        start = time.monotonic()
        status, ended = run(part["run"], log, 60 * part.get("minutes", 10))
        text = log.read_text(errors="replace")
        counts, why = judge(part, status, ended, text)
        total += counts
        print(show(part["name"], counts, time.monotonic() - start, why), flush=True)
        if why:
            print(f"       {why}; $ {part['run'].strip()}")
            for line in text.splitlines()[-TAIL_LINES:]:
                print(f"       | {line}")
            sys.stdout.flush()
    print(f"{len(parts)} parts in {(time.monotonic() - began) / 60:.1f} minutes; logs in {logs.relative_to(ROOT)}")
    print(f"{total.passed} passed, {total.failed} failed" + (f", {total.skipped} skipped" if total.skipped else ""))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
