"""What the tests of the C face have in common: the library, the compilers, and a count of what passed."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FFI = ROOT / "ffi"
OUT = ROOT / "target" / "ffi"
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

import setup  # noqa: E402

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
INCLUDE = [f"-I{FFI / 'include'}"]
SYSTEM = ["-lpthread", "-ldl", "-lm"]


def run(command: list, seconds: float = 300, **extra_env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env={**os.environ, **extra_env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=seconds,
    )


def must(command: list, **extra_env: str) -> str:
    done = run(command, 900, **extra_env)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nthis failed: {' '.join(map(str, command))}")
    return done.stdout


def library() -> pathlib.Path:
    """The folder with libseawall.a and libseawall.so, as they ship."""
    must(["cargo", "build", "-q", "-p", "seawall-ffi", "--profile", "c"])
    OUT.mkdir(parents=True, exist_ok=True)
    return ROOT / "target" / "c"


def compilers() -> list[str]:
    setup.debian(["gcc", "g++", "clang", "libc6-dev"])
    return [name for name in ("gcc", "clang") if shutil.which(name)]


class Results:
    """Counts checks, and ends with `N passed, N failed`."""

    def __init__(self) -> None:
        self.passed = self.failed = 0

    def check(self, name: str, why: str = "") -> None:
        """One check; `why` says why it failed, if it did."""
        print(f"{'FAILED' if why else 'ok'} {name}", flush=True)
        if why:
            print(why, flush=True)
            self.failed += 1
        else:
            self.passed += 1

    def program(self, name: str, done: subprocess.CompletedProcess) -> None:
        """A test program that closes with `N passed, N failed` itself."""
        last = (done.stdout.strip().splitlines() or [""])[-1].split()
        counted = len(last) == 4 and last[1] == "passed," and last[3] == "failed"
        passed, failed = (int(last[0]), int(last[2])) if counted else (0, 0)
        if done.returncode and not failed or not counted:
            self.check(name, f"{done.stdout}\nended with status {done.returncode} and no count of failures")
            return
        print(f"{'FAILED' if failed else 'ok'} {name}: {passed} passed, {failed} of them failed", flush=True)
        if failed:
            print(done.stdout)
        self.passed, self.failed = self.passed + passed, self.failed + failed

    def end(self) -> int:
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
