"""The C interface: what the shared library exports, and what the header declares."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "ffi" / "include"
MARKER = re.compile(r'^# \d+ "([^"]*)"')


def symbols(listing: str) -> list[str]:
    """The exported names in the output of `nm -D --defined-only`."""
    return sorted(line.split()[-1] for line in listing.splitlines() if len(line.split()) >= 2)


def declarations(preprocessed: str, folder: str) -> list[str]:
    """What the headers in `folder` themselves declare, one declaration per line, out of the output of `cc -E`."""
    kept, ours = [], False
    for line in preprocessed.splitlines():
        if match := MARKER.match(line):
            ours = match[1].startswith(folder)
        elif ours and not line.startswith("#"):
            kept.append(line)
    text = re.sub(r"\s+", " ", " ".join(kept))
    text = re.sub(r"\s*([(),;{}*])\s*", r"\1", text)
    lines, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == ";" and depth == 0:
            lines.append(text[start : at + 1].strip())
            start = at + 1
    return lines


def run(*command: str) -> str:
    return subprocess.run(
        command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ).stdout


def take() -> str:
    run("cargo", "build", "--quiet", "-p", "seawall-ffi")
    exported = symbols(run("nm", "-D", "--defined-only", "target/debug/libseawall.so"))
    declared = declarations(run("cc", "-E", str(INCLUDE / "seawall.h")), str(INCLUDE))
    return "\n".join(["== exported", *exported, "", "== declared", *declared]) + "\n"
