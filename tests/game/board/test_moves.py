"""The wire form of move lists."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import Board, decode_moves, encode_moves
from meijin.game.board import byte_order


def test_wire_form() -> None:
    """A move is two bytes, the low one first."""
    assert encode_moves([0, 112, 483]) == b"\x00\x00\x70\x00\xe3\x01"


@given(st.lists(st.integers(0, 65535)))
def test_decode_reads_what_encode_writes(cells: list[int]) -> None:
    """`decode_moves` is the inverse of `encode_moves`."""
    assert decode_moves(encode_moves(cells)) == array("H", cells)


def test_moves_of_a_board() -> None:
    """The moves of a board are encoded as they are, and stay as they are."""
    board = Board.from_moves([112, 3])
    assert encode_moves(board.moves) == b"\x70\x00\x03\x00"
    assert list(board.moves) == [112, 3]


def test_wider_array() -> None:
    """An array of wider numbers has the same wire form."""
    assert encode_moves(array("L", [112])) == b"\x70\x00"


def test_other_byte_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of the other byte order swaps the bytes both ways, not in the caller's array."""
    cells = array("H", [1, 258])
    native = encode_moves(cells)
    monkeypatch.setattr(byte_order, "_SWAP", not byte_order._SWAP)
    assert encode_moves(cells) == b"".join(native[at : at + 2][::-1] for at in (0, 2))
    assert decode_moves(encode_moves(cells)) == cells == array("H", [1, 258])


def test_half_a_move() -> None:
    """An odd number of bytes is no list of moves."""
    with pytest.raises(ValueError, match="3 bytes are no list of moves"):
        decode_moves(b"\x00\x00\x00")
