"""Nothing in the tree may be without a part in `make test`, and no part may cover what is gone."""

import fnmatch
import subprocess
import tomllib

import pytest

import run_parts

ROOT = run_parts.ROOT

# What needs a part of its own: test targets of every crate, and each place with tests of its own.
FILES = [
    "core/tests/*.rs",
    "core/examples/*.rs",
    "oracle/tests/*.rs",
    "ffi/tests/*",
    "ffi/examples/*.c",
    "tower/tests/*.rs",
    "benches/tests/*.rs",
    "fuzz/tests/*.rs",
    "fuzz/fuzz_targets/*.rs",
]
FOLDERS = [
    "core/src",
    "core/loom",
    "core/loom/mutants",
    "core/vectors",
    "oracle/src",
    "host/src",
    "tools/generate",
    "demo",
    "docs",
    "ffi/src",
    "ffi/firmware",
    "node/src",
    "node/test",
    "python/src",
    "python/tests",
    "snapshots",
    "tools",
    "tower/src",
]


def tree() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def needing_a_part(names: list[str]) -> set[str]:
    found = {name for name in names for pattern in FILES if fnmatch.fnmatch(name, pattern)}
    # fnmatch's star crosses folders; a test target's file does not.
    found = {name for name in found if name.count("/") in {pattern.count("/") for pattern in FILES}}
    return found | {folder for folder in FOLDERS if any(name.startswith(f"{folder}/") for name in names)}


def covered(parts: list[dict]) -> set[str]:
    return {path for part in parts for path in part.get("covers", [])}


def uncovered(names: list[str], patterns: set[str]) -> set[str]:
    return {need for need in needing_a_part(names) if not any(fnmatch.fnmatch(need, p) for p in patterns)}


def test_every_test_in_the_tree_has_a_part():
    assert uncovered(tree(), covered(run_parts.load(ROOT / "tools" / "test.toml"))) == set()


def test_every_part_covers_something_that_exists():
    for path in covered(run_parts.load(ROOT / "tools" / "test.toml")):
        assert any(ROOT.glob(path)), path


@pytest.mark.parametrize("name", ["test.toml", "lint.toml", "prove.toml"])
def test_every_list_can_be_read(name):
    assert run_parts.load(ROOT / "tools" / name)


def test_a_new_test_without_a_part_is_noticed():
    names = ["core/tests/new.rs", "core/tests/support/mod.rs", "tools/x.py", "README.md"]
    assert uncovered(names, {"tools"}) == {"core/tests/new.rs"}
    assert uncovered(names, set()) == {"core/tests/new.rs", "tools"}
    assert uncovered(names, {"tools", "core/tests/*.rs"}) == set()


def test_the_lists_are_toml_with_nothing_but_parts():
    for path in (ROOT / "tools").glob("*.toml"):
        assert set(tomllib.loads(path.read_text())) == {"part"}, path.name
