#!/usr/bin/env python3
"""Build libseawall and install it: header, libraries, pkg-config and CMake files.

    install.py PREFIX

The folder may be moved afterwards; nothing in it names where it was.
"""

import json
import pathlib
import shutil
import subprocess
import sys

FFI = pathlib.Path(__file__).resolve().parent
ROOT = FFI.parent
# What Rust's standard library asks of the system when it is linked statically.
SYSTEM = ["-lpthread", "-ldl", "-lm", "-lgcc_s"]


def version() -> str:
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)["packages"]
    return next(package["version"] for package in packages if package["name"] == "seawall-ffi")


def install(prefix: pathlib.Path) -> None:
    subprocess.run(["cargo", "build", "-q", "-p", "seawall-ffi", "--profile", "c"], cwd=ROOT, check=True)
    full = version()
    major, minor, _ = full.split(".")
    include, lib = prefix / "include", prefix / "lib"
    config = lib / "cmake" / "seawall"
    for folder in (include, config, lib / "pkgconfig"):
        folder.mkdir(parents=True, exist_ok=True)
    for header in (FFI / "include").glob("*.h"):
        shutil.copy(header, include)
    built = ROOT / "target" / "c"
    shutil.copy(built / "libseawall.a", lib)
    shutil.copy(built / "libseawall.so", lib / f"libseawall.so.{full}")
    for link, to in ((f"libseawall.so.{major}", f"libseawall.so.{full}"), ("libseawall.so", f"libseawall.so.{major}")):
        (lib / link).unlink(missing_ok=True)
        (lib / link).symlink_to(to)
    for name, folder, separator in (
        ("seawall.pc", lib / "pkgconfig", " "),
        ("seawall-config.cmake", config, ";"),
        ("seawall-config-version.cmake", config, ";"),
    ):
        text = (FFI / "package" / f"{name}.in").read_text()
        for word, value in (("VERSION", full), ("MAJOR", major), ("MINOR", minor), ("SYSTEM", separator.join(SYSTEM))):
            text = text.replace(f"@{word}@", value)
        (folder / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    install(pathlib.Path(sys.argv[1]).resolve())
