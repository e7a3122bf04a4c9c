"""Figures and report, from a run that can be followed by hand."""

import re

import checks
import figures
import pytest
import report
from chain import ACTIONS, VARIANTS, Outcome
from story import bare_story, guarded_story, run_of

CHAIN = [Outcome(variant, calls, ACTIONS) for variant, calls in zip(VARIANTS, (5400, 600, 229, 11), strict=True)]


@pytest.fixture
def guarded() -> checks.Run:
    return run_of(guarded_story)


@pytest.fixture
def without() -> checks.Run:
    return run_of(bare_story)


@pytest.mark.parametrize("share, expected", [(0.5, 50), (0.95, 95), (0.99, 99), (1.0, 100)])
def test_a_percentile_is_the_value_of_its_rank(share, expected):
    assert figures.percentile(list(range(100, 0, -1)), share) == expected


def test_a_percentile_of_few_values_is_one_of_them():
    assert figures.percentile([3, 1], 0.5) == 1
    assert figures.percentile([3, 1], 0.51) == 3
    assert figures.percentile([7], 0.01) == 7


def test_every_order_is_found_with_its_result(guarded):
    results = sorted(order.result for order in figures.orders(guarded) if order.client == "c")
    assert results == ["failure"] * 2 + ["refused"] * 4 + ["success"] * 5 + ["told"]


def test_the_spans_of_a_breaker_follow_each_other(guarded):
    spans = figures.spans(guarded, "node")
    assert [span.state for span in spans] == ["closed", "open", "half-open", "open", "half-open", "closed"]
    assert all(a.end == b.start for a, b in zip(spans, spans[1:], strict=False))
    assert spans[0].start == 0


def test_trials_are_told_from_other_calls(guarded):
    assert len(figures.trials(guarded, "python")) == 3


def test_all_that_arrived_is_answered_in_the_end(guarded):
    _, counts = figures.in_flight(guarded)
    assert counts[-1] == 0
    assert max(counts) == 2  # the two trials of the last round


def test_totals_add_up(without, guarded):
    one, all_three = figures.totals(guarded, "c"), figures.totals(guarded)
    assert (one.orders, one.sent, one.paid, one.failed, one.told) == (12, 8, 5, 2, 1)
    assert one.refused == {"open": 2, "rate_limited": 1, "trials_busy": 1}
    assert (all_three.orders, all_three.sent) == (36, 24)
    assert figures.totals(without).failing_calls == 18
    assert all_three.failing_calls == 9


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    return write(tmp_path_factory.mktemp("report"), run_of(bare_story), run_of(guarded_story))


def write(tmp_path, without: checks.Run, guarded: checks.Run) -> str:
    path = tmp_path / "report.html"
    report.write(path, without, guarded, CHAIN, checks.all_checks(without, guarded))
    return path.read_text()


def test_the_report_needs_nothing_but_itself(page):
    names_of_formats = re.sub(r'xmlns(:\w+)?="[^"]*"|<!DOCTYPE[^>]*>', "", page)
    names_of_formats = re.sub(r"<metadata>.*?</metadata>", "", names_of_formats, flags=re.DOTALL)
    assert not re.search(r"https?://|<script|<link|<img|@import|\bsrc=", names_of_formats)


def test_no_two_parts_of_the_page_share_an_id(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_report_tells_of_a_check_that_failed(page, tmp_path, without, guarded):
    assert "All 11 checks hold" in page
    guarded.clients["c"][-1]["counters"]["orders"] += 1
    page = write(tmp_path, without, guarded)
    assert "1 of 11 checks FAIL" in page
    assert "c: it counted" in page
