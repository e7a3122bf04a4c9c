from snapshot.node_api import bare

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
