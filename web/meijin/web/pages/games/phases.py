"""The phases of an opening rule, such as swap2, as one game went through them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from meijin.game import Color, GameRecord, Seat
from meijin.game.records.recorded_turn import player_of


@dataclass(frozen=True, slots=True)
class OpeningPhase:
    """One thing that a player did before the sides were settled."""

    kind: Literal["placed", "added", "chose"]
    """The first stones, further ones instead of choosing a side, or a side."""
    ply: int
    """How many stones lay on the board after it."""
    player: str
    stones: int = 0
    """How many were placed."""
    color: Color | None = None
    """The side that was chosen."""


def phases(record: GameRecord) -> Iterator[OpeningPhase]:
    """What the players did by the opening rule, in order; nothing where stones go one by one."""
    rule, count, choice = record.variant.opening_rule, len(record.moves), record.choice
    first, second = (player_of(record, seat) for seat in Seat)
    is_placed = rule.stones and not record.opening_plies and count >= rule.stones
    if is_placed:
        yield OpeningPhase("placed", rule.stones, first, rule.stones)
    is_answered = choice is not None and choice.ply == rule.stones
    if is_placed and rule.more and not is_answered and count >= rule.most_stones:
        yield OpeningPhase("added", rule.most_stones, second, rule.more)
    if choice is not None:
        chooser = record.black if choice.color is Color.BLACK else record.white
        yield OpeningPhase("chose", choice.ply, chooser, color=choice.color)
