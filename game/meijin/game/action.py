"""Actions of an opening beside the usual stone, and how actions are stored."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from meijin.game.color import Color


class Placement(NamedTuple):
    """Several stones at once, black and white in turn."""

    cells: tuple[int, ...]

    def __str__(self) -> str:
        return f"place {' '.join(map(str, self.cells))}"


class Choose(NamedTuple):
    """A player chooses its side."""

    color: Color

    def __str__(self) -> str:
        return f"choose {self.color.name.lower()}"


OpeningAction: TypeAlias = Placement | Choose
Action: TypeAlias = int | OpeningAction
"""A stone's cell, or an action of an opening."""

CHOICE_CODES = {Color.BLACK: 0xFFFE, Color.WHITE: 0xFFFF}
"""Above every cell."""
_CHOICES = {code: color for color, code in CHOICE_CODES.items()}


def encode_action(action: Action) -> Sequence[int]:
    """Codes of 16 bits: a cell for each stone, or one for the side that is chosen."""
    if isinstance(action, Choose):
        return (CHOICE_CODES[action.color],)
    return action.cells if isinstance(action, Placement) else (action,)


def chosen_color(code: int) -> Color | None:
    """The side that a code chooses; ``None`` where it is a cell."""
    return _CHOICES.get(code)
