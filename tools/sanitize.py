#!/usr/bin/env python3
"""Run the core's tests under another pair of eyes.

    sanitize.py thread [CARGO TEST ARGUMENTS]    ThreadSanitizer, the standard library instrumented too
    sanitize.py miri [CARGO TEST ARGUMENTS]      Miri, with many seeds of its scheduler

Both need the library's source. A nightly toolchain that has it serves (rustup adds what is missing,
where it answers); for ThreadSanitizer else Debian's rustc-web with the sanitizer's runtime copied
from the rustup toolchain. Where neither can be had the run fails and says so: it is part of
`make prove`, which promises nothing about machines without them.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import setup

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOST = "x86_64-unknown-linux-gnu"
DEBIAN_LIBRARIES = pathlib.Path(f"/usr/lib/rustlib/{HOST}/lib")


def nightly_has(component: str) -> bool:
    """Whether a nightly toolchain has `component`, after asking rustup to add it."""
    if not shutil.which("rustup"):
        return False
    subprocess.run(["rustup", "+nightly", "component", "add", component], stdin=subprocess.DEVNULL, capture_output=True)
    listed = subprocess.run(
        ["rustup", "+nightly", "component", "list", "--installed"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return listed.returncode == 0 and any(line.startswith(component) for line in listed.stdout.splitlines())


def debian_cargo() -> tuple[list[str], dict[str, str]]:
    setup.debian(["rustc-web", "cargo-web", "rust-web-src"])
    runtime = "librustc-stable_rt.tsan.a"
    if not (DEBIAN_LIBRARIES / runtime).is_file():
        libdir = subprocess.run(["rustc", "--print", "target-libdir"], capture_output=True, text=True, check=True)
        for found in pathlib.Path(libdir.stdout.strip()).glob("librustc-*_rt.tsan.a"):
            shutil.copy(found, DEBIAN_LIBRARIES / runtime)
    if not (DEBIAN_LIBRARIES / runtime).is_file():
        raise SystemExit("sanitize: no runtime of ThreadSanitizer here")
    return ["/usr/bin/cargo"], {"RUSTC": "/usr/bin/rustc", "RUSTC_BOOTSTRAP": "1"}


def main() -> int:
    kind, *arguments = sys.argv[1:] or [""]
    arguments = arguments or ["-p", "seawall"]
    env = dict(os.environ)
    env["CARGO_TARGET_DIR"] = str(ROOT / "target" / f"sanitize-{kind}")
    if kind == "thread":
        if nightly_has("rust-src"):
            program, more = ["cargo", "+nightly"], {}
        else:
            program, more = debian_cargo()
        env.update(more, RUSTFLAGS="-Zsanitizer=thread", RUSTDOCFLAGS="-Zsanitizer=thread")
        command = [*program, "test", "-Zbuild-std", "--target", HOST, *arguments]
    elif kind == "miri":
        if not (nightly_has("miri") and nightly_has("rust-src")):
            raise SystemExit("sanitize: no nightly toolchain with miri and rust-src here")
        env["MIRIFLAGS"] = os.environ.get("MIRIFLAGS", "-Zmiri-many-seeds=0..8 -Zmiri-disable-isolation")
        command = ["cargo", "+nightly", "miri", "test", *arguments]
    else:
        raise SystemExit(__doc__)
    return subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
