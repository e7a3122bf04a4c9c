#!/usr/bin/env python3
"""The service in the middle: it calls the one below, under a policy.

    chain_python.py --below PORT --attempts N

Prints {"port": N}, then answers POST with 200 when the service below did, else with 503, until standard input
ends.
"""

import argparse
import asyncio
import json
import sys

import aiohttp
import seawall
from aiohttp import web


class Unavailable(Exception):
    """The service below answered with this status; a policy reads it from here."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status_code = status


def policy(attempts: int) -> seawall.Policy:
    return seawall.Policy(
        timeouts=seawall.Timeouts(connect="1s", attempt="10s", total="60s"),
        retry=seawall.Retry(idempotent="by_key", attempts=attempts, backoff=seawall.Backoff(base="1ms", cap="5ms")),
    )


async def serve(below: int, attempts: int) -> None:
    guarded = policy(attempts)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask() -> None:
            async with session.post(f"http://127.0.0.1:{below}/pay") as answer:
                if answer.status != 200:
                    raise Unavailable(answer.status)

        async def pay(_: web.Request) -> web.Response:
            try:
                await guarded.call(ask)
            except Unavailable:
                return web.Response(status=503)
            return web.Response()

        app = web.Application()
        app.router.add_post("/pay", pay)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(json.dumps({"port": site._server.sockets[0].getsockname()[1]}), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--below", type=int, required=True)
    parser.add_argument("--attempts", type=int, required=True)
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.below, arguments.attempts))


if __name__ == "__main__":
    main()
