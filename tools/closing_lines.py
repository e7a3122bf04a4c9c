"""Read the closing lines of test runners: how many tests passed, failed and were skipped.

One log may hold several runners (cargo prints one closing line per test binary); they add up.
"""

import re
from typing import NamedTuple


class Counts(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":  # type: ignore[override]
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

CARGO = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;")
NEXTEST = re.compile(r"^\s*Summary \[.*\] +\d+(?:/\d+)? tests? run: (.*)$")
PYTEST = re.compile(r"^=* ?((?:\d+ [a-z]+, )*\d+ [a-z]+) in [0-9.]+s(?: \([0-9:, a-z]+\))? ?=*$")
NODE = re.compile(r"^(?:#|ℹ) (pass|fail|cancelled|skipped|todo) (\d+)$")
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in [0-9.]+s$")
UNITTEST_END = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$")
PLAIN = re.compile(r"^(?:[\w-]+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")

# A word that is not listed here (warnings, deselected) counts as nothing.
KIND = {
    "passed": "passed",
    "xfailed": "passed",
    "failed": "failed",
    "error": "failed",
    "errors": "failed",
    "xpassed": "failed",
    "exec-failed": "failed",
    "timed-out": "failed",
    "skipped": "skipped",
}


def words(text: str, separator: str = ", ") -> Counts:
    """Add up a list such as `3 passed, 1 failed (2 slow)`."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for part in text.split(separator):
        match = re.match(r"^(\d+) ([a-z -]+?)(?: \(.*)?$", part.strip())
        if match and (kind := KIND.get(match[2].replace(" ", "-"))):
            counts[kind] += int(match[1])
    return Counts(**counts)


def read(log: str) -> Counts:
    """Add up every closing line in a log."""
    total = Counts()
    unittest_ran = 0
    for line in ANSI.sub("", log).splitlines():
        line = line.rstrip()
        if match := CARGO.match(line) or PLAIN.match(line):
            total += Counts(*(int(group or 0) for group in match.groups()))
        elif match := NEXTEST.match(line):
            total += words(match[1])
        elif match := PYTEST.match(line):
            total += words(match[1])
        elif match := NODE.match(line):
            number = int(match[2])
            total += {
                "pass": Counts(passed=number),
                "fail": Counts(failed=number),
                "cancelled": Counts(failed=number),
                "skipped": Counts(skipped=number),
                "todo": Counts(skipped=number),
            }[match[1]]
        elif match := UNITTEST_RAN.match(line):
            unittest_ran = int(match[1])
        elif unittest_ran and (match := UNITTEST_END.match(line)):
            figures = {key: int(n) for key, n in re.findall(r"([a-z][a-z ]*)=(\d+)", match[1] or "")}
            failed = figures.get("failures", 0) + figures.get("errors", 0)
            failed += figures.get("unexpected successes", 0)
            skipped = figures.get("skipped", 0)
            total += Counts(max(0, unittest_ran - failed - skipped), failed, skipped)
            unittest_ran = 0
    return total
