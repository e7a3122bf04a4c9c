from loom import compare

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


def test_the_smallest_of_several_counts_is_held_to_the_floor():
    assert compare({"a": 5}, "loom: a: 9 executions\nloom: a: 4 executions\n", complete=True) == [
        "a: 4 executions, floor 5"
    ]
