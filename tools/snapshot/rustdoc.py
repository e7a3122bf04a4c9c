"""rustdoc's JSON of one crate, made with the stable toolchain, and its types written as Rust."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def load(package: str, private: bool = False) -> dict:
    folder = ROOT / "target" / "rustdoc-json"
    env = {**os.environ, "RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_DIR": str(folder)}
    command = ["cargo", "rustdoc", "--quiet", "--lib", "-p", package]
    command += ["--", "-Zunstable-options", "--output-format=json"]
    command += ["--document-private-items"] if private else []
    subprocess.run(command, cwd=ROOT, env=env, check=True, stdin=subprocess.DEVNULL)
    return json.loads((folder / "doc" / f"{package.replace('-', '_')}.json").read_text())


def path(written: str) -> str:
    """A path as written in the source, cut to what does not depend on the imports around it."""
    return written.removeprefix("$crate::").split("::")[-1]


def arguments(args: dict | None) -> str:
    if not args:
        return ""
    if inner := args.get("parenthesized"):
        output = f" -> {kind(inner['output'])}" if inner["output"] else ""
        return f"({', '.join(map(kind, inner['inputs']))}){output}"
    if inner := args.get("angle_bracketed"):
        parts = [argument(arg) for arg in inner["args"]] + [constraint(c) for c in inner["constraints"]]
        return f"<{', '.join(parts)}>" if parts else ""
    return unknown(args)


def argument(arg: dict | str) -> str:
    if arg == "infer":
        return "_"
    (tag, value), *_ = arg.items()
    return {"lifetime": lambda: value, "type": lambda: kind(value), "const": lambda: value["expr"]}.get(
        tag, lambda: unknown(arg)
    )()


def constraint(c: dict) -> str:
    (tag, value), *_ = c["binding"].items()
    name = c["name"] + arguments(c["args"])
    if tag == "equality":
        (what, term), *_ = value.items()
        return f"{name} = {kind(term) if what == 'type' else term['expr']}"
    return f"{name}: {bounds(value)}"


def bounds(items: list[dict]) -> str:
    return " + ".join(bound(item) for item in items)


def bound(item: dict) -> str:
    (tag, value), *_ = item.items()
    if tag == "outlives":
        return value
    if tag == "use":
        return f"use<{', '.join(next(iter(arg.values())) for arg in value)}>"
    if tag == "trait_bound":
        mark = {"none": "", "maybe": "?", "maybe_const": "~const "}[value["modifier"]]
        return forall(value["generic_params"]) + mark + trait(value["trait"])
    return unknown(item)


def forall(params: list[dict]) -> str:
    return f"for<{', '.join(param['name'] for param in params)}> " if params else ""


def trait(value: dict) -> str:
    return path(value["path"]) + arguments(value["args"])


def pointer(value: dict, mark: str) -> str:
    return f"{mark} {kind(value['type'])}"


def kind(t: dict | str) -> str:
    """A type, written as Rust."""
    if t == "infer":
        return "_"
    (tag, value), *_ = t.items()
    match tag:
        case "resolved_path":
            return path(value["path"]) + arguments(value["args"])
        case "primitive":
            return "!" if value == "never" else value
        case "generic":
            return value
        case "tuple":
            return f"({', '.join(map(kind, value))}{',' if len(value) == 1 else ''})"
        case "slice":
            return f"[{kind(value)}]"
        case "array":
            return f"[{kind(value['type'])}; {value['len']}]"
        case "borrowed_ref":
            life = f"{value['lifetime']} " if value["lifetime"] else ""
            return f"&{life}{'mut ' if value['is_mutable'] else ''}{kind(value['type'])}"
        case "raw_pointer":
            return pointer(value, "*mut" if value["is_mutable"] else "*const")
        case "impl_trait":
            return f"impl {bounds(value)}"
        case "dyn_trait":
            parts = [forall(p["generic_params"]) + trait(p["trait"]) for p in value["traits"]]
            return "dyn " + " + ".join(parts + ([value["lifetime"]] if value["lifetime"] else []))
        case "qualified_path":
            of = (
                f"<{kind(value['self_type'])} as {trait(value['trait'])}>"
                if value["trait"]
                else kind(value["self_type"])
            )
            return f"{of}::{value['name']}{arguments(value['args'])}"
        case "function_pointer":
            return f"{forall(value['generic_params'])}{qualifiers(value['header'])}fn{signature(value['sig'])}"
    return unknown(t)


def qualifiers(header: dict) -> str:
    abi = header["abi"] if isinstance(header["abi"], str) else next(iter(header["abi"]))
    words = [
        "const " if header["is_const"] else "",
        "async " if header["is_async"] else "",
        "unsafe " if header["is_unsafe"] else "",
        "" if abi == "Rust" else f'extern "{abi}" ',
    ]
    return "".join(words)


def signature(sig: dict) -> str:
    inputs = [receiver(name, t) for name, t in sig["inputs"]]
    output = f" -> {kind(sig['output'])}" if sig["output"] else ""
    return f"({', '.join(inputs)}{', ...' if sig['is_c_variadic'] else ''}){output}"


def receiver(name: str, t: dict) -> str:
    written = kind(t)
    if name == "self" and written.endswith("Self") and (written == "Self" or written.startswith("&")):
        return written.removesuffix("Self") + "self"
    return f"{name}: {written}"


def generics(g: dict) -> tuple[str, str]:
    """`<...>` and the where clause; what the compiler made up from `impl Trait` is left out."""
    params = []
    for param in g["params"]:
        (tag, value), *_ = param["kind"].items()
        if tag == "lifetime":
            out = " + ".join(value["outlives"])
            params.append(param["name"] + (f": {out}" if out else ""))
        elif tag == "type" and not value["is_synthetic"]:
            text = param["name"] + (f": {bounds(value['bounds'])}" if value["bounds"] else "")
            params.append(text + (f" = {kind(value['default'])}" if value["default"] else ""))
        elif tag == "const":
            default = f" = {value['default']}" if value["default"] else ""
            params.append(f"const {param['name']}: {kind(value['type'])}{default}")
    where = [predicate(p) for p in g["where_predicates"]]
    return (f"<{', '.join(params)}>" if params else ""), (f" where {', '.join(where)}" if where else "")


def predicate(p: dict) -> str:
    (tag, value), *_ = p.items()
    if tag == "bound_predicate":
        return f"{forall(value['generic_params'])}{kind(value['type'])}: {bounds(value['bounds'])}"
    if tag == "lifetime_predicate":
        return f"{value['lifetime']}: {' + '.join(value['outlives'])}"
    return unknown(p)


def unknown(value: object) -> str:
    """Something this file does not know yet still shows when it changes."""
    return json.dumps(value, sort_keys=True)
