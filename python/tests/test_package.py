"""`pip install ./python` works in a fresh virtual environment, and so does the source distribution.

Both build the native module, which takes a minute each; they share one target folder.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
TARGET = PACKAGE.parent / "target" / "package"
TRY = """
import seawall, pathlib, sys
assert pathlib.Path(seawall.__file__).is_relative_to(sys.prefix), seawall.__file__
assert seawall.CircuitBreaker().call(int) == 0 and seawall.TokenBucket(5, 20).allow() == (True, 0)
"""


def done(*command, cwd=None):
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["CARGO_TARGET_DIR"] = str(TARGET)
    ran = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, cwd=cwd, env=environment, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def fresh(path):
    done(sys.executable, "-m", "venv", path)
    return path / "bin" / "python"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    out = tmp_path_factory.mktemp("sdist")
    done(sys.executable, "-m", "maturin", "sdist", "--out", out, cwd=PACKAGE)
    (found,) = out.glob("*.tar.gz")
    return found


def test_pip_install_of_the_folder(tmp_path):
    python = fresh(tmp_path / "venv")
    done(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE)
    done(python, "-c", TRY, cwd=tmp_path)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    assert (site / "seawall" / "py.typed").is_file() and (site / "seawall" / "_seawall.pyi").is_file()
    (info,) = site.glob("seawall-*.dist-info")
    metadata = (info / "METADATA").read_text()
    for line in ("Name: seawall", "License-Expression: MIT OR Apache-2.0", "Requires-Python: >=3.10"):
        assert line in metadata.splitlines()
    assert "Classifier: Typing :: Typed" in metadata and "Requires-Dist" not in metadata


def test_the_source_distribution_has_what_it_needs(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "PKG-INFO", "Cargo.lock"} <= names
    assert {"core/src/lib.rs", "host/src/lib.rs", "python/src/lib.rs"} <= names
    assert any(name.endswith("seawall/_seawall.pyi") for name in names)
    assert not [name for name in names if name.endswith((".so", ".pyc")) or "target/" in name]


def test_the_source_distribution_builds_away_from_the_workspace(sdist, tmp_path):
    wheels = tmp_path / "wheels"
    done(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--wheel-dir", wheels, sdist)
    (wheel,) = wheels.glob("*.whl")
    assert "-cp310-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert "seawall/_seawall.abi3.so" in names and "seawall/py.typed" in names
    python = fresh(tmp_path / "venv")
    done(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheel)
    done(python, "-c", TRY, cwd=tmp_path)
