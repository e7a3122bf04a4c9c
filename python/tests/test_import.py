"""Importing is cheap: nothing heavy comes with it."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = {"asyncio", "logging", "inspect", "typing", "dataclasses", "datetime", "re", "threading", "functools"}


def fresh(code):
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_heavy_is_imported():
    import seawall

    path = json.dumps(str(__import__("pathlib").Path(seawall.__file__).parent.parent))
    code = f"""
import json, os, sys
sys.path.insert(0, {path})
before = set(sys.modules)
import seawall
seawall.CircuitBreaker().call(int)
seawall.TokenBucket(rate=1, capacity=1).try_acquire()
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    new = fresh(code)
    assert {"seawall", "seawall._errors", "seawall._seawall"} <= set(new)
    assert not HEAVY & set(new), new
    assert len(new) <= 8, new


def test_objects_can_be_made_while_importing():
    """No event loop is wanted, so a module may make its breakers at its top level."""
    import seawall

    assert seawall.CircuitBreaker(name="module level").state == "closed"


def test_the_public_names_are_these():
    import seawall

    assert seawall.__all__ == sorted(seawall.__all__, key=str)
    assert {name for name in vars(seawall) if not name.startswith("_")} - {"testing", "wire", "TYPE_CHECKING"} <= set(
        seawall.__all__
    )
    assert all(hasattr(seawall, name) for name in seawall.__all__)
    assert seawall.__version__
