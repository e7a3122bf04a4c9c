#!/usr/bin/env python3
"""The last run of the benches as a table: nanoseconds, and how many times faster than each peer.

    bench_table.py [FOLDER]        FOLDER: criterion's, target/criterion if not given

Time on the processor per operation and thread; "2" means two threads on one object. On a shared machine the
ratios within one row say more than the figures.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read(folder: pathlib.Path) -> dict[tuple[str, str], dict[str, float]]:
    """(scenario, threads) -> contender -> nanoseconds."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for path in sorted(folder.glob("**/new/benchmark.json")):
        bench = json.loads(path.read_text())
        median = json.loads((path.parent / "estimates.json").read_text())["median"]["point_estimate"]
        contender, threads = bench["function_id"].rsplit("/", 1)
        rows.setdefault((bench["group_id"], threads), {})[contender] = median
    return rows


def table(rows: dict[tuple[str, str], dict[str, float]], own: str = "seawall") -> list[str]:
    lines = ["| scenario | threads | seawall, ns | peers, ns (times seawall's) |", "|---|---|---|---|"]
    for (scenario, threads), contenders in sorted(rows.items()):
        if own not in contenders:
            continue
        mine = contenders[own]
        peers = [f"{name} {ns:.1f} ({ns / mine:.1f})" for name, ns in sorted(contenders.items()) if name != own]
        lines.append(f"| {scenario} | {threads} | {mine:.2f} | {', '.join(peers) or '-'} |")
    return lines


def main() -> int:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "criterion"
    rows = read(folder)
    if not rows:
        print(f"no results in {folder}; run the benches first", file=sys.stderr)
        return 1
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
