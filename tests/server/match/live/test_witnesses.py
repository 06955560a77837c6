"""What both players of a game of an earlier server know of it, and whether that contradicts it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from zlib import crc32

import pytest

from meijin.game import Seat, encode_moves
from meijin.server.match.live.commands import KnownGame
from meijin.server.match.live.witnesses import Verdict, Witnesses

MOVES = tuple(range(40, 60))
"""Of the game as it was played."""

LIES = (99, 98, 97, 96, 95)
"""Cells that nobody has played on."""


def crc(moves: Sequence[int]) -> int:
    return crc32(encode_moves(moves))


def told(ply: int, answer: int | None = 1, moves: Sequence[int] = MOVES) -> KnownGame:
    """What a bot knows that was told of this many moves, and has answered with this many stones."""
    answered = None if answer is None else crc(moves[: ply + answer])
    return KnownGame(ply, crc(moves[:ply]), answered)


def after(
    known: tuple[KnownGame | None, KnownGame | None],
    left: int,
    order: Sequence[Seat] = (Seat.FIRST, Seat.SECOND),
) -> Witnesses:
    """What has been heard by a server that has this many moves left."""
    witnesses = Witnesses()
    for seat in order:
        witnesses.hear(seat, known[seat is Seat.SECOND], array("H", MOVES[:left]))
    return witnesses


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (None, None),
        (told(10), told(9)),  # the answer at 10 was not committed
        (told(10, None), told(9)),
        (told(8), told(9)),  # told before, but not of the last move
        (told(8), None),
        (None, told(9, None)),
        (told(0, 3), told(3, 2)),  # placements of an opening
        (told(5, None), told(3, 2)),  # and a choice
    ],
)
def test_what_was_not_lost_is_no_claim(first: KnownGame | None, second: KnownGame | None) -> None:
    """A server that has all that it told of agrees with whatever honest players know."""
    witnesses = after((first, second), left=10)
    assert witnesses.is_complete
    assert not witnesses.is_disputed


@pytest.mark.parametrize("order", [(Seat.FIRST, Seat.SECOND), (Seat.SECOND, Seat.FIRST)])
@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        (told(10), told(11, None), 4),  # both were told of more
        (told(10), told(11, None), 10),  # one was, by what the other has answered
        (told(10, None), told(9), 9),
        (told(10), None, 4),  # who tells nothing contradicts nobody
        (told(5, None), told(3, 2), 3),  # two stones of an opening
        (told(0, 3), told(3, None), 0),  # three
    ],
)
def test_a_loss_is_found(
    first: KnownGame, second: KnownGame | None, left: int, order: Sequence[Seat]
) -> None:
    witnesses = after((first, second), left=left, order=order)
    assert witnesses.is_disputed
    assert witnesses.verdict() is Verdict.LOST


def test_other_moves_are_a_loss_too() -> None:
    """The log of another state: as many moves, but not those that the two were told of."""
    moves = (*MOVES[:6], *LIES, *MOVES)
    witnesses = after((told(10, 1, moves), told(9, 1, moves)), left=10)
    assert witnesses.verdict() is Verdict.LOST


@pytest.mark.parametrize(
    ("honest", "left"),
    [
        (told(10, None), 10),  # it is its turn
        (told(10), 10),  # and its answer was on its way
        (told(9), 10),  # it has moved last
    ],
)
@pytest.mark.parametrize("ply", [10, 11, 12, 15])
@pytest.mark.parametrize("prefix", [0, 8, 10])
def test_a_lie_is_contradicted(honest: KnownGame, left: int, ply: int, prefix: int) -> None:
    """A bot that claims more moves than there were, or others, voids nothing by it."""
    moves = (*MOVES[:prefix], *LIES, *LIES)
    lie = told(ply, 1, moves)
    witnesses = after((lie, honest), left=left)
    assert not witnesses.is_disputed or witnesses.verdict() is Verdict.DENIED
    lie = lie._replace(moves_crc=0)
    assert after((lie, honest), left=left).verdict() is Verdict.DENIED


def test_what_is_told_first_stands() -> None:
    """A bot that comes back again, perhaps as a new process, takes nothing back."""
    witnesses = Witnesses()
    witnesses.hear(Seat.FIRST, told(10), array("H", MOVES[:4]))
    witnesses.hear(Seat.FIRST, None, array("H", MOVES[:4]))
    assert not witnesses.is_complete
    witnesses.hear(Seat.SECOND, told(9), array("H", MOVES[:4]))
    assert witnesses.verdict() is Verdict.LOST
