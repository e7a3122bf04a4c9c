"""The processes of the demo: how they are started, watched and stopped."""

import asyncio
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# How long a part may take to come up, and how long it may still run when it should end.
READY_WITHIN = 20
DRAIN_WITHIN = 20


class Process:
    """A part of the demo: JSON lines come out of it, and one line, the start, goes in."""

    def __init__(self, process: asyncio.subprocess.Process, name: str):
        self.process = process
        self.name = name
        self.last: dict = {}

    @classmethod
    async def start(cls, name: str, *command: object) -> "Process":
        process = await asyncio.create_subprocess_exec(
            *map(str, command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=HERE
        )
        return cls(process, name)

    async def first(self) -> dict:
        line = await asyncio.wait_for(self.process.stdout.readline(), READY_WITHIN)
        if not line:
            raise SystemExit(f"{self.name} ended before it was ready (status {await self.process.wait()})")
        return json.loads(line)

    def go(self, start_ns: int) -> None:
        self.process.stdin.write(json.dumps({"start_ns": start_ns}).encode() + b"\n")

    async def follow(self) -> None:
        async for line in self.process.stdout:
            self.last = json.loads(line)

    async def end(self) -> None:
        """Closing its standard input is how a part is told to stop; killing it is the last resort."""
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), DRAIN_WITHIN)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
