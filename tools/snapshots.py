#!/usr/bin/env python3
"""Snapshots of what others build on: they fail when it changes unnoticed.

    snapshots.py --check [NAME ...]    compare with snapshots/ and show the difference
    snapshots.py --write [NAME ...]    accept what there is now; the change is then seen in review

Closes with `N passed, N failed`.
"""

import argparse
import difflib
import pathlib
import sys

from snapshot import c_api, layouts, node_api, numbers, python_api, rust_api

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "snapshots"
KINDS = {
    "rust-api": rust_api.take,
    "layouts": layouts.take,
    "numbers": numbers.take,
    "c-api": c_api.take,
    "python-api": python_api.take,
    "node-api": node_api.take,
}


def difference(name: str, before: str, now: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), now.splitlines(), f"snapshots/{name}.txt", "now", lineterm="", n=1
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(KINDS))
    options = parser.parse_args()
    passed = failed = 0
    for name in options.names or KINDS:
        now = KINDS[name]()
        path = FOLDER / f"{name}.txt"
        if options.write:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(now)
        before = path.read_text() if path.is_file() else ""
        if now == before and now:
            passed += 1
            print(f"ok {name}", flush=True)
        else:
            failed += 1
            print(f"CHANGED {name}; if that is meant: tools/snapshots.py --write {name}")
            print(difference(name, before, now), flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
