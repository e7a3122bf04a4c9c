"""What a person sees while the rush runs: a live table on a terminal, plain lines elsewhere."""

import sys
from collections import deque

import plan
from rich.console import Console
from rich.live import Live
from rich.table import Table

STATE_STYLE = {"closed": "green", "open": "bold red", "half-open": "yellow", "none": "dim"}
REASONS = ["open", "trials_busy", "rate_limited"]
PLAIN_EVERY = 2.0


def heading(settings: dict, guard: bool, elapsed: float, provider: dict) -> str:
    run = "2 of 2, with seawall" if guard else "1 of 2, without seawall"
    phase = provider.get("phase", settings["script"][0]["phase"])
    return (
        f"lunch rush {run} | {min(elapsed, plan.length(settings)):4.1f} s of {plan.length(settings):.0f} s | "
        f"provider: {phase}, {provider.get('arrivals', 0)} calls so far, {provider.get('in_flight', 0)} in flight"
    )


class Plain:
    def __init__(self, settings: dict):
        self.settings = settings
        self.next = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def show(self, guard: bool, elapsed: float, provider: dict, clients: list[dict], final: bool = False) -> None:
        if elapsed < self.next and not final:
            return
        self.next = 0.0 if final else elapsed + PLAIN_EVERY
        print(heading(self.settings, guard, elapsed, provider), flush=True)
        for line in filter(None, clients):
            counts = "  ".join(f"{name} {line[name]:>4}" for name in ("orders", "success", "failure", "told"))
            refused = " ".join(f"{reason} {line['refused'].get(reason, 0)}" for reason in REASONS)
            print(f"  {line['client']:<6} {counts}  refused: {refused}  breaker {line['state']}", flush=True)


class Terminal:
    def __init__(self, settings: dict):
        self.settings = settings
        self.live = Live(console=Console(), refresh_per_second=8)
        self.paid: dict[tuple[str, bool], deque] = {}  # (elapsed, paid) of the last second or so

    def goodput(self, guard: bool, elapsed: float, line: dict) -> float:
        """Orders paid per second, over the last second."""
        seen = self.paid.setdefault((line["client"], guard), deque([(0.0, 0)], maxlen=5))
        seen.append((elapsed, line["success"]))
        span = elapsed - seen[0][0]
        return (line["success"] - seen[0][1]) / span if span > 0 else 0.0

    def __enter__(self):
        self.live.start()
        return self

    def __exit__(self, *_):
        self.live.stop()

    def show(self, guard: bool, elapsed: float, provider: dict, clients: list[dict], final: bool = False) -> None:
        table = Table(title=heading(self.settings, guard, max(elapsed, 0), provider), title_justify="left")
        table.add_column("client")
        for column in ("orders", "sent", "paid", "paid/s", "failed", "told to wait"):
            table.add_column(column, justify="right")
        for reason in REASONS:
            table.add_column(f"refused:\n{reason}", justify="right")
        table.add_column("breaker")
        for line in filter(None, clients):
            style = STATE_STYLE.get(line["state"], "")
            table.add_row(
                plan.LANGUAGE[line["client"]],
                *(str(line[name]) for name in ("orders", "sent", "success")),
                f"{self.goodput(guard, elapsed, line):.0f}",
                str(line["failure"]),
                str(line["told"]),
                *(str(line["refused"].get(reason, 0)) for reason in REASONS),
                f"[{style}]{line['state']}[/]" if style else line["state"],
            )
        self.live.update(table, refresh=final)
        if final:  # leave the finished table above the next one
            self.live.console.print(table)
            self.live.update("")


def view(settings: dict, plain: bool) -> Plain | Terminal:
    return Plain(settings) if plain or not sys.stdout.isatty() else Terminal(settings)
