#!/usr/bin/env python3
"""The C library without std: it needs memcpy, memset and bcmp, and no panic can be reached in it.

Its panic handler (ffi/src/freestanding.rs) calls a function that does not exist. Linking every function
of the library, with unused sections dropped, therefore succeeds only when the compiler has proved every
panic unreachable. That this test can fail is shown on a copy with one bounds check put in.

Closes with `N passed, N failed`.
"""

import pathlib
import shutil
import sys

import build
from build import FFI, INCLUDE, OUT, ROOT, STRICT, Results, must, run

import cross

TESTS = FFI / "tests"
OTHERS = ["i686-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]
MISSING = "sw_a_panic_can_be_reached"
FREESTANDING = ["--no-default-features", "--features", "freestanding", "--crate-type", "staticlib"]
# A line of the face, and the same without its check.
CHECKED = "if let Some(byte) = buffer.get_mut(end) {\n                *byte = 0;\n            }"
UNCHECKED = "buffer[end] = 0;"

# What compilers call on their own, on any machine.
MEMORY = """#include <stddef.h>
__attribute__((optimize("no-tree-loop-distribute-patterns")))
void *memset(void *to, int byte, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)to)[i] = (unsigned char)byte;
    return to;
}
void *memcpy(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
int bcmp(const void *a, const void *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((const char *)a)[i] != ((const char *)b)[i])
            return 1;
    return 0;
}
"""

PLANTED = """[package]
name = "planted"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

[lib]
name = "seawall"
crate-type = ["staticlib"]

[features]
std = []
freestanding = []

[dependencies]
core_seawall = {{ package = "seawall", path = "{core}", default-features = false }}
portable-atomic = {{ version = "1.10", default-features = false }}

[profile.c]
inherits = "release"
panic = "abort"
lto = "fat"
codegen-units = 1
"""


def functions(library: pathlib.Path) -> list[str]:
    listed = must(["nm", "--defined-only", "--quiet", library]).split("\n")
    return sorted({line.split()[-1] for line in listed if " T sw_" in line})


def link_everything(library: pathlib.Path, out: pathlib.Path) -> str:
    """Links every function without a C library; what the linker said, if it failed."""
    memory = OUT / "memory.c"
    memory.write_text(MEMORY)
    roots = [f"-Wl,-u,{name}" for name in functions(library)]
    # -nostdlib: whatever else the library needed would be missing.
    flags = ["-nostdlib", "-static", "-ffreestanding", "-Wl,--gc-sections", "-Wl,-e,sw_version"]
    command = ["gcc", *flags, *roots, library, memory, "-o", out]
    done = run(command)
    return done.stdout if done.returncode else ""


def plant() -> str:
    """A copy in which one panic can be reached must not link; why that is not so, if it is not."""
    folder = OUT / "planted"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(FFI / "src", folder / "src")
    shutil.copy(ROOT / "Cargo.lock", folder)
    (folder / "Cargo.toml").write_text(PLANTED.format(core=ROOT / "core"))
    text = folder / "src" / "text.rs"
    if text.read_text().count(CHECKED) != 1:
        return "the line to be spoilt is not there any more"
    text.write_text(text.read_text().replace(CHECKED, UNCHECKED))
    target = ROOT / "target" / "freestanding"
    must(
        ["cargo", "rustc", "-q", "--manifest-path", folder / "Cargo.toml", "--profile", "c", *FREESTANDING],
        CARGO_TARGET_DIR=str(target / "planted"),
    )
    said = link_everything(target / "planted" / "c" / "libseawall.a", OUT / "planted.out")
    return "" if MISSING in said else f"it linked, or failed otherwise:\n{said}"


def builds_for(triple: str) -> str:
    """The sizes in the header are asserted while it compiles; why it does not, if so."""
    program, env, flags = cross.cargo(triple)
    env = {**env, "CARGO_TARGET_DIR": str(ROOT / "target" / "freestanding")}
    command = [*program, "rustc", "-q", "-p", "seawall-ffi", "--profile", "c", *FREESTANDING, *flags]
    done = run(command, 600, **env)
    return done.stdout if done.returncode else ""


def runs(results: Results, library: pathlib.Path, name: str, *more: str) -> None:
    out = OUT / f"{name}-freestanding"
    sources = [TESTS / f"{name}.c", *(TESTS / source for source in more)]
    flags = ["-std=c11", "-DSW_FREESTANDING", *INCLUDE, f"-I{TESTS}", f"-I{OUT}", "-Wl,--gc-sections"]
    done = run(["gcc", *STRICT, *flags, *sources, library, "-o", out])
    if done.returncode:
        results.check(f"{name} links", done.stdout)
    else:
        results.program(name, run([out]))


def main() -> int:
    results = Results()
    build.compilers()
    OUT.mkdir(parents=True, exist_ok=True)
    target = ROOT / "target" / "freestanding"
    must(
        ["cargo", "rustc", "-q", "-p", "seawall-ffi", "--profile", "c", *FREESTANDING],
        CARGO_TARGET_DIR=str(target),
    )
    library = target / "c" / "libseawall.a"
    names = functions(library)
    hosted = {"sw_now_ns", "sw_random_init_from_system"} & set(names)
    results.check(
        "the library has its functions, and none that needs a system", f"{names}" if hosted or len(names) < 40 else ""
    )
    results.check(
        f"all {len(names)} functions link with memcpy, memset and bcmp alone: no panic can be reached",
        link_everything(library, OUT / "all"),
    )
    results.check("a panic that can be reached does not link", plant())
    for triple in OTHERS:
        results.check(f"builds for {triple}, with the same sizes of state", builds_for(triple))
    must([sys.executable, TESTS / "vectors_to_c.py", OUT / "vectors.inc"])
    must([sys.executable, TESTS / "policy_to_c.py", OUT / "policy_vectors.inc"])
    must([sys.executable, TESTS / "asked_to_c.py", OUT / "asked_vectors.inc"])
    runs(results, library, "circuit_breaker")
    runs(results, library, "token_bucket")
    runs(results, library, "event_ring")
    runs(results, library, "policy")
    runs(results, library, "backoff")
    runs(results, library, "retry_budget")
    runs(results, library, "wire")
    runs(results, library, "deadline")
    runs(results, library, "vectors", "replay.c")
    runs(results, library, "policy_vectors")
    runs(results, library, "asked_vectors")
    return results.end()


if __name__ == "__main__":
    sys.exit(main())
