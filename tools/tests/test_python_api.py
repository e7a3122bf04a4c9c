from snapshot.python_api import bare

STUB = '''\
"""A module."""
from typing import Final  # a note

class Breaker:
    """One.

    Two.
    """

    def admit(self, *, now: float = ...) -> Permit:
        """Asks."""
    NAME: Final = "x"
'''


def test_comments_docstrings_and_blank_lines_are_left_out():
    assert bare(STUB) == [
        "from typing import Final",
        "class Breaker:",
        "    def admit(self, *, now: float = ...) -> Permit:",
        '    NAME: Final = "x"',
    ]
