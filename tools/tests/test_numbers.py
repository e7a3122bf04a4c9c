from snapshot.numbers import parse

PAGE = """\
<!-- table reasons: generated; do not edit -->

| number | name | meaning |
|---|---|---|
| 1 | `open` | It is open. |
| 21 | `exceeds_capacity` | Too much. |

<!-- end -->
<!-- table states: generated; do not edit -->
| 2 | `half-open` | Trials. |
"""


def test_numbers_and_names_are_kept_with_their_table():
    assert parse(PAGE) == "reasons 1 open\nreasons 21 exceeds_capacity\nstates 2 half-open\n"


def test_meanings_may_change():
    assert parse(PAGE) == parse(PAGE.replace("It is open.", "Open."))


def test_a_page_without_tables_is_no_snapshot():
    assert parse("nothing") == ""
