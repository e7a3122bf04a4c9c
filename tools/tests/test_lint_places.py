import pytest

from lint_places import findings

SLASH = "/"


@pytest.mark.parametrize(
    "line",
    [
        f"cd {SLASH}work/main",
        f'path = "{SLASH}root/.cargo"',
        f"{SLASH}home/me/file",
        f"> {SLASH}tmp/out",
        '"resolved" : "http'.replace(" :", ":") + 's://somewhere/x.tgz"',
        "https://" + "registry.npmjs" + ".org/x",
        "https://" + "pypi" + ".org/simple",
    ],
)
def test_a_place_of_one_machine_is_found(line):
    assert len(findings("file", line)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "target/work/x",
        "$ROOT/tmp/x",
        "a/root/b",
        "https://example.com/home/x",
        "see core/src/word/",
        'mkdtemp("x")',
        "/usr/lib",
    ],
)
def test_what_is_no_place_of_one_machine_passes(line):
    assert findings("file", line) == []
