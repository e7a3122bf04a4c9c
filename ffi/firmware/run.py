#!/usr/bin/env python3
"""The C library on microcontrollers: the vectors in QEMU on a Cortex-M3 and a Cortex-M0, and what both
primitives cost in flash and RAM on thumbv7m.

    run.py [sizes]          with `sizes`, only the table of sizes

That an image links at all says that no panic can be reached (ffi/src/freestanding.rs). Closes with
`N passed, N failed`.
"""

import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

import build
from build import FFI, INCLUDE, ROOT, STRICT, Results, must, run

import cross

HERE = FFI / "firmware"
TESTS = FFI / "tests"
OUT = ROOT / "target" / "firmware"
# machine of QEMU: Rust target, processor, how many steps of the vectors fit (None: all).
MACHINES = {
    "mps2-an385": ("thumbv7m-none-eabi", "cortex-m3", None),
    "microbit": ("thumbv6m-none-eabi", "cortex-m0", 600),
}
PRIMITIVES = {"circuit_breaker": ["-DCIRCUIT_BREAKER"], "token_bucket": ["-DTOKEN_BUCKET"]}


def library(triple: str) -> pathlib.Path:
    program, env, flags = cross.cargo(triple)
    env = {**env, "CARGO_TARGET_DIR": str(OUT / "rust")}
    must([*program, "build", "-q", "--manifest-path", HERE / "Cargo.toml", "--release", *flags], **env)
    return OUT / "rust" / triple / "release" / "libseawall.a"


def image(machine: str, name: str, sources: list[pathlib.Path], *flags: str) -> tuple[pathlib.Path, str]:
    """Links an image; the image and why it failed, if it did."""
    triple, processor, _ = MACHINES[machine]
    archive = library(triple)
    folder = OUT / machine
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"{name}.elf"
    code = [f"-mcpu={processor}", "-mthumb", "-Os", "-std=c11", "-ffreestanding", "-ffunction-sections"]
    code += ["-fdata-sections", *STRICT]
    link = ["-nostdlib", "-Wl,--gc-sections", f"-L{HERE}", f"-T{HERE / machine}.ld"]
    include = [*INCLUDE, f"-I{HERE}", f"-I{TESTS}", f"-I{folder}"]
    done = run(
        ["arm-none-eabi-gcc", *code, *flags, *include, *sources, HERE / "start.c", archive, "-lgcc", *link, "-o", out]
    )
    return out, done.stdout if done.returncode else ""


def vectors(results: Results, machine: str) -> None:
    _, processor, steps = MACHINES[machine]
    folder = OUT / machine
    folder.mkdir(parents=True, exist_ok=True)
    bound = [] if steps is None else ["--steps", steps]
    told = must([sys.executable, TESTS / "vectors_to_c.py", folder / "vectors.inc", *bound]).strip()
    out, why = image(machine, "vectors", [HERE / "vectors.c", TESTS / "replay.c"])
    if why:
        results.check(f"{machine}: the image links", why)
        return
    emulator = ["qemu-system-arm", "-cpu", processor, "-machine", machine, "-nographic", "-monitor", "none"]
    try:
        done = run([*emulator, "-semihosting-config", "enable=on,target=native", "-kernel", out], 120)
    except subprocess.TimeoutExpired:
        results.check(f"{machine}: the vectors", "no end within 2 minutes")
        return
    results.program(f"{machine} ({MACHINES[machine][0]}, {told})", done)


def size(out: pathlib.Path) -> tuple[int, int]:
    """Flash and RAM of an image, without its stack."""
    text, data, bss = must(["arm-none-eabi-size", out]).splitlines()[1].split()[:3]
    return int(text) + int(data), int(data) + int(bss)


def sizes(results: Results) -> None:
    empty, why = image("mps2-an385", "empty", [HERE / "size.c"])
    if why:
        results.check("an empty image links", why)
        return
    base = size(empty)
    print("thumbv7m, above an empty image:   flash      RAM", flush=True)
    every = [flag for flags in PRIMITIVES.values() for flag in flags]
    for name, flags in [*PRIMITIVES.items(), ("both", every)]:
        out, why = image("mps2-an385", name, [HERE / "size.c"], *flags)
        if not why:
            flash, ram = (have - less for have, less in zip(size(out), base, strict=True))
            print(f"  {name:30} {flash:6} B {ram:6} B")
            why = "" if flash > 0 and ram > 0 else "an image with it is no larger than one without"
        results.check(f"size of {name}", why)


def main() -> int:
    results = Results()
    build.setup.debian(["gcc-arm-none-eabi", "qemu-system-arm"])
    if missing := [tool for tool in ("arm-none-eabi-gcc", "qemu-system-arm") if not shutil.which(tool)]:
        raise SystemExit(f"these are needed: {' '.join(missing)}")
    if sys.argv[1:] != ["sizes"]:
        for machine in MACHINES:
            vectors(results, machine)
        library("riscv32imac-unknown-none-elf")
        results.check("builds for riscv32imac")
    sizes(results)
    return results.end()


if __name__ == "__main__":
    sys.exit(main())
