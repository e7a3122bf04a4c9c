from fuzz import FLOOR_PER_SECOND, verdict

ENOUGH = FLOOR_PER_SECOND * 5


def test_enough_inputs_without_a_finding_pass():
    assert verdict(0, f"Done {ENOUGH} runs in 6 second(s)\n", 5) == (ENOUGH, "")


def test_a_finding_is_a_failure():
    assert verdict(77, "==1== ERROR: libFuzzer: deadly signal\n", 5) == (0, "exit status 77")


def test_a_target_that_tried_next_to_nothing_is_a_failure():
    runs, why = verdict(0, f"Done {ENOUGH - 1} runs in 6 second(s)\n", 5)
    assert runs == ENOUGH - 1 and "floor" in why
    assert verdict(0, "", 5)[1]
