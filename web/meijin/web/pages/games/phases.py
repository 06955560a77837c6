"""The phases of an opening rule, such as swap2, as one game went through them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from meijin.game import Choose, Color, Declare, GameRecord, Offer, Placement, cell_name
from meijin.game.records.recorded_turn import opening_actions, player_of


@dataclass(frozen=True, slots=True)
class OpeningPhase:
    """One thing that a player did before the opening was over."""

    kind: Literal["placed", "added", "chose", "declared", "offered", "took"]
    """Stones, further ones instead of choosing a side, a side, how many offers there will be, an
    offer, or a stone on a cell of it."""
    ply: int
    """How many stones lay on the board after it."""
    player: str
    stones: int = 0
    """How many were placed, declared or offered."""
    color: Color | None = None
    """The side that was chosen."""
    cells: str = ""
    """The names of those that were offered, or the one that was taken."""


def phases(record: GameRecord) -> Iterator[OpeningPhase]:
    """What the players did by the opening rule, in order; nothing where stones go one by one."""
    for position, action in () if record.opening_plies else opening_actions(record):
        ply, player, task = (
            position.board.ply,
            player_of(record, position.seat_to_act),
            position.task,
        )
        assert task is not None
        match action:
            case Choose(color):
                yield OpeningPhase("chose", ply, player, color=color)
            case Declare(offers):
                yield OpeningPhase("declared", ply, player, offers)
            case Offer(cells):
                names = ", ".join(cell_name(cell, record.variant) for cell in cells)
                yield OpeningPhase("offered", ply, player, len(cells), cells=names)
            case Placement(cells) if task.among:
                name = cell_name(cells[0], record.variant)
                yield OpeningPhase("took", ply + 1, player, 1, cells=name)
            case Placement(cells):
                kind: Literal["added", "placed"] = "added" if task.may_choose else "placed"
                yield OpeningPhase(kind, ply + len(cells), player, len(cells))
