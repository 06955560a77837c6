"""Choices: what each bot of a class has played in which position, in every image of the board."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from meijin.cli.classroom.student_report import PlayedGame
from meijin.game import Variant
from meijin.game.board.symmetry import PositionKey, symmetries
from meijin.ladder.statistics.diagnosis.copied_play import Choices

DEEPEST = 40
"""Stones on the board from which on hardly a position comes twice."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a choice was made."""

    game_id: str
    ply: int
    cell: int
    """As it was played, not in the image that stands for all."""
    variant: Variant


@dataclass(slots=True)
class ChoiceTable:
    """Collects choices as numbers, and keeps where each was made."""

    numbers: dict[tuple[Variant, PositionKey], int] = field(default_factory=dict)
    rows: list[tuple[int, int, int]] = field(default_factory=list)
    spots: dict[tuple[int, int, int], Spot] = field(default_factory=dict)
    """The first of each row."""

    def add(self, bot: int, games: Sequence[PlayedGame]) -> None:
        """Put in what a bot has played."""
        for game in games:
            record = game.record
            for ply, _ in game.own_moves():
                if ply >= DEEPEST:
                    break
                moves = record.moves
                key, move = canonical_choice(moves[:ply], moves[ply], record.variant)
                number = self.numbers.setdefault((record.variant, key), len(self.numbers))
                row = (number, bot, move)
                self.rows.append(row)
                self.spots.setdefault(row, Spot(record.game_id, ply, moves[ply], record.variant))

    def choices(self) -> Choices:
        """All of them."""
        columns = np.array(self.rows, dtype=np.int64).reshape(-1, 3).T
        return Choices(columns[0], columns[1], columns[2])

    def moves_of(self, bot: int, position: int) -> set[int]:
        """What a bot has played in a position."""
        return {move for number, who, move in self.spots if (number, who) == (position, bot)}


def canonical_choice(stones: Sequence[int], move: int, variant: Variant) -> tuple[PositionKey, int]:
    """A position and what was played there, the same for all images and orders of the stones."""
    return min(
        (_position([image[cell] for cell in stones]), image[move]) for image in symmetries(variant)
    )


def _position(stones: Sequence[int]) -> PositionKey:
    return tuple(sorted(stones[::2])), tuple(sorted(stones[1::2]))
