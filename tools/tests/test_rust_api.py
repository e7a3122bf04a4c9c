"""The printed public interface changes when, and only when, the interface does."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest

from snapshot.rust_api import render

SHOWN = [
    ("pub fn f(x: u64) -> Option<&'static str> { None }", "fn toy::f(x: u64) -> Option<&'static str>"),
    (
        "pub const unsafe fn f<const N: usize>(x: *mut [u8; N]) {}",
        "const unsafe fn toy::f<const N: usize>(x: *mut [u8; N])",
    ),
    (
        "#[must_use] pub fn f(_: impl Fn(u64) -> bool) -> u8 { 0 }",
        "#[must_use] fn toy::f(_: impl Fn(u64) -> bool) -> u8",
    ),
    ('pub extern "C" fn f() -> ! { loop {} }', 'extern "C" fn toy::f() -> !'),
    ("#[repr(C, align(64))] pub struct S(u8);", "#[repr(C, align(64))] struct toy::S"),
    ("pub struct S { pub a: u8, b: u8 }", "field toy::S::a: u8"),
    ("pub struct S { pub a: u8, b: u8 }", "field toy::S::_ (private)"),
    ("pub struct X<S: ?Sized = [u64]> { pub slots: S }", "struct toy::X<S: ?Sized = [u64]>"),
    ("#[non_exhaustive] pub enum E { A = 3 }", "#[non_exhaustive] enum toy::E"),
    ("#[non_exhaustive] #[repr(u8)] pub enum E { A = 3 }", "variant toy::E::A = 3"),
    ("pub enum E { A { at: u64 } }", "field toy::E::A::at: u64"),
    ("pub struct S; impl S { pub const C: u8 = 3; }", "const toy::S::C: u8 = 3"),
    ("pub struct S; impl S { pub const C: [u8; 1 + 1] = [3, 4]; }", "const toy::S::C: [u8; 2]"),
    ("pub fn f(x: &u8) -> impl Copy + use<> { 0u8 }", "fn toy::f(x: &u8) -> impl Copy + use<>"),
    ("pub struct S; impl S { pub fn f(&mut self) {} }", "fn toy::S::f(&mut self)"),
    ("pub struct S<T>(T); impl S<u8> { pub fn f(&self) {} }", "fn toy::S::f(&self)  (impl S<u8>)"),
    ("pub struct S; impl Clone for S { fn clone(&self) -> S { S } }", "toy::S: impl Clone for S"),
    ("pub struct S;", "toy::S: impl Send for S"),
    ("pub struct S(*const u8);", "toy::S: impl !Send for S"),
    ("pub trait T { type A: Copy; fn f(&self) {} }", "type toy::T::A: Copy"),
    ("pub trait T { fn f(&self) {} }", "fn toy::T::f(&self) { .. }"),
    ("pub trait T {} impl<X: T> T for &X {}", "toy::T: impl<X: T> T for &X"),
    ("pub trait T {} impl T for Box<u8> {}", "toy::T: impl T for Box<u8>"),
    ("mod m { pub struct S; } pub use m::S as R;", "struct toy::R"),
    ("pub mod m { pub const C: u64 = 1 << 3; }", "const toy::m::C: u64 = 8u64"),
    ("pub type A<'a> = &'a dyn Fn(u8);", "type toy::A<'a> = &'a dyn Fn(u8)"),
]

HIDDEN = [
    "fn f() {}",
    "mod m { pub struct S; }",
    "struct S; impl S { pub fn f(&self) {} }",
    "pub(crate) fn f() {}",
    "#[doc(hidden)] pub fn f() {}",
]


def interface(source: str) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "toy.rs").write_text(source)
        subprocess.run(
            ["rustdoc", "-Zunstable-options", "--output-format=json", "--edition=2024", "--crate-type=lib"]
            + ["--crate-name=toy", "-o", name, str(folder / "toy.rs")],
            env={**os.environ, "RUSTC_BOOTSTRAP": "1"},
            check=True,
            capture_output=True,
        )
        return render(json.loads((folder / "toy.json").read_text())).splitlines()


@pytest.fixture(scope="module")
def lines_of():
    """The lines of each source, as if it were a crate of its own; one run of rustdoc for all."""
    sources = list(dict.fromkeys([source for source, _ in SHOWN] + HIDDEN))
    lines = interface("".join(f"pub mod case{i}_ {{ {source} }}\n" for i, source in enumerate(sources)))

    def pick(source: str) -> list[str]:
        mark = re.compile(rf"\bcase{sources.index(source)}_(?:::|$)")
        return [mark.sub("", line) for line in lines if mark.search(line)]

    return pick


@pytest.mark.parametrize(("source", "line"), SHOWN)
def test_an_item_is_one_line(lines_of, source, line):
    assert line in lines_of(source)


@pytest.mark.parametrize("source", HIDDEN)
def test_what_is_not_public_is_not_shown(lines_of, source):
    assert lines_of(source) == ["mod toy::"]


def test_bodies_and_comments_do_not_matter():
    assert interface("/// One.\npub fn f() -> u8 { 1 }") == interface("/// Two.\n\npub fn f() -> u8 { 2 }")


def test_a_type_stands_in_full_at_its_shortest_path():
    lines = interface("pub mod a { pub struct S { pub x: u8 } } pub use a::S;")
    assert "struct toy::S" in lines and "field toy::S::x: u8" in lines
    assert "struct toy::a::S  (again)" in lines
