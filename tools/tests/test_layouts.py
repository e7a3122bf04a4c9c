import pytest

from snapshot.layouts import parse, select

OUTPUT = """\
print-type-size type: `breaker::CircuitBreaker`: 32 bytes, alignment: 8 bytes
print-type-size     field `.head`: 8 bytes
print-type-size     field `.flag`: 1 bytes
print-type-size     padding: 7 bytes
print-type-size     field `.word`: 8 bytes, alignment: 8 bytes
print-type-size     end padding: 8 bytes
print-type-size type: `queue::Queue<[u64; 4]>`: 40 bytes, alignment: 8 bytes
print-type-size     field `.slots`: 32 bytes, offset: 8 bytes, alignment: 8 bytes
print-type-size type: `queue::Other`: 1 bytes, alignment: 1 bytes
print-type-size     discriminant: 1 bytes
"""


def test_offsets_include_padding():
    assert parse(OUTPUT)["breaker::CircuitBreaker"] == [
        "breaker::CircuitBreaker: 32 bytes, alignment 8",
        "       0 head: 8 bytes",
        "       8 flag: 1 bytes",
        "       9 (padding): 7 bytes",
        "      16 word: 8 bytes",
        "      24 (padding): 8 bytes",
    ]


def test_a_stated_offset_is_taken():
    assert parse(OUTPUT)["queue::Queue<[u64; 4]>"][1] == "       8 slots: 32 bytes"


def test_every_form_of_a_generic_struct_is_shown():
    assert select(["queue::Queue"], parse(OUTPUT)).startswith("queue::Queue<[u64; 4]>: 40 bytes")


def test_a_struct_without_a_layout_is_an_error():
    with pytest.raises(SystemExit, match="no layout of rate::TokenBucket"):
        select(["rate::TokenBucket"], parse(OUTPUT))
