"""Witnesses: what both players know of a game of an earlier server, compared with its moves here."""

from __future__ import annotations

import enum
from array import array
from dataclasses import dataclass, field
from zlib import crc32

from meijin.game import Seat, encode_moves
from meijin.server.match.live.commands import KnownGame


class Verdict(enum.Enum):
    """What becomes of the claim that moves are missing here."""

    LOST = "lost"
    """They were lost: nobody contradicts the claim."""
    DENIED = "denied"
    """It is false: the opponent knows what this server does."""


@dataclass(slots=True, eq=False)
class Witnesses:
    """What the players of one game tell when they come back; each is heard once.

    A bot is told of a position only after the opponent's answer that led to it. So of a position
    that one was told of, the other has been told too, or it knows its own answer that made it.
    Whoever claims moves that the other doesn't know either is contradicted by it: no bot can void
    a game by lying, unless its opponent tells nothing.
    """

    withholds_turn: bool = False
    """A player that is here is to move, and is not asked while the game is disputed."""
    _told: dict[Seat, KnownGame | None] = field(default_factory=dict)
    _claims: dict[Seat, KnownGame] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether both players have come back."""
        return len(self._told) == len(Seat)

    @property
    def is_disputed(self) -> bool:
        """Whether a player was told of other moves than this server has."""
        return bool(self._claims)

    def hear(self, seat: Seat, known: KnownGame | None, moves: array[int]) -> None:
        """A player comes back, and may tell nothing; the moves are what this server has."""
        if seat in self._told:
            return
        self._told[seat] = known
        if known is not None and _is_contradicted(known, moves):
            self._claims[seat] = known

    def verdict(self) -> Verdict:
        """What becomes of a dispute once both players have come back."""
        if any(self._is_supported(seat, claim) for seat, claim in self._claims.items()):
            return Verdict.LOST
        return Verdict.DENIED

    def _is_supported(self, seat: Seat, claim: KnownGame) -> bool:
        """Whether the opponent does not contradict a claim."""
        other = self._told[seat.other]
        if other is None or seat.other in self._claims:
            return True
        return other.ply < claim.ply and other.answered_crc == claim.moves_crc

    def words(self, seat: Seat) -> str:
        """What a player has told, as it is stored with a void game."""
        known = self._told[seat]
        if known is None:
            return "nothing told"
        words = f"{known.ply} stones, CRC {known.moves_crc:08x}"
        if known.answered_crc is None:
            return words
        return f"{words}, with its answer {known.answered_crc:08x}"


def _is_contradicted(known: KnownGame, moves: array[int]) -> bool:
    """Whether a bot was told of more moves, or of others."""
    if known.ply > len(moves):
        return True
    return crc32(encode_moves(moves[: known.ply])) != known.moves_crc
