#!/usr/bin/env python3
"""Builds what the demo runs: libseawall, the Python package in this interpreter's environment, the Node
package, and the C client. A second run builds only what has changed.

    build.py        by the interpreter of the project's .venv, whose maturin it uses
"""

import hashlib
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
LIBRARY = ROOT / "target" / "c" / "libseawall.a"
CLIENT = ROOT / "target" / "demo" / "client_c"
CHAIN = ROOT / "target" / "demo" / "chain_c"
# What the Python package is made from; pip itself would build it anew every time.
PYTHON_SOURCES = ["Cargo.toml", "Cargo.lock", "core/Cargo.toml", "core/src", "host", "python"]
STAMP = pathlib.Path(sys.prefix) / "seawall.stamp"


def run(*words: object, cwd: pathlib.Path = ROOT) -> None:
    # maturin is looked for on the path, also when the environment is not an activated one.
    env = os.environ | {"PATH": f"{pathlib.Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(list(map(str, words)), cwd=cwd, env=env, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"build: this failed (status {done.returncode}): {' '.join(map(str, words))}")


def sources() -> list[pathlib.Path]:
    kinds = {".rs", ".py", ".pyi", ".toml", ".lock"}
    found = []
    for name in PYTHON_SOURCES:
        path = ROOT / name
        found += [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in kinds]
    return sorted(found)


def python() -> None:
    sha = hashlib.sha256()
    for path in sources():
        sha.update(path.read_bytes())
    if not STAMP.is_file() or STAMP.read_text() != sha.hexdigest():
        run(sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "./python")
        STAMP.write_text(sha.hexdigest())


def node() -> None:
    run("npm", "run", "--silent", "build", cwd=ROOT / "node")
    modules = HERE / "node_modules"
    modules.mkdir(exist_ok=True)
    if not (modules / "seawall").exists():
        (modules / "seawall").symlink_to("../../node", target_is_directory=True)


def c() -> None:
    run("cargo", "build", "--quiet", "-p", "seawall-ffi", "--profile", "c")
    CLIENT.parent.mkdir(parents=True, exist_ok=True)
    for program in (CLIENT, CHAIN):
        words = ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-o", program, HERE / f"{program.name}.c"]
        run(*words, "-I", ROOT / "ffi" / "include", LIBRARY, "-lpthread", "-lm", "-ldl")


def main() -> None:
    for part in (c, python, node):
        print(f"building for {part.__name__}", flush=True)
        part()


if __name__ == "__main__":
    main()
