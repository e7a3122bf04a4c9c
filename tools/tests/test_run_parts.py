"""The runner must never count a failure as success."""

import pathlib
import subprocess
import sys
import time

import pytest

import run_parts

ROOT = pathlib.Path(run_parts.ROOT)
NAME = "runner-self-test"


@pytest.fixture
def lists(tmp_path):
    def run(*parts: str, names: tuple[str, ...] = ()):
        path = tmp_path / f"{NAME}.toml"
        path.write_text("\n".join(f"[[part]]\n{part}\n" for part in parts))
        command = [sys.executable, str(ROOT / "tools" / "run_parts.py"), str(path), *names]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    return run


def last_line(done) -> str:
    return done.stdout.splitlines()[-1]


def test_all_good_ends_with_the_total_alone_on_a_line(lists):
    done = lists(
        'name = "a"\nrun = "echo 3 passed, 0 failed"',
        'name = "b"\nrun = "echo 4 passed, 0 failed"',
    )
    assert (done.returncode, last_line(done)) == (0, "7 passed, 0 failed")


def test_every_part_has_one_line(lists):
    done = lists('name = "a"\nrun = "echo 3 passed, 0 failed"')
    assert done.stdout.splitlines()[0].split()[:6] == ["ok", "a", "3", "passed", "0", "failed"]


def test_a_counted_failure_fails_the_whole_even_with_status_zero(lists):
    done = lists('name = "a"\nrun = "echo 3 passed, 1 failed"', 'name = "b"\nrun = "echo 1 passed, 0 failed"')
    assert (done.returncode, last_line(done)) == (1, "4 passed, 1 failed")


def test_a_bad_status_is_a_failure_whatever_was_counted(lists):
    done = lists('name = "a"\nrun = "echo 3 passed, 0 failed; exit 9"')
    assert (done.returncode, last_line(done)) == (1, "3 passed, 1 failed")
    assert "exit status 9" in done.stdout


def test_a_bad_status_in_the_middle_of_a_command_is_a_failure(lists):
    done = lists("name = 'a'\nrun = 'false | cat; echo 3 passed, 0 failed'")
    assert done.returncode == 1


def test_a_part_that_ran_no_test_is_a_failure(lists):
    done = lists('name = "a"\nrun = "echo all is well"')
    assert (done.returncode, last_line(done)) == (1, "0 passed, 1 failed")
    assert "ran no test" in done.stdout


def test_the_tail_of_a_failed_log_is_shown(lists):
    done = lists('name = "a"\nrun = "echo the reason; exit 1"')
    assert "| the reason" in done.stdout


def test_later_parts_run_after_a_failure(lists):
    done = lists('name = "a"\nrun = "exit 1"', 'name = "b"\nrun = "echo 2 passed, 0 failed"')
    assert last_line(done) == "2 passed, 1 failed"


def test_a_part_over_its_bound_is_ended_with_what_it_started(lists):
    began = time.monotonic()
    done = lists('name = "a"\nminutes = 0.01\nrun = "echo 3 passed, 0 failed; sleep 50 | cat"')
    assert (done.returncode, last_line(done)) == (1, "3 passed, 1 failed")
    assert "its bound of 0.01 minutes" in done.stdout
    assert time.monotonic() - began < 30


def test_a_check_is_one_yes_or_no(lists):
    done = lists('name = "a"\ncheck = true\nrun = "true"', 'name = "b"\ncheck = true\nrun = "false"')
    assert (done.returncode, last_line(done)) == (1, "1 passed, 1 failed")


def test_skipped_tests_are_shown(lists):
    done = lists('name = "a"\nrun = "echo 3 passed, 0 failed, 2 skipped"')
    assert last_line(done) == "3 passed, 0 failed, 2 skipped"


def test_named_parts_run_alone(lists):
    done = lists('name = "a"\nrun = "exit 1"', 'name = "b"\nrun = "echo 2 passed, 0 failed"', names=("b",))
    assert (done.returncode, last_line(done)) == (0, "2 passed, 0 failed")


def test_an_unknown_name_is_refused(lists):
    assert lists('name = "a"\nrun = "true"', names=("z",)).returncode != 0


@pytest.mark.parametrize(
    "part",
    [
        'name = "a"',
        'name = "a"\nrun = "true"\nskip = true',
        'name = "a"\nrun = "true"\n[[part]]\nname = "a"\nrun = "true"',
    ],
)
def test_a_misspelt_list_is_refused(lists, part):
    assert lists(part).returncode != 0
