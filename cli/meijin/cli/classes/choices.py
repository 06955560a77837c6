"""What bots chose in which positions, and pairs of them that chose alike."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

import numpy as np
from rich.console import RenderableType

from meijin.cli.classes.report import OwnGame
from meijin.cli.classes.roster import names_of
from meijin.cli.tables import number, table, text
from meijin.game import Variant, cell_name
from meijin.game.board.symmetry import PositionKey, symmetries
from meijin.ladder.statistics.diagnosis.copied_play import (
    Choices,
    Signal,
    agreement,
    evidence,
    signals,
)
from meijin.v1 import class_service_pb2 as pb

DEEPEST = 40
"""Stones on the board from which on hardly a position comes twice."""
PLACES = 5
"""Positions that are told of each pair."""


class Spot(NamedTuple):
    """Where a choice was made."""

    game_id: str
    ply: int
    move: str
    """As it was played, not in the image that stands for all."""


@dataclass(slots=True)
class ChoiceTable:
    """Collects choices as numbers, and keeps where each was made."""

    numbers: dict[tuple[Variant, PositionKey], int] = field(default_factory=dict)
    rows: list[tuple[int, int, int]] = field(default_factory=list)
    spots: dict[tuple[int, int, int], Spot] = field(default_factory=dict)
    """The first of each row."""

    def add(self, bot: int, games: Sequence[OwnGame]) -> None:
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
                if row not in self.spots:
                    name = cell_name(moves[ply], record.variant)
                    self.spots[row] = Spot(record.game_id, ply, name)

    def choices(self) -> Choices:
        columns = np.array(self.rows, dtype=np.int64).reshape(-1, 3).T
        return Choices(columns[0], columns[1], columns[2])

    def moves_of(self, bot: int, position: int) -> set[int]:
        return {move for number, who, move in self.spots if (number, who) == (position, bot)}


def canonical_choice(stones: Sequence[int], move: int, variant: Variant) -> tuple[PositionKey, int]:
    """A position and what was played there, the same for all images and orders of the stones."""

    def seen(image: Sequence[int]) -> tuple[PositionKey, int]:
        cells = [image[cell] for cell in stones]
        return (tuple(sorted(cells[::2])), tuple(sorted(cells[1::2]))), image[move]

    return min(map(seen, symmetries(variant)))


class Coincidence(NamedTuple):
    """A position in which two bots play alike, and others mostly otherwise."""

    first_game: str
    second_game: str
    ply: int
    first_move: str
    second_move: str
    expected: float
    """How often others would play so too."""


COLUMNS = (
    text("game", "first_game"),
    number("ply"),
    number("move", "first_move"),
    number("game", "second_game"),
    number("ply"),
    number("move", "second_move"),
    number("others play so", lambda row: f"{row.expected:.0%}"),
)


class Copy(NamedTuple):
    """A pair that stands out, by the students' names."""

    first: str
    second: str
    signal: Signal
    coincidences: Sequence[Coincidence]

    def as_json(self) -> dict[str, object]:
        told = [each._asdict() for each in self.coincidences]
        names = {"first": self.first, "second": self.second}
        likeness = {"likeness": self.signal.likeness.value}
        return asdict(self.signal) | names | likeness | {"positions_told": told}

    def lines(self) -> Iterator[RenderableType]:
        signal = self.signal
        yield (
            f"{signal.likeness.value}: {self.first} and {self.second}, the same move in "
            f"{signal.observed:.0f} of {signal.positions} positions, {signal.expected:.0f} expected "
            f"(share {signal.share:.2f}); p = {signal.p_value:.1e}"
        )
        yield table("", COLUMNS, self.coincidences)


def find_copies(
    students: Sequence[pb.Student], games: Sequence[Sequence[OwnGame]], risk: float
) -> tuple[int, list[Copy]]:
    """How many pairs can be compared, and those that stand out, from the games of each student."""
    names = list(names_of(students).values())
    choices = ChoiceTable()
    for bot, played in enumerate(games):
        choices.add(bot, played)
    found = agreement(choices.choices(), len(students))
    named = [_copy(each, names, choices) for each in signals(found, risk)]
    return int(found.compared.sum()), named


def _copy(signal: Signal, names: Sequence[str], choices: ChoiceTable) -> Copy:
    first, second = signal.first, signal.second
    same = []
    for place in evidence(choices.choices(), first, second)[:PLACES]:
        theirs = (choices.moves_of(bot, place.position) for bot in (first, second))
        for move in sorted(set.intersection(*theirs)):
            one, other = (choices.spots[place.position, bot, move] for bot in (first, second))
            games, moves = (one.game_id, other.game_id), (one.move, other.move)
            same.append(Coincidence(*games, one.ply, *moves, place.expected))
    return Copy(names[first], names[second], signal, same)
