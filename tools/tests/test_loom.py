import tomllib

from loom import compare, written

LOG = "loom: breaker::trials: 120 executions\nloom: bucket::burst: 30 executions\n"


def test_counts_at_or_above_their_floors_pass():
    assert compare({"breaker::trials": 120, "bucket::burst": 10}, LOG, complete=True) == []


def test_a_count_below_its_floor_is_wrong():
    assert compare({"breaker::trials": 121, "bucket::burst": 10}, LOG, complete=True) == [
        "breaker::trials: 120 executions, floor 121"
    ]


def test_a_model_without_a_floor_is_wrong():
    assert compare({"breaker::trials": 1}, LOG, complete=True) == ["bucket::burst: no floor in floors.toml (ran 30)"]


def test_a_floor_whose_model_did_not_run_is_wrong_unless_it_was_not_asked_for():
    floors = {"breaker::trials": 1, "bucket::burst": 1, "gone": 1}
    assert compare(floors, LOG, complete=True) == ["gone: has a floor but printed no count"]
    assert compare(floors, LOG, complete=False) == []


def test_the_programs_of_one_model_add_up():
    log = "loom: a: 9 executions\nloom: a: 4 executions\n"
    assert compare({"a": 13}, log, complete=True) == []
    assert compare({"a": 14}, log, complete=True) == ["a: 13 executions, floor 14"]


def test_written_floors_are_three_quarters_of_what_ran_and_at_least_one():
    floors = tomllib.loads(written({"plain": LOG, "rmw": "loom: a: 1 executions\n"}))
    assert floors == {"plain": {"breaker::trials": 90, "bucket::burst": 22}, "rmw": {"a": 1}}
    assert compare(floors["plain"], LOG, complete=True) == []
