"""Size, alignment and offsets of every `repr(C)` struct of the core and of the structs it is made of.

The figures come from rustc's `-Zprint-type-sizes`, so nothing has to run on the target.
"""

import os
import re
import shutil
import subprocess

import cross

from . import rustdoc

TARGETS = ["x86_64-unknown-linux-gnu", "i686-unknown-linux-gnu", "thumbv7m-none-eabi"]

TYPE = re.compile(r"^print-type-size type: `(.+)`: (\d+) bytes, alignment: (\d+) bytes$")
FIELD = re.compile(
    r"^print-type-size     field `\.(\w+)`: (\d+) bytes(?:, offset: (\d+) bytes)?(?:, alignment: \d+ bytes)?$"
)
PADDING = re.compile(r"^print-type-size     (?:end )?padding: (\d+) bytes$")


def state_structs(doc: dict) -> list[str]:
    """Paths, without the crate's name, of the structs that are `repr(C)`."""
    found = []
    for number, item in doc["index"].items():
        reprs = [a["repr"] for a in item["attrs"] if isinstance(a, dict) and "repr" in a]
        if item["crate_id"] == 0 and "struct" in item["inner"] and any(r["kind"] == "c" for r in reprs):
            found.append("::".join(doc["paths"][number]["path"][1:]))
    return sorted(found)


def parse(output: str) -> dict[str, list[str]]:
    """Type -> its lines, in order of offset."""
    types: dict[str, list[str]] = {}
    lines: list[str] | None = None
    at = 0
    for line in output.splitlines():
        if match := TYPE.match(line):
            lines = types.setdefault(match[1], [])
            lines[:] = [f"{match[1]}: {match[2]} bytes, alignment {match[3]}"]
            at = 0
        elif lines is not None and (match := FIELD.match(line)):
            # Fields come in order of their offset, with the padding between them.
            lines.append(f"    {int(match[3] or at):4} {match[1]}: {match[2]} bytes")
            at = int(match[3] or at) + int(match[2])
        elif lines is not None and (match := PADDING.match(line)):
            lines.append(f"    {at:4} (padding): {match[1]} bytes")
            at += int(match[1])
    return types


def measure(triple: str) -> str:
    program, env, flags = cross.cargo(triple)
    folder = rustdoc.ROOT / "target" / "layouts"
    # The compiler prints only what it compiles anew.
    for stale in (folder / triple / "release" / ".fingerprint").glob("seawall-*"):
        shutil.rmtree(stale)
    command = [*program, "rustc", "--quiet", "-p", "seawall", "--lib", "--no-default-features", "--release", *flags]
    command += [*cross.TARGETS.get(triple, []), "--", "-Zprint-type-sizes"]
    env = {**os.environ, **env, "RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_DIR": str(folder)}
    done = subprocess.run(
        command, cwd=rustdoc.ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise SystemExit(f"layouts: {' '.join(command)} ended with status {done.returncode}")
    return done.stdout


def select(structs: list[str], types: dict[str, list[str]]) -> str:
    """The lines of these structs; one that the compiler never laid out is an error, not an omission."""
    lines = []
    for struct in structs:
        found = [name for name in sorted(types) if name == struct or name.startswith(f"{struct}<")]
        if not found:
            raise SystemExit(f"layouts: the compiler printed no layout of {struct}")
        for name in found:
            lines += types[name]
    return "\n".join(lines) + "\n"


def take() -> str:
    structs = state_structs(rustdoc.load("seawall", private=True))
    return "\n".join(f"== {triple}\n{select(structs, parse(measure(triple)))}" for triple in TARGETS)
