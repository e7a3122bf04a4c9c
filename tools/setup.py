#!/usr/bin/env python3
"""Set up what a target of the Makefile needs, and only what is missing.

    setup.py NEED ...        NEED: venv, npm, python, debian:PACKAGE, cargo:CRATE@VERSION, target:TRIPLE

Safe to run at any time; a second run only looks. Debian packages are installed with apt-get when
run as root; otherwise the exact command is printed and the run ends.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
REQUIREMENTS = ["tools/requirements.txt", "python/requirements-test.txt", "demo/requirements.txt"]


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)


def run(*command: str, cwd: pathlib.Path = ROOT, **extra_env: str) -> None:
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **extra_env}, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"setup: this failed (status {done.returncode}): {' '.join(command)}")


def digest(paths: list[pathlib.Path], *more: str) -> str:
    sha = hashlib.sha256("\0".join(more).encode())
    for path in paths:
        sha.update(path.read_bytes())
    return sha.hexdigest()


def stamped(stamp: pathlib.Path, key: str) -> bool:
    return stamp.is_file() and stamp.read_text() == key


def debian(packages: list[str]) -> None:
    if not shutil.which("dpkg-query"):
        say(f"no dpkg here; this needs what Debian calls: {' '.join(packages)}")
        return
    query = subprocess.run(
        ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *packages], capture_output=True, text=True
    )
    have = {line.split()[0] for line in query.stdout.splitlines() if line.endswith(" installed")}
    missing = [package for package in packages if package not in have]
    if not missing:
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        raise SystemExit(
            f"setup: Debian packages are missing. Run this, then again what you ran:\n    sudo {' '.join(install)}"
        )
    say(f"installing Debian packages: {' '.join(missing)}")
    run("apt-get", "update", "-qq")
    run(*install, DEBIAN_FRONTEND="noninteractive")


def venv() -> None:
    files = [ROOT / name for name in REQUIREMENTS if (ROOT / name).is_file()]
    stamp = VENV / "stamp"
    key = digest(files, sys.version)
    if stamped(stamp, key):
        return
    say("making .venv")
    if subprocess.run([sys.executable, "-c", "import ensurepip"], capture_output=True).returncode:
        debian(["python3-venv"])
    run(sys.executable, "-m", "venv", "--clear", str(VENV))
    arguments = [word for path in files for word in ("-r", str(path))]
    run(str(VENV / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *arguments)
    stamp.write_text(key)


def npm() -> None:
    package = ROOT / "node"
    lock = package / "package-lock.json"
    if not lock.is_file():
        raise SystemExit("setup: node/package-lock.json is missing")
    stamp = package / "node_modules" / ".stamp"
    node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    key = digest([lock], node)
    if stamped(stamp, key):
        return
    say("installing npm packages")
    run("npm", "ci", "--no-audit", "--no-fund", cwd=package)
    stamp.write_text(key)


def python() -> None:
    """The Python face as it is in the tree, built into .venv."""
    venv()
    sources = [ROOT / "Cargo.toml", ROOT / "Cargo.lock", ROOT / "python" / "pyproject.toml"]
    for folder in ("core", "host", "python"):
        sources += sorted([ROOT / folder / "Cargo.toml", *(ROOT / folder / "src").rglob("*.rs")])
    stamp = VENV / "python-stamp"
    key = digest(sources)
    if stamped(stamp, key):
        return
    say("building the Python face")
    maturin = str(VENV / "bin" / "maturin")
    run(maturin, "develop", "--quiet", cwd=ROOT / "python", VIRTUAL_ENV=str(VENV))
    stamp.write_text(key)


def cargo(crate: str, version: str) -> None:
    listed = subprocess.run(["cargo", "install", "--list"], capture_output=True, text=True).stdout
    if f"{crate} v{version}:" not in listed:
        say(f"installing {crate} {version}")
        run("cargo", "install", "--locked", "--quiet", f"{crate}@{version}")


def main() -> None:
    needs = sys.argv[1:]
    if not needs:
        raise SystemExit(__doc__)
    packages = [need.removeprefix("debian:") for need in needs if need.startswith("debian:")]
    if packages:
        debian(packages)
    for need in needs:
        kind, _, rest = need.partition(":")
        if kind == "venv":
            venv()
        elif kind == "npm":
            npm()
        elif kind == "python":
            python()
        elif kind == "cargo":
            cargo(*rest.split("@"))
        elif kind == "target":
            import cross

            cross.ensure(rest)
        elif kind != "debian":
            raise SystemExit(f"setup: what is {need!r}?")


if __name__ == "__main__":
    main()
