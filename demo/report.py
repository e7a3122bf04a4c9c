"""The report: one HTML file that needs nothing but itself."""

import html
import pathlib
import string

import chain
import charts
import checks
import figures
import plan

TEMPLATE = pathlib.Path(__file__).resolve().with_name("report_template.html")
Row = list[str]


def table(head: Row, rows: list[Row], css: str) -> str:
    """`css` is "figures" or "text"; cells are HTML already."""

    def row(tag: str, cells: Row) -> str:
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return f'<table class="{css}"><thead>{row("th", head)}</thead><tbody>{body}</tbody></table>'


def card(title: str, without: str, guarded: str) -> str:
    return (
        f'<div class="card"><h2>{title}</h2><dl><dt>without</dt><dd class="without">{without}</dd>'
        f'<dt>with</dt><dd class="with">{guarded}</dd></dl></div>'
    )


def milliseconds(seconds: float) -> str:
    ms = seconds * 1000
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.2g} ms"


def cards(without: checks.Run, guarded: checks.Run) -> str:
    runs = (without, guarded)
    totals = [figures.totals(run) for run in runs]
    waits = []
    for run in runs:
        by_phase = figures.waits_by_phase(run)
        waits.append([wait for phase, waited in by_phase.items() if phase in plan.FAILING for wait in waited])
    return "".join(
        [
            card("calls to the provider while it could not answer", *(f"{t.failing_calls:,}" for t in totals)),
            card("guests' time spent on calls that failed", *(f"{t.wasted:,.0f} s" for t in totals)),
            card(
                "95 of 100 orders had their answer within, while the provider could not answer",
                *(milliseconds(figures.percentile(wait, 0.95)) if wait else "-" for wait in waits),
            ),
            card(f"orders paid, of {totals[0].orders:,}", *(f"{t.paid:,}" for t in totals)),
        ]
    )


def chart(draw, *what) -> str:
    return "".join(f'<div class="{form}">{draw(*what, narrow=form == "narrow")}</div>' for form in ("wide", "narrow"))


def totals_table(without: checks.Run, guarded: checks.Run) -> str:
    head = ["client", "seawall", "orders", "sent", "paid", "failed", "told to wait", "refused:<br>breaker open"]
    head += [
        "refused:<br>trials busy",
        "refused:<br>rate",
        "calls it could<br>not answer",
        "time on<br>failed calls",
    ]
    rows = []
    for client in [*plan.CLIENTS, None]:
        for run, name in ((without, "without"), (guarded, "with")):
            t = figures.totals(run, client)
            counts = [t.orders, t.sent, t.paid, t.failed, t.told]
            counts += [t.refused.get(reason, 0) for reason in ("open", "trials_busy", "rate_limited")]
            who = plan.LANGUAGE[client] if client else "<b>all</b>"
            cells = [*counts, t.failing_calls]
            rows.append([who, f'<span class="{name}">{name}</span>', *(f"{n:,}" for n in cells), f"{t.wasted:.1f} s"])
    return table(head, rows, "figures")


def checks_table(results: list[checks.Check]) -> str:
    rows = []
    for check in results:
        mark = '<span class="pass">holds</span>' if check.passed else '<span class="fail">FAILS</span>'
        faults = "".join(f'<br><span class="fail">{html.escape(fault)}</span>' for fault in check.faults[:5])
        rows.append([mark, html.escape(check.claim) + faults, html.escape(check.figure)])
    return table(["", "claim", "seen"], rows, "text")


def pace(part: dict) -> str:
    if part["seconds"] < 0.1:
        return f"{part['seconds'] * part['per_second']:.0f} at once"
    return f"{part['per_second']} a second for {part['seconds']:g} s"


def settings_table(settings: dict) -> str:
    breaker, bucket = settings["breaker"], settings["bucket"]
    rows = [
        ["circuit breaker", f"opens when {breaker['failure_rate']:.0%} of the last {breaker['window']} calls failed, "
         f"at {breaker['minimum_calls']} calls or more; {breaker['trials']} trials after "
         f"{breaker['reset_after_ms'] / 1000:g} s, all of which must succeed"],
        ["token bucket", f"{bucket['rate_per_second']} calls a second, {bucket['capacity']} at once"],
        ["timeout of a call", f"{settings['call']['timeout_ms']} ms, inside the breaker"],
        ["a failure is", "a timeout, a broken connection, a status of 500 and above; 429 and 503 with "
         "<code>Retry-After</code> open the breaker until the instant they name; any other 4xx is ignored"],
        ["orders of each client", ", then ".join(map(pace, settings["orders"]))],
        ["the provider", ", then ".join(f"{part['phase']} for {part['seconds']:g} s" for part in settings["script"])],
    ]  # fmt: skip
    return table(["what", "value"], rows, "text")


def write(
    path: pathlib.Path,
    without: checks.Run,
    guarded: checks.Run,
    outcomes: list[chain.Outcome],
    results: list[checks.Check],
) -> None:
    bare, kept = figures.totals(without), figures.totals(guarded)
    failed = [check for check in results if not check.passed]
    summary = (
        f"A Python service, a Node service and a C program took {bare.orders:,} orders, all to be paid at one payment "
        f"provider that was healthy, slow, failing, overloaded and hanging in turn. Without seawall the provider got "
        f"{bare.failing_calls:,} calls that it could not answer; with seawall, on the same orders, "
        f"{kept.failing_calls:,}."
    )
    verdict = f"{len(failed)} of {len(results)} checks FAIL" if failed else f"All {len(results)} checks hold"
    page = string.Template(TEMPLATE.read_text()).substitute(
        summary=summary,
        verdict=verdict,
        verdict_class="fail" if failed else "pass",
        cards=cards(without, guarded),
        load=chart(charts.load, without, guarded),
        outcomes=chart(charts.outcomes, without, guarded),
        states=chart(charts.states, guarded),
        waits=chart(charts.waits, without, guarded),
        actions=chain.ACTIONS,
        chain=chart(charts.chain, outcomes),
        limited=f"{kept.refused.get('rate_limited', 0):,}",
        capacity=guarded.settings["bucket"]["capacity"],
        timeout=guarded.settings["call"]["timeout_ms"],
        totals=totals_table(without, guarded),
        checks=checks_table(results),
        settings=settings_table(guarded.settings),
    )
    path.write_text(page)
