"""Closing lines as the runners print them, good and bad."""

import pytest

from closing_lines import Counts, read

CARGO = "test result: {}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out; finished in 0.00s"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (CARGO.format("ok", 12, 0, 0), Counts(12, 0, 0)),
        (CARGO.format("FAILED", 3, 2, 1), Counts(3, 2, 1)),
        ("     Summary [   0.005s] 5 tests run: 5 passed, 0 skipped", Counts(5, 0, 0)),
        ("     Summary [   1.105s] 5 tests run: 3 passed (1 slow), 1 failed, 1 timed out, 2 skipped", Counts(3, 2, 2)),
        ("     Summary [   1.105s] 2/5 tests run: 1 passed, 1 failed, 0 skipped", Counts(1, 1, 0)),
        ("===== 3 passed in 0.02s =====", Counts(3, 0, 0)),
        ("== 1 failed, 3 passed, 2 skipped, 4 deselected, 2 warnings in 61.25s (0:01:01) ==", Counts(3, 1, 2)),
        ("3 passed in 0.02s", Counts(3, 0, 0)),
        ("===== 2 passed, 1 error in 0.10s =====", Counts(2, 1, 0)),
        ("===== 2 passed, 1 xfailed, 1 xpassed in 0.10s =====", Counts(3, 1, 0)),
        ("# pass 5\n# fail 0\n# cancelled 0\n# skipped 1\n# todo 0", Counts(5, 0, 1)),
        ("ℹ pass 5\nℹ fail 2\nℹ cancelled 1\nℹ skipped 0\nℹ todo 0", Counts(5, 3, 0)),
        ("Ran 7 tests in 0.003s\n\nOK", Counts(7, 0, 0)),
        ("Ran 7 tests in 0.003s\n\nOK (skipped=2)", Counts(5, 0, 2)),
        ("Ran 7 tests in 0.003s\n\nFAILED (failures=1, errors=2)", Counts(4, 3, 0)),
        ("7 passed, 0 failed", Counts(7, 0, 0)),
        ("7 passed, 1 failed, 3 skipped", Counts(7, 1, 3)),
        ("vectors: 7 passed, 2 failed", Counts(7, 2, 0)),
    ],
)
def test_a_closing_line_is_read_as_its_runner_means_it(log, expected):
    assert read(log) == expected


def test_closing_lines_of_several_binaries_add_up():
    log = "\n".join([CARGO.format("ok", 4, 0, 0), "noise", CARGO.format("FAILED", 1, 1, 0), "2 passed, 0 failed"])
    assert read(log) == Counts(7, 1, 0)


def test_colours_do_not_hide_a_failure():
    assert read("\x1b[31m== \x1b[1m1 failed\x1b[0m, 3 passed in 0.10s ==\x1b[0m") == Counts(3, 1, 0)


@pytest.mark.parametrize(
    "line",
    [
        "no tests ran in 0.01s",
        "it says 3 passed, 0 failed in the middle of a sentence",
        "test result: ok",
        "OK",
        "Ran 7 tests in 0.003s",  # ended before it said how they went
        "running 5 tests",
    ],
)
def test_what_is_no_closing_line_counts_nothing(line):
    assert read(line) == Counts()
