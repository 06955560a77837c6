"""The position of a game between two seats: who is to act, with which actions, and who has black."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from meijin.game.board.board import Board, IllegalMoveError
from meijin.game.color import Color, Seat
from meijin.game.rules.opening_rule import Task


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


_TURNS = {seat: (seat, seat.other) for seat in Seat}
"""Shared by all positions: by who has black, who is to act at an even and at an odd ply."""


class IllegalActionError(ValueError):
    """An action that isn't what the position asks for; the message says what is."""


class SideChoice(NamedTuple):
    """A player has chosen its side."""

    ply: int
    """How many stones lay on the board."""
    color: Color
    """What it plays from now on."""


class GamePosition:
    """A game in progress: its board, and the seats of its two players.

    The opening rule of the variant may ask a seat for several stones, or for the side that it
    plays. Once that is over the seats take turns, and stones may go straight to the board.
    """

    __slots__ = ("board", "choice", "task", "turns")

    board: Board
    choice: SideChoice | None
    """The one choice of a side that an opening has, once it is made."""
    task: Task | None
    """What the opening asks for; ``None`` where a stone is asked for, as it is after the opening."""
    turns: tuple[Seat, Seat]
    """Who is to act at an even and at an odd ply: for hot loops, to be read alone."""

    def __init__(self, board: Board, choice: SideChoice | None = None) -> None:
        self.board = board
        self.choice = choice
        self.look()

    def look(self) -> None:
        """Find who is to act: after stones of the opening went straight to the board."""
        rule, choice = self.board.variant.opening_rule, self.choice
        self.task = None if choice else rule.task(self.board.ply)
        if self.task is not None:
            self.turns = (self.task.seat, self.task.seat)
        else:
            black = Seat.FIRST
            if choice is not None:
                chooser = rule.chooser(choice.ply)
                black = chooser if choice.color is Color.BLACK else chooser.other
            self.turns = _TURNS[black]

    @property
    def seat_to_act(self) -> Seat:
        return self.turns[len(self.board.moves) & 1]

    @property
    def is_swapped(self) -> bool:
        """Whether the first player has the white stones."""
        return self.color_of(Seat.FIRST) is Color.WHITE

    def color_of(self, seat: Seat) -> Color:
        """The colour that a seat has; the first one black until a choice says otherwise."""
        black = Seat.FIRST if self.task is not None else self.turns[0]
        return Color.BLACK if seat is black else Color.WHITE

    def seat_of(self, color: Color) -> Seat:
        return Seat.FIRST if self.color_of(Seat.FIRST) is color else Seat.SECOND

    def act(self, action: Action) -> None:
        """The seat that is to act places stones or chooses its side.

        Raises:
            IllegalActionError: that isn't what is asked for; the position is as before.
        """
        if isinstance(action, Choose):
            self.choose(action.color)
        else:
            self.place(action.cells if isinstance(action, Placement) else (action,))

    def place(self, cells: Sequence[int]) -> None:
        """Place the stones that are asked for, black and white in turn.

        Raises:
            IllegalActionError: it is another number of stones, or one can't be placed; the
                position is as before.
        """
        asked = 1 if self.task is None else self.task.stones
        if not asked or len(cells) != asked:
            count = "a stone" if len(cells) == 1 else f"{len(cells)} stones"
            raise IllegalActionError(f"{count} where the task is to {self._asked}")
        try:
            for done, cell in enumerate(cells):  # noqa: B007 - the count of an interrupted loop
                self.board.play(cell)
        except IllegalMoveError as error:
            for _ in range(done):
                self.board.undo()
            raise IllegalActionError(str(error)) from error
        self.look()

    def choose(self, color: Color) -> None:
        """The seat that is to act chooses its side.

        Raises:
            IllegalActionError: no choice is asked for.
        """
        if self.task is None or not self.task.may_choose:
            raise IllegalActionError(f"a choice of a side where the task is to {self._asked}")
        self.choice = SideChoice(self.board.ply, color)
        self.look()

    @property
    def _asked(self) -> str:
        return "place a stone" if self.task is None else str(self.task)
