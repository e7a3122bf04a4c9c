"""The numbers and names that are never reused: reasons, layers, causes and whatever else docs/reasons.md lists.

That file is generated from the core; what its words mean may be put better, so meanings are left out.
"""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "reasons.md"
TABLE = re.compile(r"<!-- table (\w+):")
ROW = re.compile(r"^\| (\d+) \| `([\w-]+)` \|")


def parse(page: str) -> str:
    lines, table = [], "?"
    for line in page.splitlines():
        if match := TABLE.search(line):
            table = match[1]
        elif match := ROW.match(line):
            lines.append(f"{table} {match[1]} {match[2]}")
    return "\n".join(lines) + "\n" if lines else ""


def take() -> str:
    return parse(PAGE.read_text())
