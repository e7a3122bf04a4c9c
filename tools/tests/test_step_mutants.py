from step_mutants import summary


def test_hangs_count_as_noticed_and_what_does_not_compile_as_nothing():
    log = "MISSED x.rs:1:1\n9 mutants tested in 2m: 1 missed, 5 caught, 2 unviable, 1 timeouts"
    assert summary(log) == (6, 1)


def test_all_caught():
    assert summary("12 mutants tested in 3s: 12 caught\n") == (12, 0)


def test_no_summary_is_no_success():
    assert summary("error: could not compile\n") == (0, 0)
