"""The Node interface as the declarations that TypeScript users get, without comments."""

import pathlib
import re
import shutil
import subprocess

import setup

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What `seawall` and `seawall/testing` lead to.
ENTRIES = ["index", "testing"]
COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.S | re.M)
REEXPORT = re.compile(r'export (?:type )?\{([^}]*)\} from "\./([\w-]+)\.m?js"')
DECLARED = re.compile(r"export (?:declare )?(?:abstract )?(?:class|const|enum|function|interface|type|let) (\w+)")


def bare(source: str) -> list[str]:
    """The lines of a declaration file that say something to the compiler."""
    return [line.rstrip() for line in COMMENT.sub("", source).splitlines() if line.strip()]


def reexported(source: str) -> list[tuple[str, str]]:
    """(module, name) of everything that a file passes on by name."""
    found = []
    for names, module in REEXPORT.findall(COMMENT.sub("", source)):
        for name in filter(None, (part.strip().removeprefix("type ") for part in names.split(","))):
            found.append((module, name.split(" as ")[0].strip()))
    return found


def declarations(source: str) -> dict[str, list[str]]:
    """The exported declarations of a file by name (overloads together), each with all of its lines."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in bare(source):
        if not line.startswith((" ", "}")):
            match = DECLARED.match(line)
            current = found.setdefault(match[1], []) if match else None
        if current is not None:
            current.append(line)
    return found


def interface(folder: pathlib.Path) -> str:
    """What the entries export; the modules behind them may be cut up otherwise."""
    parts = []
    for entry in ENTRIES:
        source = (folder / f"{entry}.d.ts").read_text()
        parts.append(f"== {entry}")
        names = reexported(source)
        own = declarations(source)
        for name in sorted(own):
            parts += [*own[name], ""]
        for module, name in sorted(names, key=lambda pair: pair[1]):
            parts += [*declarations((folder / f"{module}.d.ts").read_text())[name], ""]
    return "\n".join(parts)


def take() -> str:
    setup.npm()
    out = ROOT / "target" / "node-types"
    shutil.rmtree(out, ignore_errors=True)
    tsc = ["node_modules/.bin/tsc", "-p", "tsconfig.json", "--emitDeclarationOnly", "--outDir", str(out)]
    subprocess.run(tsc, cwd=ROOT / "node", check=True, stdin=subprocess.DEVNULL)
    return interface(out)
