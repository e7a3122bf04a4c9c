#!/usr/bin/env python3
"""The payment provider: a real HTTP server on loopback that behaves as the script says.

    provider.py --settings FILE --log FILE

It prints {"port": N}, reads {"start_ns": N} from standard input, and serves until standard input ends.
Every arrival is written down before it is answered: the checks are made against what stands here.
"""

import argparse
import asyncio
import json
import pathlib
import random
import sys
import time

import plan
from aiohttp import web

REPORT_EVERY = 0.25


class Provider:
    def __init__(self, settings: dict, log):
        self.settings = settings
        self.log = log
        self.start_ns: int | None = None
        self.arrivals = 0
        self.in_flight = 0
        self.random = random.Random(1)

    def phase(self) -> str:
        if self.start_ns is None:
            return self.settings["script"][0]["phase"]
        return plan.phase_at(self.settings, (time.monotonic_ns() - self.start_ns) / plan.SECOND)

    def record(self, **fields) -> None:
        self.log.write(json.dumps({"t": time.monotonic_ns(), **fields}) + "\n")

    async def pay(self, request: web.Request) -> web.Response:
        client, call = request.headers["x-client"], int(request.headers["x-call"])
        phase = self.phase()
        self.arrivals += 1
        self.in_flight += 1
        self.record(event="arrived", client=client, call=call, phase=phase)
        status = None
        try:
            status, headers = await self.behave(phase)
            return web.json_response({"call": call, "paid": status == 200}, status=status, headers=headers)
        finally:
            # No status: the caller hung up before there was an answer.
            self.in_flight -= 1
            self.record(event="answered", client=client, call=call, status=status)

    async def behave(self, phase: str) -> tuple[int, dict[str, str]]:
        scripted = self.settings["provider"]
        match phase:
            case "slow":
                await self.take(scripted["slow_ms"])
                return 200, {}
            case "503":
                await self.take(scripted["refusal_ms"])
                return 503, {}
            case "429":
                await self.take(scripted["refusal_ms"])
                return 429, {"retry-after": str(scripted["retry_after_s"])}
            case "hanging":
                await asyncio.Event().wait()  # until the caller hangs up
                raise AssertionError("nobody sets this event")
            case _:
                await self.take(scripted["healthy_ms"])
                return 200, {}

    async def take(self, milliseconds: list[float]) -> None:
        await asyncio.sleep(self.random.uniform(*milliseconds) / 1000)


async def health(_: web.Request) -> web.Response:
    return web.json_response({"healthy": True})


async def report(provider: Provider) -> None:
    while True:
        line = {"phase": provider.phase(), "arrivals": provider.arrivals, "in_flight": provider.in_flight}
        print(json.dumps(line), flush=True)
        await asyncio.sleep(REPORT_EVERY)


async def serve(settings: dict, log_path: pathlib.Path) -> None:
    with log_path.open("w") as log:
        provider = Provider(settings, log)
        app = web.Application()
        app.router.add_post("/pay", provider.pay)
        # For the clients to get their HTTP machinery going before the first order; not an arrival.
        app.router.add_get("/health", health)
        # A caller that hangs up ends its handler, so that a hung call does not outlive the phase.
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        print(json.dumps({"port": runner.addresses[0][1]}), flush=True)

        stdin = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
        line = await stdin.readline()
        if line:
            provider.start_ns = json.loads(line)["start_ns"]
            provider.record(event="start", start_ns=provider.start_ns)
            reporting = asyncio.create_task(report(provider))
            await stdin.read()
            reporting.cancel()
        await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", type=pathlib.Path, required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    asyncio.run(serve(plan.load(arguments.settings), arguments.log))


if __name__ == "__main__":
    main()
