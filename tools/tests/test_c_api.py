from snapshot.c_api import declarations, symbols


def test_exported_names_are_sorted():
    assert symbols("0000000000001120 T sw_b\n0000000000001100 T sw_a\n") == ["sw_a", "sw_b"]


PREPROCESSED = """\
# 1 "inc/seawall.h"
# 1 "/usr/include/stdint.h" 1 3 4
typedef unsigned long uint64_t;
# 2 "inc/seawall.h" 2
struct sw_permit { uint64_t a;
   uint64_t  b; };
enum sw_reason { SW_REASON_OPEN = 10, };

int  sw_admit(struct sw_permit *permit,
              uint64_t now_ns) ;
"""


def test_only_what_the_header_itself_declares_is_kept_one_per_line():
    assert declarations(PREPROCESSED, "inc") == [
        "struct sw_permit{uint64_t a;uint64_t b;};",
        "enum sw_reason{SW_REASON_OPEN = 10,};",
        "int sw_admit(struct sw_permit*permit,uint64_t now_ns);",
    ]


def test_layout_of_the_text_does_not_matter():
    assert declarations(PREPROCESSED.replace("  ", " "), "inc") == declarations(PREPROCESSED, "inc")
