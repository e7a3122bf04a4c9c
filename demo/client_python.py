#!/usr/bin/env python3
"""The Python service of the lunch rush: takes orders as they fall due and has each one paid.

    client_python.py --settings FILE --log FILE --port N --guard on|off

Prints {"ready": true}, reads {"start_ns": N} from standard input, then prints its counters four times
a second. The event log gets one JSON line per event, in the order in which the events happened.
"""

import argparse
import asyncio
import json
import logging
import pathlib
import re
import sys
import time

import aiohttp
import plan
import seawall

REPORT_EVERY = 0.25


class Log:
    """One JSON line per event, numbered; the numbers are what the checks go by."""

    def __init__(self, file):
        self.file = file
        self.lines = 0

    def write(self, event: str, **fields) -> None:
        self.file.write(json.dumps({"n": self.lines, "t": time.monotonic_ns(), "event": event, **fields}) + "\n")
        self.lines += 1


class Heard(logging.Handler):
    """The second channel: what seawall says through `logging`."""

    CHANGE = re.compile(r": (\S+) -> (\S+) ")

    def __init__(self, log: Log):
        super().__init__()
        self.log = log

    def emit(self, record: logging.LogRecord) -> None:
        if change := self.CHANGE.search(record.getMessage()):
            self.log.write("heard", **{"from": change[1], "to": change[2]})


class Service:
    def __init__(self, settings: dict, port: int, guard: bool, log: Log):
        self.timeout = aiohttp.ClientTimeout(total=settings["call"]["timeout_ms"] / 1000)
        self.url = f"http://127.0.0.1:{port}"
        self.log = log
        self.in_flight = 0
        self.counters = {"orders": 0, "sent": 0, "success": 0, "failure": 0, "told": 0, "ignored": 0}
        self.refusals: dict[str, int] = {}
        self.breaker = self.bucket = None
        if guard:
            breaker, bucket = settings["breaker"], settings["bucket"]
            self.breaker = seawall.CircuitBreaker(
                name="payments",
                failure_rate=breaker["failure_rate"],
                window=breaker["window"],
                minimum_calls=breaker["minimum_calls"],
                trials=breaker["trials"],
                reset_after=breaker["reset_after_ms"] / 1000,
                trial_timeout=breaker["trial_timeout_ms"] / 1000,
            )
            self.bucket = seawall.TokenBucket(rate=bucket["rate_per_second"], capacity=bucket["capacity"])
            self.breaker.on_transition(self.changed)

    def changed(self, change) -> None:
        fields = {"from": change.from_state, "to": change.to_state}
        for name in ("cause", "calls", "failed", "generation"):
            fields[name] = getattr(change, name)
        self.log.write("transition", **fields)

    async def pay(self, session: aiohttp.ClientSession, call: int) -> None:
        """One order: breaker, bucket, then the call with its timeout inside both."""
        taken = time.monotonic_ns()
        self.counters["orders"] += 1
        permit, kind = None, "none"
        before = after = taken
        if self.breaker:
            try:
                permit = self.breaker.admit()
            except seawall.CircuitOpen as refusal:
                return self.refused(call, taken, refusal.reason, "none")
            kind = "trial" if permit.trial else "normal"
            before = time.monotonic_ns()
            admitted = self.bucket.try_acquire()
            after = time.monotonic_ns()
            if not admitted:
                permit.ignore()  # our own refusal says nothing about the provider
                return self.refused(call, taken, "rate_limited", kind)
        self.counters["sent"] += 1
        self.log.write("admitted", call=call, permit=kind, before=before, after=after)

        self.in_flight += 1
        outcome, why, told_until = await self.send(session, call)
        self.in_flight -= 1

        if permit:
            self.settle(permit, outcome, told_until)
        self.counters[outcome] += 1
        ns = time.monotonic_ns() - taken
        self.log.write("settled", call=call, outcome=outcome, why=why, told_until=told_until, ns=ns)

    def settle(self, permit, outcome: str, told_until: int | None) -> None:
        match outcome:
            case "success":
                permit.success()
            case "told":
                permit.failure_until_ns(told_until)
            case "failure":
                permit.failure()
            case _:
                permit.ignore()

    async def send(self, session: aiohttp.ClientSession, call: int) -> tuple[str, str, int | None]:
        """The outcome, what it rests on, and the instant at which the provider said it will be back."""
        try:
            headers = {"x-client": "python", "x-call": str(call)}
            async with session.post(f"{self.url}/pay", headers=headers, timeout=self.timeout) as answer:
                await answer.read()
                wait = answer.headers.get("retry-after")
                if answer.status in (429, 503) and wait:
                    return "told", str(answer.status), time.monotonic_ns() + int(wait) * plan.SECOND
                return classify(answer.status), str(answer.status), None
        except TimeoutError:
            return "failure", "timeout", None
        except aiohttp.ClientError:
            return "failure", "connection", None

    def refused(self, call: int, taken: int, reason: str, permit: str) -> None:
        self.refusals[reason] = self.refusals.get(reason, 0) + 1
        self.log.write("refused", call=call, reason=reason, permit=permit, ns=time.monotonic_ns() - taken)

    def totals(self) -> dict:
        return {**self.counters, "refused": self.refusals}

    def state(self) -> str:
        return self.breaker.state if self.breaker else "none"

    def report(self) -> None:
        line = {"client": "python", "state": self.state(), "in_flight": self.in_flight, **self.totals()}
        print(json.dumps(line), flush=True)

    async def keep_reporting(self) -> None:
        while True:
            self.report()
            await asyncio.sleep(REPORT_EVERY)

    async def run(self, session: aiohttp.ClientSession, due: list[int], late: list[int], start_ns: int) -> None:
        reporting = asyncio.create_task(self.keep_reporting())
        async with asyncio.TaskGroup() as orders:
            for call, at in enumerate(due, 1):
                await until(start_ns + at)
                orders.create_task(self.pay(session, call))
            for at in late:
                await until(start_ns + at)
                if self.state() not in ("closed", "none"):
                    call += 1
                    orders.create_task(self.pay(session, call))
                elif self.in_flight == 0:
                    break
        reporting.cancel()
        self.report()


async def until(instant_ns: int) -> None:
    await asyncio.sleep(max(0, instant_ns - time.monotonic_ns()) / plan.SECOND)


def classify(status: int) -> str:
    return "failure" if status >= 500 else "ignored" if status >= 400 else "success"


async def serve(settings: dict, port: int, guard: bool, file) -> None:
    log = Log(file)
    service = Service(settings, port, guard, log)
    logger = logging.getLogger("seawall")
    logger.addHandler(Heard(log))
    logger.setLevel(logging.INFO)
    logger.propagate = False
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async with session.get(f"{service.url}/health") as answer:
            await answer.read()
        print(json.dumps({"ready": True}), flush=True)
        start_ns = json.loads(sys.stdin.readline())["start_ns"]
        log.write("start", client="python", guard=guard)
        await service.run(session, plan.due(settings), plan.late(settings), start_ns)
    log.write("end", counters=service.totals(), state=service.state())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", type=pathlib.Path, required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--guard", choices=["on", "off"], required=True)
    arguments = parser.parse_args()
    with arguments.log.open("w") as file:
        asyncio.run(serve(plan.load(arguments.settings), arguments.port, arguments.guard == "on", file))


if __name__ == "__main__":
    main()
