"""The charts of the report, as SVG text. Each is drawn twice: wide for a desk, narrow for a phone."""

import io
import re

import checks
import figures
import matplotlib
import plan
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

# Okabe and Ito's palette: these pairs stay apart in all common kinds of colour blindness and in grey.
WITHOUT, WITH = "#D55E00", "#0072B2"
STATES = {"closed": "#A8DCC9", "half-open": "#E69F00", "open": "#7A1F3D"}
RESULTS = {"paid": "#009E73", "failed": "#D55E00", "refused at once": "#B9C4CE"}
INK, SOFT, GRID = "#1F2933", "#52606D", "#D9DFE5"
FAILING_SHADE, SLOW_SHADE = "#FBE6E0", "#FBF5D9"
BIN = 0.5  # seconds

STYLE = {
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and copied
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "text.color": INK,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
matplotlib.rcParams.update(STYLE)


class Sheet:
    """A figure of one or more panels above each other, in the wide or the narrow form."""

    def __init__(self, name: str, label: str, narrow: bool, wide_size, narrow_size, **subplots):
        self.name = f"{name}-{'narrow' if narrow else 'wide'}"
        self.label = label
        self.narrow = narrow
        self.small = 8.5 if narrow else 10
        matplotlib.rcParams.update({"font.size": self.small, "svg.hashsalt": self.name})
        self.figure = Figure(figsize=narrow_size if narrow else wide_size, layout="constrained")
        self.axes = self.figure.subplots(squeeze=False, **subplots).flatten()

    def svg(self) -> str:
        file = io.StringIO()
        self.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        text = file.getvalue()
        text = text[text.index("<svg") :]
        # Names must differ between the drawings of one page.
        text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{self.name}-", text)
        text = re.sub(r' (width|height)="[\d.]+pt"', "", text, count=2)
        return text.replace("<svg", f'<svg role="img" aria-label="{self.label}"', 1)


def shade(axis, settings: dict, sheet: Sheet, names: bool = True) -> None:
    """The phases of the script behind a chart over time, and their names above it."""
    for name, start, end in plan.phases(settings):
        colour = FAILING_SHADE if name in plan.FAILING else SLOW_SHADE if name == "slow" else "none"
        axis.axvspan(start, end, color=colour, lw=0, zorder=0)
        axis.axvline(end, color=GRID, lw=0.8, zorder=0)
        if names:
            text = name.replace(" ", "\n") if sheet.narrow else name
            middle = (start + end) / 2
            axis.annotate(
                text,
                (middle, 1),
                xycoords=("data", "axes fraction"),
                xytext=(0, 4),
                textcoords="offset points",
                ha="center",
                va="bottom",
                color=SOFT,
                fontsize=sheet.small - 0.5,
            )
    axis.set_xlim(0, plan.length(settings))
    axis.xaxis.set_major_locator(MaxNLocator(5 if sheet.narrow else 10, steps=[1, 2, 5, 10]))


def per_second(times: list[float], settings: dict) -> tuple[list[float], list[float]]:
    """Counts in bins of half a second, as a rate; the edges, and a value per bin."""
    count = int(plan.length(settings) / BIN)
    edges = [i * BIN for i in range(count + 1)]
    values = [0.0] * count
    for at in times:
        if 0 <= at < count * BIN:
            values[int(at / BIN)] += 1 / BIN
    return edges, values


def load(without: checks.Run, guarded: checks.Run, narrow: bool) -> str:
    settings = guarded.settings
    sheet = Sheet(
        "load",
        "Calls per second at the provider and calls it held, with and without seawall",
        narrow,
        (11, 5.6),
        (4.4, 5.2),
        nrows=2,
        sharex=True,
        height_ratios=[3, 2],
    )
    rate, held = sheet.axes
    shade(rate, settings, sheet)
    shade(held, settings, sheet, names=False)
    for run, colour, name in ((without, WITHOUT, "without seawall"), (guarded, WITH, "with seawall")):
        edges, values = per_second(figures.arrivals(run), settings)
        rate.stairs(values, edges, color=colour, lw=2, label=name)
        if run is guarded:
            rate.stairs(values, edges, color=colour, alpha=0.15, fill=True)
        held.step(*figures.in_flight(run), where="post", color=colour, lw=1.4, label=name)
    bucket = settings["bucket"]["rate_per_second"]
    label = f"agreed rate, {len(plan.CLIENTS)} x {bucket}/s"
    rate.axhline(len(plan.CLIENTS) * bucket, color=INK, lw=1, ls=(0, (4, 3)), label=label)
    rate.set_ylabel("calls per second")
    held.set_ylabel("calls in flight")
    held.set_xlabel("seconds from the first order")
    rate.set_ylim(bottom=0)
    held.set_ylim(bottom=0)
    sheet.figure.legend(
        *rate.get_legend_handles_labels(), loc="outside upper left", ncols=3, fontsize=sheet.small, columnspacing=1
    )
    return sheet.svg()


def states(guarded: checks.Run, narrow: bool) -> str:
    sheet = Sheet("states", "Breaker state over time for each client", narrow, (11, 2.9), (4.4, 3.1), nrows=1)
    (axis,) = sheet.axes
    shade(axis, guarded.settings, sheet)
    for row, client in enumerate(reversed(plan.CLIENTS)):
        for span in figures.spans(guarded, client):
            axis.barh(row, span.end - span.start, left=span.start, height=0.52, color=STATES[span.state], zorder=2)
        for at in figures.trials(guarded, client):
            axis.plot([at, at], [row - 0.4, row - 0.28], color=INK, lw=1.2, zorder=3)
    axis.set_yticks(range(len(plan.CLIENTS)), [plan.LANGUAGE[client] for client in reversed(plan.CLIENTS)])
    axis.tick_params(axis="y", labelcolor=INK)
    axis.grid(False)
    axis.set_ylim(-0.55, len(plan.CLIENTS) - 0.55)
    axis.set_xlabel("seconds from the first order")
    handles = [Patch(color=colour, label=state) for state, colour in STATES.items()]
    handles.append(Line2D([], [], color=INK, lw=0, marker="|", markersize=6, label="a trial call"))
    sheet.figure.legend(handles=handles, loc="outside upper left", ncols=4, fontsize=sheet.small, columnspacing=1.2)
    return sheet.svg()


def outcomes(without: checks.Run, guarded: checks.Run, narrow: bool) -> str:
    settings = guarded.settings
    sheet = Sheet(
        "outcomes", "What became of the orders over time", narrow, (11, 5), (4.4, 5), nrows=2, sharex=True, sharey=True
    )
    highest = 0.0
    for axis, run, name in zip(sheet.axes, (without, guarded), ("without seawall", "with seawall"), strict=True):
        shade(axis, settings, sheet, names=run is without)
        found: dict[str, list[float]] = {result: [] for result in RESULTS}
        for order in figures.orders(run):
            result = "paid" if order.result == "success" else "failed" if order.sent else "refused at once"
            found[result].append(order.taken)
        base = None
        for result, times in found.items():
            edges, values = per_second(times, settings)
            top = values if base is None else [a + b for a, b in zip(base, values, strict=True)]
            axis.stairs(top, edges, baseline=base or 0, fill=True, color=RESULTS[result], alpha=0.9, label=result)
            base = top
            highest = max(highest, *top)
        axis.set_ylabel("orders per second")
        axis.annotate(
            name,
            (0, 1),
            xycoords="axes fraction",
            xytext=(6, -6),
            textcoords="offset points",
            va="top",
            fontweight="bold",
            fontsize=sheet.small,
        )
    axis.set_xlabel("seconds from the first order")
    axis.set_ylim(0, highest * 1.2)
    handles = [Patch(color=colour, label=result) for result, colour in RESULTS.items()]
    sheet.figure.legend(handles=handles, loc="outside upper left", ncols=3, fontsize=sheet.small)
    return sheet.svg()


def waits(without: checks.Run, guarded: checks.Run, narrow: bool) -> str:
    sheet = Sheet(
        "waits", "How long orders waited in each phase: 50th, 95th and 99th percentile", narrow, (11, 4), (4.4, 4.6)
    )
    (axis,) = sheet.axes
    names = [name for name, _, _ in plan.phases(guarded.settings)]
    marks = {0.5: ("o", "p50"), 0.95: ("D", "p95"), 0.99: ("^", "p99")}
    for offset, run, colour in ((0.17, without, WITHOUT), (-0.17, guarded, WITH)):
        waited = figures.waits_by_phase(run)
        for row, name in enumerate(reversed(names)):
            values = waited[name]
            if not values:
                continue
            points = [1000 * figures.percentile(values, share) for share in marks]
            axis.plot([points[0], points[-1]], [row + offset] * 2, color=colour, lw=2, alpha=0.45, zorder=2)
            for point, (mark, _) in zip(points, marks.values(), strict=True):
                axis.plot(
                    point, row + offset, mark, color=colour, ms=6 if narrow else 7, mec="white", mew=0.8, zorder=3
                )
    axis.set_xscale("log")
    axis.set_yticks(range(len(names)), reversed(names))
    axis.tick_params(axis="y", labelcolor=INK)
    axis.grid(True, axis="x")
    axis.grid(False, axis="y")
    for row in range(len(names) - 1):
        axis.axhline(row + 0.5, color=GRID, lw=0.8)
    axis.set_xlabel("milliseconds, log scale")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    handles = [
        Patch(color=WITHOUT, label="without seawall"),
        Patch(color=WITH, label="with seawall"),
        *(Line2D([], [], color=SOFT, lw=0, marker=mark, label=label) for mark, label in marks.values()),
    ]
    sheet.figure.legend(handles=handles, loc="outside upper left", ncols=3 if narrow else 5, fontsize=sheet.small)
    return sheet.svg()


def chain(outcomes: list, narrow: bool) -> str:
    sheet = Sheet("chain", "Calls per user action that reached the provider", narrow, (11, 2.9), (4.4, 3.4))
    (axis,) = sheet.axes
    rows = list(reversed(outcomes))
    colours = [WITHOUT if outcome.variant.everybody else WITH for outcome in rows]
    axis.barh(range(len(rows)), [outcome.per_action for outcome in rows], height=0.55, color=colours, zorder=2)
    for row, outcome in enumerate(rows):
        axis.annotate(
            f"{outcome.per_action:.2f}",
            (outcome.per_action, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontweight="bold",
            fontsize=sheet.small,
        )
    names = [outcome.variant.name for outcome in rows]
    axis.set_yticks(
        range(len(rows)), [name.replace(" the ", "\nthe ").replace(" a ", "\na ") if narrow else name for name in names]
    )
    axis.tick_params(axis="y", labelcolor=INK)
    axis.grid(True, axis="x")
    axis.grid(False, axis="y")
    axis.set_xlabel("calls per action")
    axis.margins(x=0.1)
    return sheet.svg()
