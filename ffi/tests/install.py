#!/usr/bin/env python3
"""Install the library into a fresh folder and build the example against it, as others would: with
pkg-config and with CMake, shared and static, from a place that the folder was moved to.

Closes with `N passed, N failed`.
"""

import os
import pathlib
import sys
import tempfile

import build
from build import FFI, Results, must, run

CMAKE = """cmake_minimum_required(VERSION 3.20)
project(consumer C)
find_package(seawall {version} REQUIRED)
foreach(kind seawall static)
    add_executable(guard-${{kind}} {example})
    target_link_libraries(guard-${{kind}} PRIVATE seawall::${{kind}})
endforeach()
"""
EXAMPLE = FFI / "examples" / "guard.c"


def told(program: pathlib.Path, **env: str) -> str:
    """Runs the example; why it is not what it should be, if so."""
    done = run([program], 30, **env)
    as_told = done.returncode == 0 and done.stdout.startswith("open, because failure_threshold\n")
    return "" if as_told else f"status {done.returncode}: {done.stdout}"


def with_pkg_config(results: Results, prefix: pathlib.Path, work: pathlib.Path) -> None:
    env = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = must(["pkg-config", "--cflags", "--libs", "seawall"], **env).split()
    done = run(["cc", "-std=c11", EXAMPLE, *flags, "-o", work / "shared"])
    why = done.stdout if done.returncode else told(work / "shared", LD_LIBRARY_PATH=str(prefix / "lib"))
    results.check("pkg-config, shared", why)
    needed = must(["readelf", "-d", work / "shared"])
    results.check("a program asks for the library by its version", "" if "[libseawall.so.0]" in needed else needed)

    # Without the shared library at hand, the static one it is.
    for link in (prefix / "lib").glob("libseawall.so*"):
        link.rename(work / link.name)
    flags = must(["pkg-config", "--cflags", "--libs", "--static", "seawall"], **env).split()
    done = run(["cc", "-std=c11", EXAMPLE, *flags, "-o", work / "static"])
    results.check("pkg-config, static", done.stdout if done.returncode else told(work / "static"))
    for link in work.glob("libseawall.so*"):
        link.rename(prefix / "lib" / link.name)
    version = must(["pkg-config", "--modversion", "seawall"], **env).strip()
    header = (FFI / "include" / "seawall.h").read_text()
    results.check("header and pkg-config name one version", "" if f'SW_VERSION "{version}"' in header else version)


def with_cmake(results: Results, prefix: pathlib.Path, work: pathlib.Path) -> None:
    for version, possible in (("0.1", True), ("0.2", False), ("1.0", False)):
        source = work / f"cmake-{version}"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(CMAKE.format(version=version, example=EXAMPLE))
        done = run(["cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}"])
        if not possible:
            results.check(f"CMake: asking for {version} is refused", "" if done.returncode else "it was found")
            continue
        if not done.returncode:
            done = run(["cmake", "--build", source / "build"])
        for kind in ("seawall", "static"):
            why = done.stdout if done.returncode else told(source / "build" / f"guard-{kind}")
            results.check(f"CMake: seawall::{kind}", why)


def main() -> int:
    results = Results()
    build.compilers()
    build.setup.debian(["pkg-config", "cmake", "make", "binutils"])
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        must([sys.executable, FFI / "install.py", work / "first"])
        prefix = work / "moved"
        os.rename(work / "first", prefix)
        with_pkg_config(results, prefix, work)
        with_cmake(results, prefix, work)
    return results.end()


if __name__ == "__main__":
    sys.exit(main())
