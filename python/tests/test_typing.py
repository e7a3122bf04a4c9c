"""Types: the package is clean, the interface is what tests/typing/api.py says, stubs match the module."""

from __future__ import annotations

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def checked(*command):
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=HERE.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_and_its_interface_are_typed():
    out = checked("mypy", "--strict", "--warn-unused-ignores", "python/seawall", "tests/typing/api.py")
    assert "Success" in out


def test_the_stubs_say_what_the_module_has():
    checked("mypy.stubtest", "seawall", "--allowlist", "stubtest-allowlist.txt")
