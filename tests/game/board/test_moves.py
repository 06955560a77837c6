"""The wire form of move lists."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import decode_moves, encode_moves
from meijin.game.board import moves as moves_module


@pytest.mark.parametrize(
    "moves", [[0, 112, 483], array("H", [0, 112, 483]), array("L", [0, 112, 483])]
)
def test_wire_form(moves: list[int]) -> None:
    """A move is two bytes, the low one first, whatever numbers it comes as."""
    assert encode_moves(moves) == b"\x00\x00\x70\x00\xe3\x01"
    assert list(moves) == [0, 112, 483]


@given(st.lists(st.integers(0, 65535)))
def test_decode_reads_what_encode_writes(cells: list[int]) -> None:
    """`decode_moves` is the inverse of `encode_moves`."""
    assert decode_moves(encode_moves(cells)) == array("H", cells)


def test_other_byte_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of the other byte order swaps the bytes both ways, not in the caller's array."""
    cells = array("H", [1, 258])
    native = encode_moves(cells)
    monkeypatch.setattr(moves_module, "_SWAP", not moves_module._SWAP)
    assert encode_moves(cells) == b"".join(native[at : at + 2][::-1] for at in (0, 2))
    assert decode_moves(encode_moves(cells)) == cells == array("H", [1, 258])


def test_half_a_move() -> None:
    with pytest.raises(ValueError, match="3 bytes are no list of moves"):
        decode_moves(b"\x00\x00\x00")
