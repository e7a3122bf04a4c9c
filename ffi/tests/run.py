#!/usr/bin/env python3
"""Build and run the tests of the C face: gcc and clang, with and without sanitizers.

    run.py [--long]         --long: any bytes from twenty more seeds, signals with both compilers

Closes with `N passed, N failed`.
"""

import pathlib
import sys

import build
from build import FFI, INCLUDE, OUT, STRICT, SYSTEM, Results, must, run

TESTS = FFI / "tests"
HOST = "x86_64-unknown-linux-gnu"
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
# name: more sources. The one about signals takes a signal per instruction: once is enough.
PROGRAMS = {
    "circuit_breaker": [],
    "token_bucket": [],
    "backoff": [],
    "retry_budget": [],
    "policy": [],
    "wire": [],
    "deadline": [],
    "event_ring": [],
    "misuse": [],
    "threads": [],
    "vectors": ["replay.c"],
    "policy_vectors": [],
    "asked_vectors": [],
}
# Two translation units see the header, so that nothing in it is defined twice.
HEADER = {
    "c": '#include "seawall.h"\n#include "seawall.h"\n'
    "sw_status start(sw_circuit_breaker *b, const sw_circuit_breaker_config *c)"
    "{ return sw_circuit_breaker_init(b, c); }\n",
    "cpp": '#include "seawall.h"\n'
    "static SW_EVENT_RING_STORAGE(events, 8);\n"
    'static_assert(sizeof events == 16 + 32 * 8, "");\n'
    'static_assert(alignof(sw_circuit_breaker) == 8 && sizeof(sw_circuit_breaker) == 264, "");\n'
    "int main() {\n"
    "    sw_circuit_breaker breaker = {};\n"
    "    sw_circuit_breaker_config config = sw_circuit_breaker_config_default();\n"
    "    config.mode = SW_MODE_SHADOW;\n"
    "    sw_rejection no = {};\n"
    "    bool never = no.when == SW_WHEN_NEVER;\n"
    "    return sw_circuit_breaker_init(&breaker, &config) == SW_OK\n"
    "        && sw_event_ring_init(&events.ring, sizeof events) == SW_OK && !never ? 0 : 1;\n"
    "}\n",
}


def compile_(compiler: str, sources: list, out: pathlib.Path, library: pathlib.Path, *flags: str) -> str:
    """Compiles and links statically; why it failed, if it did."""
    command = [compiler, *STRICT, "-g", *flags, *INCLUDE, f"-I{TESTS}", f"-I{OUT}", *sources]
    done = run([*command, library / "libseawall.a", *SYSTEM, "-o", out])
    return done.stdout if done.returncode else ""


def test(results: Results, compiler: str, name: str, library: pathlib.Path, label: str, *flags: str) -> None:
    out = OUT / f"{name}-{label}"
    sources = [TESTS / f"{name}.c", *(TESTS / more for more in PROGRAMS.get(name, []))]
    why = compile_(compiler, sources, out, library, "-std=c11", *flags)
    if why:
        results.check(f"{name} ({label}) compiles", why)
    else:
        results.program(f"{name} ({label})", run([out]))


def header(results: Results, compiler: str, library: pathlib.Path) -> None:
    for language, standards in (("c", ("c11", "gnu11", "c17", "gnu17", "c2x")), ("cpp", ("c++17", "gnu++17", "c++20"))):
        source = OUT / f"header.{language}"
        source.write_text(HEADER[language])
        for standard in standards:
            done = run([compiler, *STRICT, f"-std={standard}", *INCLUDE, "-c", source, "-o", OUT / "header.o"])
            results.check(f"the header is {standard} ({compiler})", done.stdout if done.returncode else "")
    plus = {"gcc": "g++", "clang": "clang++"}[compiler]
    why = compile_(plus, [OUT / "header.cpp"], OUT / "header", library, "-std=c++17")
    if not why:
        done = run([OUT / "header"])
        why = f"status {done.returncode}" if done.returncode else ""
    results.check(f"a C++ program runs ({plus})", why)


def example(results: Results, library: pathlib.Path) -> None:
    why = compile_("cc", [FFI / "examples" / "guard.c"], OUT / "guard", library, "-std=c11")
    if not why:
        done = run([OUT / "guard"])
        told = done.stdout.splitlines()
        opened = told and told[0] == "open, because failure_threshold"
        refusals = [line for line in told if line.startswith("refused: The circuit breaker is open; ask again in 30")]
        why = "" if done.returncode == 0 and opened and len(refusals) == 2 else done.stdout
    results.check("the example runs", why)


def sanitized() -> pathlib.Path:
    """The library with AddressSanitizer inside, for the host's own clang to link."""
    folder = build.ROOT / "target" / "c-address"
    must(
        ["cargo", "rustc", "-q", "-p", "seawall-ffi", "--profile", "c", "--target", HOST, "--crate-type", "staticlib"],
        RUSTC_BOOTSTRAP="1",
        RUSTFLAGS="-Zsanitizer=address",
        CARGO_TARGET_DIR=str(folder),
    )
    return folder / HOST / "c"


def runtimes() -> None:
    """clang's sanitizers, in the version that belongs to this clang."""
    trial = OUT / "trial.c"
    trial.write_text("int main(void) { return 0; }\n")
    if run(["clang", *SANITIZE, trial, "-o", OUT / "trial"]).returncode:
        major = must(["clang", "-dumpversion"]).split(".")[0]
        build.setup.debian([f"libclang-rt-{major}-dev"])


def main() -> int:
    results = Results()
    compilers = build.compilers()
    library = build.library()
    must([sys.executable, TESTS / "vectors_to_c.py", OUT / "vectors.inc"])
    must([sys.executable, TESTS / "policy_to_c.py", OUT / "policy_vectors.inc"])
    must([sys.executable, TESTS / "asked_to_c.py", OUT / "asked_vectors.inc"])
    for compiler in compilers:
        header(results, compiler, library)
        for name in PROGRAMS:
            test(results, compiler, name, library, compiler)
    test(results, compilers[0], "signal", library, compilers[0])
    example(results, library)
    runtimes()
    with_asan = sanitized()
    for name in PROGRAMS:
        test(results, "clang", name, with_asan, "sanitized", *SANITIZE)
    if sys.argv[1:] == ["--long"]:
        test(results, "clang", "signal", library, "clang")
        for seed in range(1, 21):
            results.program(f"misuse (sanitized, seed {seed})", run([OUT / "misuse-sanitized"], SEED=str(seed << 32)))
    return results.end()


if __name__ == "__main__":
    sys.exit(main())
