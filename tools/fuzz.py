#!/usr/bin/env python3
"""Run every fuzz target for a bounded time, with AddressSanitizer.

    fuzz.py [--seconds N] [TARGET ...]

A target that ends early, finds something, or gets through fewer than a floor of inputs fails.
What was found stays under fuzz/artifacts/. Closes with `N passed, N failed`.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DONE = re.compile(r"^Done (\d+) runs in (\d+) second", re.M)
# Inputs per second that the slowest target reaches many times over, even on a busy machine.
FLOOR_PER_SECOND = 100


def targets() -> list[str]:
    return sorted(path.stem for path in (ROOT / "fuzz" / "fuzz_targets").glob("*.rs"))


def verdict(status: int, log: str, seconds: int) -> tuple[int, str]:
    """Inputs tried, and why that is a failure ('' if it is not)."""
    done = DONE.search(log)
    runs = int(done[1]) if done else 0
    if status:
        return runs, f"exit status {status}"
    if runs < FLOOR_PER_SECOND * seconds:
        return runs, f"{runs} inputs in {seconds} s, floor {FLOOR_PER_SECOND * seconds}"
    return runs, ""


def run(target: str, seconds: int) -> tuple[int, str]:
    # cargo-fuzz needs flags that stable accepts only so.
    done = subprocess.run(
        ["cargo", "fuzz", "run", target, "--", f"-max_total_time={seconds}", "-len_control=0", "-max_len=4096"],
        cwd=ROOT / "fuzz",
        env={**os.environ, "RUSTC_BOOTSTRAP": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    runs, why = verdict(done.returncode, done.stdout, seconds)
    return runs, f"{why}\n{done.stdout[-6000:]}" if why else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=5, help="for each target")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    passed = failed = 0
    for target in options.targets or targets():
        runs, why = run(target, options.seconds)
        print(f"{'FAILED' if why else 'ok'} {target}: {runs} inputs", flush=True)
        if why:
            print(why)
        passed, failed = (passed, failed + 1) if why else (passed + 1, failed)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
