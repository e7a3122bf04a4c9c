import pytest

from mutants import load, mutate, verdict

MUTANT = {"file": "src/x.rs", "find": "a += 1;", "replace": ""}


def test_a_mutant_replaces_its_one_place():
    assert mutate("fn f() { a += 1; b }", MUTANT) == "fn f() {  b }"


@pytest.mark.parametrize("text", ["fn f() {}", "a += 1; a += 1;"])
def test_a_mutant_whose_place_is_not_unique_is_refused(text):
    with pytest.raises(LookupError, match="not once"):
        mutate(text, MUTANT)


def test_a_mutant_that_changes_nothing_is_refused():
    with pytest.raises(LookupError, match="changes nothing"):
        mutate("a += 1;", MUTANT | {"replace": "a += 1;"})


FAILED = "running 1 test\ntest breaker::trials ... \nthread panicked at x.rs:1:1:\nFAILED\n"


def test_only_a_failed_assertion_of_the_named_model_catches():
    assert verdict(101, FAILED, "breaker::trials") == ""
    assert "passed" in verdict(0, "running 1 test\ntest breaker::trials ... ok\n", "breaker::trials")
    assert "within" in verdict(None, "running 1 test\ntest breaker::trials ... \n", "breaker::trials")
    assert "no model" in verdict(0, "running 0 tests\n", "breaker::trials")
    assert "no model" in verdict(101, "error[E0308]: mismatched types\n", "breaker::trials")
    assert "no assertion" in verdict(139, "running 1 test\ntest breaker::trials ... \n", "breaker::trials")


ENTRY = 'name = "a"\nfile = "f"\nfind = "x"\nreplace = "y"\nmodel = "m"\nwhy = "w"\n'


@pytest.mark.parametrize(
    "text",
    [
        ENTRY + "colour = 1",
        ENTRY.replace('why = "w"\n', ""),
        ENTRY + 'mode = "sideways"',
        ENTRY + "[[mutant]]\n" + ENTRY,
    ],
)
def test_a_misspelt_list_is_refused(tmp_path, text):
    (tmp_path / "x.toml").write_text("[[mutant]]\n" + text)
    with pytest.raises(SystemExit):
        load(tmp_path)


def test_a_mutant_runs_in_the_rmw_mode_if_it_says_nothing(tmp_path):
    (tmp_path / "x.toml").write_text("[[mutant]]\n" + ENTRY)
    assert load(tmp_path)[0]["mode"] == "rmw"
