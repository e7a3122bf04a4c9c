#!/usr/bin/env python3
"""No file may name a place of one machine only: an absolute home or work folder, a recorded download address.

Looks at every text file that git knows or would add.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The words are put together here so that this file passes its own check.
FOLDERS = re.compile(r"(?<![\w.$}~-])/(?:" + "|".join(["work", "root", "farm", "home", "Users"]) + r")/[\w.-]")
SCRATCH = re.compile(r"(?<![\w.$}~-])/" + "tmp" + r"/[\w.-]")
RESOLVED = re.compile(r'"resolved": *"http')
# crates.io is named in every Cargo.lock by cargo itself.
INDEX = re.compile(r"\b(?:registry\.npmjs\.|pypi\.org|files\.pythonhosted|deb\.debian\.org|static\.crates\.io)")


def findings(name: str, text: str) -> list[str]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for what, pattern in (
            ("a folder of one machine", FOLDERS),
            ("a folder of one machine", SCRATCH),
            ("a recorded download address", RESOLVED),
            ("the host of a registry", INDEX),
        ):
            if pattern.search(line):
                found.append(f"{name}:{number}: {what}: {line.strip()[:120]}")
    return found


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    found = []
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if not name or not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            found += findings(name, data.decode(errors="replace"))
    print("\n".join(found) if found else "no place of one machine is named")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
