"""The Python interface as its stub files state it, without comments and docstrings."""

import io
import pathlib
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "python" / "python" / "seawall"

NOTHING = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


def bare(source: str) -> list[str]:
    """The lines of a stub that say something to a type checker."""
    lines = source.splitlines()
    dropped: set[int] = set()
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (first, column), (last, _) = token.start, token.end
        if token.type == tokenize.STRING and before in NOTHING:
            dropped.update(range(first, last + 1))
        elif token.type == tokenize.COMMENT:
            lines[first - 1] = lines[first - 1][:column]
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return [line.rstrip() for number, line in enumerate(lines, 1) if number not in dropped and line.strip()]


def take() -> str:
    parts = []
    for path in sorted(PACKAGE.rglob("*.pyi")):
        parts += [f"== {path.relative_to(PACKAGE)}", *bare(path.read_text()), ""]
    return "\n".join(parts)
