#!/usr/bin/env python3
"""Two scenes. The lunch rush: three clients pay for orders at one provider, first without seawall, then with
it. The chain: three services in a row, and a provider that is down.

    run.py [--seconds N] [--out DIR] [--plain]

build.py must have run before. Prints a live table (plain lines when standard output is no terminal), then
the chain's counts, checks both, writes the report and says where it is. Exits with 1 when a check fails.
"""

import argparse
import asyncio
import json
import pathlib
import shutil
import sys
import time

import build
import chain
import checks
import plan
import report
import screen
from parts import DRAIN_WITHIN, Process

HERE = pathlib.Path(__file__).resolve().parent
SHORTEST = 30


def c_settings(settings: dict) -> list[str]:
    """The settings as words, for the client that reads no JSON."""
    orders = ",".join(f"{part['seconds']}:{part['per_second']}" for part in settings["orders"])
    named = settings["call"] | settings["breaker"] | settings["bucket"]
    return [
        f"orders={orders}",
        f"late_orders={settings['late_orders']}",
        *(f"{name}={value}" for name, value in named.items()),
    ]


async def rush(folder: pathlib.Path, settings_file: pathlib.Path, guard: bool, view) -> list[str]:
    """One run of the script; the faults are parts that failed."""
    settings = plan.load(settings_file)
    folder.mkdir(parents=True)
    parts: list[Process] = []

    async def part(name: str, *command: object) -> Process:
        parts.append(await Process.start(name, *command))
        return parts[-1]

    def files(name: str) -> tuple[object, ...]:
        return "--settings", settings_file, "--log", folder / f"{name}.jsonl"

    try:
        provider = await part("provider", sys.executable, HERE / "provider.py", *files("provider"))
        port = (await provider.first())["port"]
        switch = "on" if guard else "off"
        common = ("--port", port, "--guard", switch)
        c_words = (f"log={folder / 'c.jsonl'}", f"port={port}", f"guard={switch}", *c_settings(settings))
        clients = [
            await part("python", sys.executable, HERE / "client_python.py", *files("python"), *common),
            await part("node", "node", HERE / "client_node.mjs", *files("node"), *common),
            await part("c", build.CLIENT, *c_words),
        ]
        await asyncio.gather(*(client.first() for client in clients))
        start_ns = time.monotonic_ns() + plan.SECOND // 4
        for process in parts:
            process.go(start_ns)

        def show(final: bool = False) -> None:
            elapsed = (time.monotonic_ns() - start_ns) / plan.SECOND
            view.show(guard, elapsed, provider.last, [client.last for client in clients], final)

        following = [asyncio.create_task(process.follow()) for process in parts]
        done = asyncio.gather(*(client.process.wait() for client in clients))
        give_up = time.monotonic() + plan.length(settings) + DRAIN_WITHIN
        while not done.done() and time.monotonic() < give_up:
            show()
            await asyncio.wait([done], timeout=0.25)
        faults = []
        for client in clients:
            if client.process.returncode is None:
                faults.append(f"{client.name} did not end in time")
            elif client.process.returncode:
                faults.append(f"{client.name} ended with status {client.process.returncode}")
    finally:
        for process in parts:
            await process.end()
    await asyncio.gather(*following)
    show(final=True)
    return faults


def main() -> int:
    began = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--seconds", type=float, help="length of both runs of the rush together (default: as in settings.json)"
    )
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "out", help="where logs and report go")
    parser.add_argument("--plain", action="store_true", help="plain lines even on a terminal")
    arguments = parser.parse_args()
    if arguments.seconds is not None and arguments.seconds < SHORTEST:
        parser.error(f"--seconds: at least {SHORTEST}, or the buckets never run dry")
    out = arguments.out.resolve()
    shutil.rmtree(out / "without", ignore_errors=True)
    shutil.rmtree(out / "with", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    settings = plan.load(HERE / "settings.json", arguments.seconds and arguments.seconds / 2)
    settings_file = out / "settings.json"
    settings_file.write_text(json.dumps(settings, indent=2) + "\n")

    faults = []
    with screen.view(settings, arguments.plain) as view:
        for folder, guard in (("without", False), ("with", True)):
            faults += asyncio.run(rush(out / folder, settings_file, guard, view))
    if faults:
        print("\n".join(f"FAILED  {fault}" for fault in faults))
        return 1

    print(f"\nthe chain: {chain.ACTIONS} user actions through three services, the provider is down")
    outcomes = asyncio.run(chain.run())
    for outcome in outcomes:
        print(f"  {outcome.per_action:6.2f} calls per action   {outcome.variant.name}")

    without, guarded = (checks.load(out / folder, settings) for folder in ("without", "with"))
    results = [*checks.all_checks(without, guarded), *chain.checked(outcomes)]
    report.write(out / "report.html", without, guarded, outcomes, results)
    print()
    for check in results:
        print(f"{'passed' if check.passed else 'FAILED'}  {check.name}: {check.claim} ({check.figure})")
        for fault in check.faults[:5]:
            print(f"          {fault}")
    print(f"\nreport       {out / 'report.html'}")
    for client in plan.CLIENTS:
        print(f"event log    {out / 'with' / (client + '.jsonl')}")
    failed = sum(not check.passed for check in results)
    print(f"\n{time.monotonic() - began:.0f} s in all\n{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
