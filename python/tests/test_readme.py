"""The examples of the README run, each by itself."""

from __future__ import annotations

import pathlib
import re

import pytest

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example(example, capsys):
    exec(compile(example, str(README), "exec"), {"__name__": "example"})


def test_there_are_examples():
    assert len(EXAMPLES) >= 6
