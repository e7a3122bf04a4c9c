from snapshot.node_api import bare, interface

DECLARATIONS = """\
/** Why
 *  it refused. */
export declare class Refusal {
    /** When. */
    readonly at?: number;

    // a note
    toString(): string;
}
"""


def test_comments_and_blank_lines_are_left_out():
    assert bare(DECLARATIONS) == [
        "export declare class Refusal {",
        "    readonly at?: number;",
        "    toString(): string;",
        "}",
    ]


def test_only_what_the_entries_export_is_kept_wherever_it_is_declared(tmp_path):
    (tmp_path / "index.d.ts").write_text(
        'export { Refusal, type When, } from "./refusal.js";\nexport type { Span } from "./span.js";\n'
    )
    (tmp_path / "testing.d.ts").write_text(
        'import { X } from "./x.js";\nexport declare class Clock {\n    now(): X;\n}\n'
    )
    (tmp_path / "refusal.d.ts").write_text(
        DECLARATIONS + "export declare function internal(): void;\nexport type When = {\n    at: number;\n};\n"
    )
    (tmp_path / "span.d.ts").write_text("export type Span = number | string;\nexport declare const INTERNAL: 1;\n")
    assert interface(tmp_path).splitlines() == [
        "== index",
        *bare(DECLARATIONS),
        "",
        "export type Span = number | string;",
        "",
        "export type When = {",
        "    at: number;",
        "};",
        "",
        "== testing",
        "export declare class Clock {",
        "    now(): X;",
        "}",
    ]
