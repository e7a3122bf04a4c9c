"""The second scene: three services in a chain, and a provider that is down.

A user's action goes from a Node service to a Python service to a C service, which calls the provider. How many
calls the provider gets per action depends on who retries. Everything is real but the users: three processes, and
an HTTP server on loopback that counts.
"""

import asyncio
import math
import sys
from dataclasses import dataclass

import aiohttp
import build
import checks
from aiohttp import web
from parts import HERE, Process

ACTIONS = 200
# So many users act at the same time.
USERS = 8
ATTEMPTS = 3
# The budget of the innermost service, as its defaults have it.
RATIO, CAPACITY = 0.1, 10


@dataclass
class Variant:
    """Who retries, and what holds them back."""

    name: str
    everybody: bool
    budget: bool
    breaker: bool

    @property
    def exactly(self) -> int | None:
        """How many calls the provider gets, where that is certain."""
        if self.budget or self.breaker:
            return None
        return ACTIONS * ATTEMPTS ** (3 if self.everybody else 1)

    @property
    def most(self) -> int:
        if self.exactly is not None:
            return self.exactly
        if self.breaker:
            return math.ceil(0.2 * ACTIONS) - 1
        return math.floor(ACTIONS * (1 + RATIO)) + CAPACITY


VARIANTS = [
    Variant("all three services retry", everybody=True, budget=False, breaker=False),
    Variant("only the innermost retries", everybody=False, budget=False, breaker=False),
    Variant("and has a budget of 10 %", everybody=False, budget=True, breaker=False),
    Variant("and a circuit breaker", everybody=False, budget=True, breaker=True),
]


@dataclass
class Outcome:
    variant: Variant
    calls: int
    answered: int
    """Actions that had an answer, whichever; the rest is a fault."""

    @property
    def per_action(self) -> float:
        return self.calls / ACTIONS

    @property
    def claim(self) -> str:
        if self.variant.exactly is not None:
            return f"{self.variant.name}: exactly {self.variant.exactly / ACTIONS:.1f} calls per action"
        return f"{self.variant.name}: at most {self.variant.most / ACTIONS:g} calls per action"

    @property
    def faults(self) -> list[str]:
        found = []
        if self.answered != ACTIONS:
            found.append(f"{ACTIONS - self.answered} actions had no answer")
        if self.calls > self.variant.most:
            found.append(f"{self.calls} calls, at most {self.variant.most} are allowed")
        if self.variant.exactly is not None and self.calls < self.variant.exactly:
            found.append(f"{self.calls} calls, exactly {self.variant.exactly} were expected")
        if not self.calls:
            found.append("the provider was never called")
        return found


class Provider:
    """It is down: it answers every call with 503, and counts."""

    def __init__(self) -> None:
        self.calls = 0

    async def pay(self, _: web.Request) -> web.Response:
        self.calls += 1
        return web.Response(status=503)

    async def listen(self) -> tuple[web.AppRunner, int]:
        app = web.Application()
        app.router.add_post("/pay", self.pay)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return runner, runner.addresses[0][1]


async def act(port: int) -> int:
    """200 actions by 8 users; how many had an answer."""
    waiting = asyncio.Queue()
    for action in range(ACTIONS):
        waiting.put_nowait(action)
    answered = 0
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:

        async def user() -> None:
            nonlocal answered
            while not waiting.empty():
                waiting.get_nowait()
                async with session.post(f"http://127.0.0.1:{port}/pay") as answer:
                    answered += answer.status == 503

        await asyncio.gather(*(user() for _ in range(USERS)))
    return answered


async def run_one(variant: Variant) -> Outcome:
    provider = Provider()
    runner, port = await provider.listen()
    outer = ATTEMPTS if variant.everybody else 1
    switch = {True: "on", False: "off"}
    services: list[Process] = []

    async def service(name: str, *command: object) -> int:
        services.append(await Process.start(name, *command))
        return (await services[-1].first())["port"]

    try:
        guards = f"budget={switch[variant.budget]}", f"breaker={switch[variant.breaker]}"
        port = await service("chain_c", build.CHAIN, f"port={port}", f"attempts={ATTEMPTS}", *guards)
        port = await service(
            "chain_python", sys.executable, HERE / "chain_python.py", "--below", port, "--attempts", outer
        )
        port = await service("chain_node", "node", HERE / "chain_node.mjs", "--below", port, "--attempts", outer)
        answered = await act(port)
    finally:
        for one in reversed(services):
            await one.end()
        await runner.cleanup()
    return Outcome(variant, provider.calls, answered)


async def run() -> list[Outcome]:
    return [await run_one(variant) for variant in VARIANTS]


def checked(outcomes: list[Outcome]) -> list[checks.Check]:
    return [
        checks.Check(f"chain {place}", outcome.claim, f"{outcome.per_action:.3f}", outcome.faults)
        for place, outcome in enumerate(outcomes, 1)
    ]
