"""The public Rust interface: one line per item, in the order of its path."""

import json
import re

from . import rustdoc
from .rustdoc import bounds, generics, kind, qualifiers, signature, trait

# Every type has these or not by what is in it; that they change is worth seeing, the rest of
# rustdoc's automatic traits is not.
AUTO = {"Send", "Sync", "Unpin"}
DERIVED = {"StructuralPartialEq", "Freeze", "UnsafeUnpin"}


class Printer:
    def __init__(self, doc: dict):
        self.index = doc["index"]
        self.lines: list[str] = []
        self.types_seen: set[int] = set()
        self.modules_open: set[int] = set()
        self.module(doc["root"], self.index[str(doc["root"])]["name"])

    def item(self, number: int) -> dict | None:
        return self.index.get(str(number))

    def say(self, text: str, item: dict | None = None) -> None:
        marks = []
        for attr in (item or {}).get("attrs", []):
            if attr == "non_exhaustive":
                marks.append("#[non_exhaustive]")
            elif isinstance(attr, dict) and "must_use" in attr:
                marks.append("#[must_use]")
            elif isinstance(attr, dict) and "repr" in attr:
                marks.append("#[repr(" + repr_words(attr["repr"]) + ")]")
        if (item or {}).get("deprecation"):
            marks.append("#[deprecated]")
        self.lines.append(" ".join([*marks, text]))

    def module(self, number: int, path: str) -> None:
        if number in self.modules_open:
            return
        self.modules_open.add(number)
        self.say(f"mod {path}")
        # What stands here first, so that a type is described at its shortest path.
        for child in sorted(self.item(number)["inner"]["module"]["items"], key=self.leads_on):
            self.any(child, path)
        self.modules_open.discard(number)

    def leads_on(self, number: int) -> bool:
        inner = (self.item(number) or {"inner": {}})["inner"]
        if use := inner.get("use"):
            target = self.item(use["id"]) if use["id"] is not None else None
            inner = target["inner"] if target else {}
        return "module" in inner

    def any(self, number: int, path: str, name: str | None = None) -> None:
        item = self.item(number)
        if item is None:
            return
        (tag, inner), *_ = item["inner"].items()
        here = f"{path}::{name or item['name']}"
        if tag == "use":
            self.use(inner, path)
        elif tag == "module":
            self.module(number, here)
        elif tag in ("struct", "union", "enum"):
            self.type(tag, number, item, inner, here)
        elif tag == "trait":
            self.trait(item, inner, here)
        elif tag == "function":
            self.function(item, inner, here)
        elif tag == "constant":
            self.say(f"const {here}: {kind(inner['type'])} = {inner['const']['value'] or inner['const']['expr']}", item)
        elif tag == "assoc_const":
            value = inner["value"]
            self.say(f"const {here}: {kind(inner['type'])}" + (f" = {value}" if value not in (None, "_") else ""), item)
        elif tag == "static":
            self.say(f"static {here}: {kind(inner['type'])}", item)
        elif tag == "type_alias":
            params, where = generics(inner["generics"])
            self.say(f"type {here}{params} = {kind(inner['type'])}{where}", item)
        elif tag == "macro":
            self.say(f"macro {here}!", item)
        else:
            self.say(f"{tag} {here} {json.dumps(inner, sort_keys=True)}", item)

    def use(self, inner: dict, path: str) -> None:
        target = self.item(inner["id"]) if inner["id"] is not None else None
        if target is None:
            self.say(f"use {path}::{inner['name']} = {inner['source']}")
        elif inner["is_glob"]:
            children = target["inner"].get("module", {}).get("items") or target["inner"].get("enum", {}).get(
                "variants", []
            )
            for child in children:
                self.any(child, path)
        elif "module" in target["inner"]:
            self.module(inner["id"], f"{path}::{inner['name']}")
        else:
            self.any(inner["id"], path, inner["name"])

    def type(self, tag: str, number: int, item: dict, inner: dict, here: str) -> None:
        params, where = generics(inner["generics"])
        self.say(f"{tag} {here}{params}{where}", item)
        if number in self.types_seen:
            self.lines[-1] += "  (again)"
            return
        self.types_seen.add(number)
        if tag == "enum":
            for variant in inner["variants"]:
                self.variant(variant, here)
        elif tag == "struct":
            self.fields(inner["kind"], here)
        for impl in inner["impls"]:
            self.impl(impl, here)

    def fields(self, shape: dict | str, here: str) -> None:
        if isinstance(shape, dict):
            (tag, value), *_ = shape.items()
            numbers = value if tag == "tuple" else value["fields"]
            hidden = None in numbers if tag == "tuple" else value["has_stripped_fields"]
            for number in numbers:
                if number is not None and (field := self.item(number)):
                    self.say(f"field {here}::{field['name']}: {kind(field['inner']['struct_field'])}", field)
            if hidden:
                self.say(f"field {here}::_ (private)")

    def variant(self, number: int, here: str) -> None:
        item = self.item(number)
        if item is None:
            return
        inner = item["inner"]["variant"]
        value = f" = {inner['discriminant']['expr']}" if inner["discriminant"] else ""
        self.say(f"variant {here}::{item['name']}{value}", item)
        shape = inner["kind"]
        self.fields(shape if isinstance(shape, dict) else "plain", f"{here}::{item['name']}")

    def impl(self, number: int, here: str) -> None:
        item = self.item(number)
        if item is None:
            return
        inner = item["inner"]["impl"]
        of = inner["trait"]
        if inner["blanket_impl"] is not None or (of and rustdoc.path(of["path"]) in DERIVED):
            return
        if of and inner["is_synthetic"] and rustdoc.path(of["path"]) not in AUTO:
            return
        if of is None:
            params, where = generics(inner["generics"])
            # Methods of a restricted impl say where they hold.
            of = kind(inner["for"])
            hold = f"  (impl{params} {of}{where})" if params or where or "<" in of else ""
            for child in inner["items"]:
                before = len(self.lines)
                self.any(child, here)
                if len(self.lines) > before:
                    self.lines[-1] += hold
            return
        params, where = generics(inner["generics"])
        mark = "!" if inner["is_negative"] else ""
        unsafe = "unsafe " if inner["is_unsafe"] else ""
        self.say(f"{here}: {unsafe}impl{params} {mark}{trait(of)} for {kind(inner['for'])}{where}")
        for child in inner["items"]:
            found = self.item(child)
            if found and (assoc := found["inner"].get("assoc_type")) and assoc["type"]:
                self.lines[-1] += f" {{ type {found['name']} = {kind(assoc['type'])} }}"

    def trait(self, item: dict, inner: dict, here: str) -> None:
        params, where = generics(inner["generics"])
        unsafe = "unsafe " if inner["is_unsafe"] else ""
        above = f": {bounds(inner['bounds'])}" if inner["bounds"] else ""
        self.say(f"{unsafe}trait {here}{params}{above}{where}", item)
        for number in inner["implementations"]:
            impl = self.item(number)
            # Those for types of this crate stand with the type.
            if impl and not self.ours(impl["inner"]["impl"]["for"]):
                self.impl(number, here)
        for child in inner["items"]:
            found = self.item(child)
            if found is None:
                continue
            (tag, value), *_ = found["inner"].items()
            name = f"{here}::{found['name']}"
            if tag == "function":
                self.function(found, value, name, " { .. }" if value["has_body"] else "")
            elif tag == "assoc_const":
                default = f" = {value['value']}" if value["value"] else ""
                self.say(f"const {name}: {kind(value['type'])}{default}", found)
            elif tag == "assoc_type":
                params, where = generics(value["generics"])
                above = f": {bounds(value['bounds'])}" if value["bounds"] else ""
                self.say(f"type {name}{params}{above}{where}", found)

    def ours(self, t: dict | str) -> bool:
        named = t.get("resolved_path") if isinstance(t, dict) else None
        return bool(named and (found := self.item(named["id"])) and found["crate_id"] == 0)

    def function(self, item: dict, inner: dict, here: str, end: str = "") -> None:
        params, where = generics(inner["generics"])
        self.say(f"{qualifiers(inner['header'])}fn {here}{params}{signature(inner['sig'])}{where}{end}", item)


def repr_words(value: dict) -> str:
    words = [] if value["kind"] == "rust" else [{"c": "C"}.get(value["kind"], value["kind"])]
    words += [value["int"]] if value.get("int") else []
    words += [f"align({value['align']})"] if value.get("align") else []
    words += [f"packed({value['packed']})"] if value.get("packed") else []
    return ", ".join(words)


def by_path(line: str) -> tuple[str, str]:
    found = re.search(r"\b(?:\w+::)+\w+", line)
    return (found[0] if found else "", line)


def render(doc: dict) -> str:
    return "\n".join(sorted(Printer(doc).lines, key=by_path)) + "\n"


def take() -> str:
    return render(rustdoc.load("seawall"))
