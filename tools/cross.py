#!/usr/bin/env python3
"""Build the core for the other targets of DESIGN section 7 and check that a lock cannot slip in.

    cross.py [--clippy] [TRIPLE ...]

A target's `core` library comes from rustup where it answers, else from Debian's rustc-web with
build-std. Closes with `N passed, N failed`.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import setup

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A microcontroller's binary has to say how 64-bit atomics are made; here the check says it.
SINGLE_CORE = ["--features", "portable-atomic/fallback,portable-atomic/unsafe-assume-single-core"]
TARGETS = {
    "thumbv6m-none-eabi": SINGLE_CORE,
    "thumbv7m-none-eabi": SINGLE_CORE,
    "riscv32imac-unknown-none-elf": SINGLE_CORE,
    "i686-unknown-linux-gnu": [],
    "aarch64-unknown-linux-gnu": [],
}

DEBIAN_CARGO = pathlib.Path("/usr/bin/cargo")
DEBIAN_SOURCE = pathlib.Path("/usr/lib/rustlib/src/rust/library/core")


def has_library(triple: str) -> bool:
    asked = subprocess.run(["rustc", "--print", "target-libdir", "--target", triple], capture_output=True, text=True)
    return asked.returncode == 0 and any(pathlib.Path(asked.stdout.strip()).glob("libcore-*.rlib"))


def debian_builds_std() -> bool:
    return DEBIAN_CARGO.exists() and DEBIAN_SOURCE.exists()


def ensure(triple: str) -> None:
    """Make sure that `triple` can be built for, by the first way that works."""
    if has_library(triple):
        return
    if shutil.which("rustup"):
        setup.say(f"adding Rust target {triple}")
        subprocess.run(["rustup", "target", "add", triple], stdin=subprocess.DEVNULL)
        if has_library(triple):
            return
    if not debian_builds_std():
        setup.debian(["rustc-web", "cargo-web", "rust-web-src"])
    if not debian_builds_std():
        raise SystemExit(f"setup: no way here to build for {triple}: neither rustup nor Debian's rust-web-src")


def cargo(triple: str) -> tuple[list[str], dict[str, str], list[str]]:
    """How to call cargo for `triple`: the program, more environment, and the flags after the subcommand."""
    ensure(triple)
    flags = ["--target", triple]
    if has_library(triple):
        return ["cargo"], {}, flags
    folder = str(ROOT / "target" / "build-std")
    env = {"RUSTC_BOOTSTRAP": "1", "RUSTC": "/usr/bin/rustc", "CARGO_TARGET_DIR": folder}
    return [str(DEBIAN_CARGO)], env, [*flags, "-Zbuild-std=core"]


def build(triple: str, *arguments: str) -> subprocess.CompletedProcess:
    program, env, flags = cargo(triple)
    return subprocess.run(
        [*program, "build", *flags, *arguments],
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


CORE = ("-p", "seawall", "--no-default-features", "--release")


def builds(triple: str) -> str:
    """Why the core does not build for `triple`; '' if it does."""
    done = build(triple, *CORE, *TARGETS[triple])
    return done.stdout if done.returncode else ""


def refuses_a_lock(triple: str) -> str:
    """Law 6: without a choice by the final binary there is no build, and the message says so."""
    for features, message in (
        ([], "atomic"),
        (["--features", "portable-atomic/fallback"], "fall back to a lock"),
    ):
        done = build(triple, *CORE, *features)
        if done.returncode == 0:
            return f"built with {features or 'no choice'}"
        if message not in done.stdout:
            return f"with {features or 'no choice'} the message is not the intended one:\n{done.stdout}"
    done = build(triple, *CORE, "--features", "portable-atomic/fallback,accept-locking-atomics")
    return f"accept-locking-atomics did not waive it:\n{done.stdout}" if done.returncode else ""


def clippy(triple: str) -> str:
    """What clippy says for `triple`; rustup's toolchain has it, Debian's does not."""
    ensure(triple)
    if not has_library(triple):
        return ""
    command = ["cargo", "clippy", "--target", triple, *CORE, *TARGETS[triple], "--", "-D", "warnings"]
    done = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.stdout if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clippy", action="store_true", help="run clippy for these targets instead")
    parser.add_argument("triples", nargs="*", metavar="TRIPLE")
    options = parser.parse_args()
    triples = options.triples or list(TARGETS)
    what, verb = (clippy, "clippy") if options.clippy else (builds, "builds")
    checks = [(f"{verb} for {triple}", what, triple) for triple in triples]
    if not options.clippy and not options.triples:
        checks.append(("refuses a hidden lock on thumbv7m", refuses_a_lock, "thumbv7m-none-eabi"))
    failed = 0
    for name, check, triple in checks:
        why = check(triple)
        print(f"{'FAILED' if why else 'ok'} {name}", flush=True)
        if why:
            failed += 1
            print(why)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
