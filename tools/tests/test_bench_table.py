"""The table of the benches: what criterion left, as ratios to seawall's own time."""

import json

import bench_table


def result(folder, group, function, nanoseconds):
    place = folder / group / function.replace("/", "_") / "new"
    place.mkdir(parents=True)
    (place / "benchmark.json").write_text(json.dumps({"group_id": group, "function_id": function}))
    (place / "estimates.json").write_text(json.dumps({"median": {"point_estimate": nanoseconds}}))


def test_each_row_is_one_scenario_on_so_many_threads(tmp_path):
    result(tmp_path, "breaker open", "seawall/1", 2.0)
    result(tmp_path, "breaker open", "peer/1", 30.0)
    result(tmp_path, "breaker open", "seawall/2", 4.0)
    result(tmp_path, "breaker trial", "seawall/1", 50.0)
    assert bench_table.table(bench_table.read(tmp_path))[2:] == [
        "| breaker open | 1 | 2.00 | peer 30.0 (15.0) |",
        "| breaker open | 2 | 4.00 | - |",
        "| breaker trial | 1 | 50.00 | - |",
    ]


def test_a_scenario_without_seawall_is_no_row(tmp_path):
    result(tmp_path, "other", "peer/1", 30.0)
    assert len(bench_table.table(bench_table.read(tmp_path))) == 2
