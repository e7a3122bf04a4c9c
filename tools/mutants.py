#!/usr/bin/env python3
"""Break the protocols on purpose, one line at a time; the loom models must notice.

    mutants.py [NAME ...]

core/loom/mutants/*.toml lists the mutants:

    [[mutant]]
    name = "..."      unique within all files
    file = "..."      the source file, relative to core/
    find = "..."      exact text, which must occur exactly once
    replace = "..."
    model = "..."     the test of the target `models` that must fail, with its whole path
    mode = "rmw"      or "plain" for what only weaker memory shows; rmw if not given
    why = "..."       what goes wrong without the line

Each is applied to a copy of the crate under target/mutants; a mutant counts as caught only when it
compiles and the named model ran and failed. Closes with `N passed, N failed`.
"""

import fcntl
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import tomllib

from loom import MODES

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIELDS = {"name", "file", "find", "replace", "model", "mode", "why"}
COPY = ROOT / "target" / "mutants"
# A model that does not fail by then has not caught its mutant.
SECONDS = 120


def load(folder: pathlib.Path) -> list[dict]:
    mutants = []
    for path in sorted(folder.glob("*.toml")):
        for mutant in tomllib.loads(path.read_text()).get("mutant", []):
            mutant.setdefault("mode", "rmw")
            if set(mutant) != FIELDS:
                raise SystemExit(f"{path.name}: {mutant.get('name')!r}: fields {sorted(set(mutant) ^ FIELDS)}")
            if mutant["mode"] not in MODES:
                raise SystemExit(f"{path.name}: {mutant['name']!r}: no mode {mutant['mode']!r}")
            if any(other["name"] == mutant["name"] for other in mutants):
                raise SystemExit(f"{path.name}: two mutants are called {mutant['name']!r}")
            mutants.append(mutant)
    return mutants


def mutate(text: str, mutant: dict) -> str:
    found = text.count(mutant["find"])
    if found != 1:
        raise LookupError(f"its text occurs {found} times in {mutant['file']}, not once")
    if mutant["find"] == mutant["replace"]:
        raise LookupError("it changes nothing")
    return text.replace(mutant["find"], mutant["replace"])


def copy_crate() -> None:
    """A workspace of the core alone. Files that are equal keep their time, so that little is rebuilt."""
    manifest = (ROOT / "Cargo.toml").read_text()
    manifest, changed = re.subn(r"(?ms)^(default-)?members\s*=\s*\[.*?\]", r'\1members = ["core"]', manifest)
    if not changed:
        raise SystemExit("mutants: Cargo.toml has no list of members")
    # Path dependencies of other members would name folders that are not copied.
    write(COPY / "Cargo.toml", re.sub(r"(?m)^(?!seawall\b)[\w-]+ = \{ path = .*\n", "", manifest).encode())
    # What the crate's documentation includes.
    for path in [ROOT / "Cargo.lock", ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        write(COPY / path.relative_to(ROOT), path.read_bytes())
    source, copy = ROOT / "core", COPY / "core"
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    for path in copy.rglob("*"):
        if path.is_file() and path.relative_to(copy) not in wanted:
            path.unlink()
    for path in sorted(wanted - {pathlib.Path("Cargo.toml")}):
        write(copy / path, (source / path).read_bytes())
    # The models use none of the other crates, and those would be compiled anew for every mutant.
    manifest = (source / "Cargo.toml").read_text()
    write(copy / "Cargo.toml", re.sub(r"(?m)^seawall-.*\n", "", manifest).encode())


def write(path: pathlib.Path, data: bytes) -> None:
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def cargo(mode: str, *arguments: str, seconds: float) -> tuple[int | None, str]:
    """Status (None: over the bound) and output of `cargo test` on the copy."""
    env = dict(os.environ)
    env.update(
        RUSTFLAGS=MODES[mode],
        CARGO_TARGET_DIR=str(ROOT / "target" / f"mutants-{mode}"),
        CARGO_PROFILE_RELEASE_DEBUG="0",
        # One model runs per build, so building is what takes time.
        CARGO_PROFILE_RELEASE_OPT_LEVEL="0",
        CARGO_INCREMENTAL="1",
        RUST_BACKTRACE="0",
    )
    child = subprocess.Popen(
        ["cargo", "test", "--offline", "-p", "seawall", "--release", "--test", "models", *arguments],
        cwd=COPY,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=seconds)
        return child.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output, _ = child.communicate()
        return None, output


def verdict(status: int | None, log: str, model: str) -> str:
    """Why a run is no proof that the model caught its mutant; '' if it is."""
    if not re.search(rf"(?m)^test (?:[\w:]*::)?{re.escape(model)}\b", log):
        return f"no model {model} ran"
    if status is None:
        return f"{model} did not fail within {SECONDS} s"
    if status == 0:
        return f"survived: {model} passed"
    if "panicked at" not in log:
        return f"{model} ended with status {status} but no assertion failed"
    return ""


def examine(mutant: dict) -> str:
    """Why a mutant was not caught; '' if it was."""
    target = COPY / "core" / mutant["file"]
    original = target.read_text()
    try:
        target.write_text(mutate(original, mutant))
    except LookupError as error:
        return str(error)
    try:
        status, log = cargo(mutant["mode"], "--no-run", seconds=600)
        if status != 0:
            return f"it does not compile:\n{log}"
        status, log = cargo(mutant["mode"], "--", "--exact", mutant["model"], "--nocapture", seconds=SECONDS)
        why = verdict(status, log, mutant["model"])
        return f"{why}\n{log}" if why else ""
    finally:
        target.write_text(original)


def main() -> int:
    mutants = load(ROOT / "core" / "loom" / "mutants")
    names = set(sys.argv[1:])
    if unknown := names - {mutant["name"] for mutant in mutants}:
        raise SystemExit(f"no such mutant: {', '.join(sorted(unknown))}")
    COPY.mkdir(parents=True, exist_ok=True)
    # Two runs at once would mutate each other's copy; the lock goes with the process.
    lock = (COPY / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    copy_crate()
    caught = missed = 0
    for mutant in mutants:
        if names and mutant["name"] not in names:
            continue
        began = time.monotonic()
        why = examine(mutant)
        caught, missed = (caught, missed + 1) if why else (caught + 1, missed)
        verb = "MISSED" if why else "caught"
        print(
            f"{verb} {mutant['name']} by {mutant['model']} ({mutant['mode']}, {time.monotonic() - began:.1f} s)",
            flush=True,
        )
        if why:
            print(why)
    print(f"{caught} passed, {missed} failed")
    return 1 if missed or not caught else 0


if __name__ == "__main__":
    sys.exit(main())
