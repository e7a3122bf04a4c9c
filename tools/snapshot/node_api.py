"""The Node interface as the declarations that TypeScript users get, without comments."""

import pathlib
import re
import shutil
import subprocess

import setup

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.S | re.M)


def bare(source: str) -> list[str]:
    """The lines of a declaration file that say something to the compiler."""
    return [line.rstrip() for line in COMMENT.sub("", source).splitlines() if line.strip()]


def take() -> str:
    setup.npm()
    out = ROOT / "target" / "node-types"
    shutil.rmtree(out, ignore_errors=True)
    tsc = ["node_modules/.bin/tsc", "-p", "tsconfig.json", "--emitDeclarationOnly", "--outDir", str(out)]
    subprocess.run(tsc, cwd=ROOT / "node", check=True, stdin=subprocess.DEVNULL)
    parts = []
    for path in sorted(out.rglob("*.d.*ts")):
        parts += [f"== {path.relative_to(out)}", *bare(path.read_text()), ""]
    return "\n".join(parts)
