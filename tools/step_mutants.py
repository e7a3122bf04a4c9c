#!/usr/bin/env python3
"""cargo-mutants on the pure steps: every change of a line that no test notices is a missing test.

    step_mutants.py [CARGO MUTANTS ARGUMENTS]

The survivors are listed; those that change nothing anybody could see are named, with the reason, in
.cargo/mutants.toml. Closes with `N passed, N failed`.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What decides. The protocols around it have mutants of their own (core/loom/mutants).
FILES = ["core/src/breaker/step.rs", "core/src/breaker/word.rs", "core/src/rate/token_bucket/step.rs"]
FILES += ["core/src/word/deadline.rs", "core/src/word/bits.rs"]
TESTS = ["--lib", "--test", "circuit_breaker", "--test", "token_bucket", "--test", "exhaustive"]
TESTS += ["--test", "properties_circuit_breaker", "--test", "properties_token_bucket"]
TESTS += ["--test", "field_circuit_breaker", "--test", "field_token_bucket", "--test", "vectors"]
SUMMARY = re.compile(r"^\d+ mutants? tested in [^:]*: (.*)$", re.MULTILINE)


def summary(log: str) -> tuple[int, int]:
    """Caught and missed. A mutant that hangs was noticed; one that does not compile tests nothing."""
    found = SUMMARY.search(log)
    counts = {word: int(n) for n, word in re.findall(r"(\d+) ([a-z]+)", found[1])} if found else {}
    return counts.get("caught", 0) + counts.get("timeouts", 0), counts.get("missed", 0)


def main() -> int:
    command = ["cargo", "mutants", "--package", "seawall", "--colors", "never", "--no-times"]
    command += ["--output", str(ROOT / "target" / "step-mutants"), "--copy-target", "false"]
    command += [word for name in FILES for word in ("--file", name)]
    command += [*sys.argv[1:], "--", *TESTS]
    child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    log = ""
    for line in child.stdout:
        print(line, end="", flush=True)
        log += line
    status = child.wait()
    caught, missed = summary(log)
    # 2: some were missed, 3: some hung; anything else went wrong.
    missed += status not in (0, 2, 3)
    print(f"{caught} passed, {missed} failed")
    return 1 if missed or not caught else 0


if __name__ == "__main__":
    sys.exit(main())
