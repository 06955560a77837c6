"""The phases of an opening rule, such as swap2, as one game went through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from meijin.game import Color, GameRecord, Seat
from meijin.game.records.recorded_turn import player_of
from meijin.game.rules.opening_rule import OpeningRule


class PhaseKind(Enum):
    """What a player did, by the key of its words."""

    PLACED = "placed"
    """The first stones."""
    ADDED = "added"
    """Further stones, instead of choosing a side."""
    CHOSE = "chose"
    """A side."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One thing that a player did before the sides were settled."""

    kind: PhaseKind
    ply: int
    """How many stones lay on the board after it."""
    player: str
    stones: int = 0
    """How many were placed."""
    color: Color | None = None
    """The side that was chosen."""


def phases(record: GameRecord) -> tuple[Phase, ...]:
    """What the players did by the opening rule, in order; nothing where stones go one by one."""
    return tuple(_phases(record, record.variant.opening_rule))


def _phases(record: GameRecord, rule: OpeningRule) -> Iterator[Phase]:
    count, choice = len(record.moves), record.choice
    first, second = (player_of(record, seat) for seat in Seat)
    is_placed = rule.stones and not record.opening_plies and count >= rule.stones
    if is_placed:
        yield Phase(PhaseKind.PLACED, rule.stones, first, rule.stones)
    is_answered = choice is not None and choice.ply == rule.stones
    if is_placed and rule.more and not is_answered and count >= rule.most_stones:
        yield Phase(PhaseKind.ADDED, rule.most_stones, second, rule.more)
    if choice is not None:
        chooser = record.black if choice.color is Color.BLACK else record.white
        yield Phase(PhaseKind.CHOSE, choice.ply, chooser, color=choice.color)
