#!/usr/bin/env python3
"""Run every example of README.md as it stands there.

    readme.py [FILE ...]

A fenced block with a language is an example; blocks of one language are run one by one. Rust blocks run as
doc tests of the crate (core/src/lib.rs includes README.md). Closes with `N passed, N failed`.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(text: str) -> list[tuple[str, str]]:
    return [(language, code) for language, code in BLOCK.findall(text) if language in RUNNERS]


def python(code: str, folder: pathlib.Path) -> list[list[str]]:
    path = folder / "example.py"
    path.write_text(code)
    return [[sys.executable, str(path)]]


def node(code: str, folder: pathlib.Path) -> list[list[str]]:
    path = folder / "example.mjs"
    path.write_text(code)
    modules = folder / "node_modules"
    modules.mkdir(exist_ok=True)
    (modules / "seawall").symlink_to(ROOT / "node", target_is_directory=True)
    return [["node", str(path)]]


def c(code: str, folder: pathlib.Path) -> list[list[str]]:
    path = folder / "example.c"
    path.write_text(code)
    program = str(folder / "example")
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    library = str(ROOT / "target" / "c" / "libseawall.a")
    include = f"-I{ROOT / 'ffi' / 'include'}"
    return [["cc", *strict, include, str(path), library, "-lpthread", "-lm", "-ldl", "-o", program], [program]]


RUNNERS = {"python": python, "js": node, "c": c}


def main() -> int:
    files = sys.argv[1:] or ["README.md"]
    passed = failed = 0
    for name in files:
        for language, code in examples((ROOT / name).read_text()):
            with tempfile.TemporaryDirectory() as folder:
                for command in RUNNERS[language](code, pathlib.Path(folder)):
                    done = subprocess.run(command, cwd=folder, env=os.environ, timeout=60)
                    if done.returncode:
                        break
            ok = done.returncode == 0
            passed, failed = passed + ok, failed + (not ok)
            print(f"{name}: {language}: {'ok' if ok else 'FAILED'}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
