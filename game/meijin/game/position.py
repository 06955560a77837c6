"""The position of a game between two seats: who is to act, with which actions, and who has black."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from meijin.game.board.board import Board, IllegalMoveError
from meijin.game.board.symmetry import PositionKey, position_key
from meijin.game.color import Color, Seat
from meijin.game.rules.opening_rule import By, Does, Task
from meijin.game.rules.variant import Variant


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


class Declare(NamedTuple):
    """A player declares how many cells are to be offered for the fifth stone."""

    offers: int

    def __str__(self) -> str:
        return f"declare {self.offers}"


class Offer(NamedTuple):
    """A player offers cells for the next stone, of which the opponent takes one."""

    cells: tuple[int, ...]

    def __str__(self) -> str:
        return f"offer {' '.join(map(str, self.cells))}"


OpeningAction: TypeAlias = Placement | Choose | Declare | Offer
Action: TypeAlias = int | OpeningAction
"""A stone's cell, or an action of an opening."""

CHOICE_CODES = {Color.BLACK: 0xFFFE, Color.WHITE: 0xFFFF}
_CHOICES = {code: color for color, code in CHOICE_CODES.items()}
_OFFERED, _DECLARED = 0x8000, 0xF000
"""Codes beside cells, and all above them: offered ones, and numbers that are declared."""


def encode_action(action: Action) -> Sequence[int]:
    """Codes of 16 bits: a cell for each stone, or those of a decision."""
    if isinstance(action, int):
        return (action,)
    match action:
        case Choose(color):
            return (CHOICE_CODES[color],)
        case Declare(offers):
            return (_DECLARED + offers,)
        case Offer(cells):
            return tuple(_OFFERED + cell for cell in cells)
    return action.cells


def is_stone(code: int) -> bool:
    """Whether a code is a stone's cell, and no decision's."""
    return code < _OFFERED


def is_offer(code: int) -> bool:
    """Whether a code is one of an offered cell."""
    return _OFFERED <= code < _DECLARED


def decode_decision(codes: Sequence[int]) -> "DecisionAction":
    """The decision that codes stand for: an offer has one for each cell."""
    if codes[0] in _CHOICES:
        return Choose(_CHOICES[codes[0]])
    if codes[0] >= _DECLARED:
        return Declare(codes[0] - _DECLARED)
    return Offer(tuple(code - _OFFERED for code in codes))


_TURNS = {seat: (seat, seat.other) for seat in Seat}
"""Shared by all positions: by who has black, who is to act at an even and at an odd ply."""


class IllegalActionError(ValueError):
    """An action that isn't what the position asks for; the message says what is."""


DecisionAction: TypeAlias = Choose | Declare | Offer


class Decision(NamedTuple):
    """What a player has decided in an opening, without placing a stone."""

    ply: int
    """How many stones lay on the board."""
    action: DecisionAction


class GamePosition:
    """A game in progress: its board, and the seats of its two players.

    The opening rule of the variant may ask a seat for several stones, for the side that it plays,
    or for cells that it offers. Once that is over the seats take turns, and stones may go straight
    to the board.
    """

    __slots__ = (
        "_done",
        "_offering",
        "_steps",
        "black",
        "black_before",
        "board",
        "decisions",
        "task",
        "turns",
    )

    board: Board
    decisions: list[Decision]
    """Those that were made, in their order."""
    task: Task | None
    """What the opening asks for; ``None`` where a stone is asked for, as it is after the opening."""
    turns: tuple[Seat, Seat]
    """Who is to act at an even and at an odd ply: for hot loops, to be read alone."""
    black: Seat
    """Who has black, as far as sides were chosen."""
    black_before: Seat
    """Who had it before the last choice of a side."""

    def __init__(self, board: Board, decisions: Sequence[Decision] = ()) -> None:
        """Begin, or go on after stones and decisions that were made before.

        Raises:
            IllegalActionError: they don't follow the opening rule.
        """
        self.board = board
        self.decisions = []
        self.black = self.black_before = Seat.FIRST
        self._steps = board.variant.opening_rule.steps
        self._done, self._offering = 0, list[int]()
        if decisions or (self._steps and board.moves):
            self._redo(decisions)
        self._look()

    def _redo(self, decisions: Sequence[Decision]) -> None:
        """Take the steps that stones and decisions on the record are."""
        board, stones = self.board, self.board.moves
        self.board = Board(board.variant)
        self._look()
        waiting = list(decisions)
        while self.task is not None:
            if waiting and waiting[0].ply == self.board.ply:
                self.act(waiting.pop(0).action)
            elif self.board.ply < len(stones):
                self.replay(stones[self.board.ply])
            else:
                break
        if waiting:
            raise IllegalActionError(f"{waiting[0].action} where the task is to {self._asked}")
        self.board = board

    def _look(self) -> None:
        """Find who is to act, with what."""
        if not self._steps:
            self.task, self.turns = None, _TURNS[self.black]
        else:
            self.task, seat = self._find_task(), self._asked_seat()
            self.turns = (seat, seat)

    def _asked_seat(self) -> Seat:
        mover = self.seat_of(self.board.side_to_move)
        seats = {By.FIRST: Seat.FIRST, By.SECOND: Seat.SECOND, By.MOVER: mover}
        return seats.get(self._steps[0].by, mover.other)

    def _find_task(self) -> Task:
        head = self._steps[0]
        asked: dict[str, Any] = {"declared": self._declared}
        for step in (head, *head.instead[:1]):
            match step.does:
                case Does.PLACE:
                    asked["stones"] = step.count - self._done
                    asked["squares"] = step.squares[self._done :]
                case Does.CHOOSE:
                    asked["may_choose"] = True
                case Does.DECLARE:
                    asked["most_offers"] = step.count
                case Does.OFFER:
                    asked["offers"] = step.count or self._declared
                case Does.TAKE:
                    asked["stones"], asked["among"] = 1, self._offered
        return Task(**asked)

    @property
    def _declared(self) -> int:
        actions = (decision.action for decision in self.decisions)
        return next((each.offers for each in actions if isinstance(each, Declare)), 0)

    @property
    def _offered(self) -> tuple[int, ...]:
        action = self.decisions[-1].action
        assert isinstance(action, Offer)
        return action.cells

    @property
    def seat_to_act(self) -> Seat:
        return self.turns[len(self.board.moves) & 1]

    @property
    def is_partway(self) -> bool:
        """Whether a part of an action was replayed, and the rest of it is to follow."""
        return bool(self._done or self._offering)

    @property
    def is_swapped(self) -> bool:
        """Whether the first player has the white stones."""
        return self.black is Seat.SECOND

    def color_of(self, seat: Seat) -> Color:
        """The colour that a seat has; the first one black until a choice says otherwise."""
        return Color.BLACK if seat is self.black else Color.WHITE

    def seat_of(self, color: Color) -> Seat:
        return self.black if color is Color.BLACK else self.black.other

    def act(self, action: Action) -> None:
        """The seat that is to act places stones, chooses its side, declares or offers.

        Raises:
            IllegalActionError: that isn't what is asked for; the position is as before.
        """
        match action:
            case Choose(color):
                self._choose(color)
            case Declare(offers):
                self._declare(offers)
            case Offer(cells):
                self._offer(cells)
            case Placement(cells):
                self._place(cells)
            case _:
                self._place((action,))
        self._look()

    def replay(self, code: int) -> None:
        """Take one code of an action that was made before, while an opening asks for something.

        Raises:
            IllegalActionError: the decision does not fit the position.
            IllegalMoveError: the stone does not fit the position.
        """
        assert self.task is not None
        if self._offering and not is_offer(code):
            raise self._refusal("a part of an offer")
        if is_stone(code):
            if not self.task.stones:
                raise self._refusal("a stone")
            self._check_place(code, 0)
            self.board.play(code)
            self._stone_placed()
        elif isinstance(decision := decode_decision((code,)), Offer):
            self._offering += decision.cells
            if len(self._offering) >= self.task.offers:
                cells, self._offering = tuple(self._offering), []
                self._offer(cells)
        else:
            self.act(decision)
        self._look()

    def _place(self, cells: Sequence[int]) -> None:
        """Place the stones that are asked for, black and white in turn."""
        task, count = self.task, 1 if self.task is None else self.task.stones
        if not count or len(cells) != count:
            counted = "a stone" if len(cells) == 1 else f"{len(cells)} stones"
            raise self._refusal(counted)
        try:
            for done, cell in enumerate(cells):
                self._check_place(cell, done)
                self.board.play(cell)
        except (IllegalActionError, IllegalMoveError) as error:
            for _ in range(done):
                self.board.undo()
            raise IllegalActionError(str(error)) from error
        if task is not None:
            for _ in cells:
                self._stone_placed()

    def _check_place(self, cell: int, stone: int) -> None:
        if self.task is not None and not allows(self.task, stone, cell, self.board.variant):
            raise IllegalActionError(f"a stone on cell {cell} where the task is to {self.task}")

    def _stone_placed(self) -> None:
        self._enter(Does.PLACE, Does.TAKE)
        self._done += 1
        if self._done == self._steps[0].count:
            self._steps, self._done = self._steps[1:], 0

    def _choose(self, color: Color) -> None:
        if self.task is None or not self.task.may_choose:
            raise self._refusal("a choice of a side")
        seat = self.seat_to_act
        self._decide(Choose(color), Does.CHOOSE)
        self.black_before = self.black
        self.black = seat if color is Color.BLACK else seat.other

    def _declare(self, offers: int) -> None:
        if self.task is None or not 1 <= offers <= self.task.most_offers:
            raise self._refusal(f"a declaration of {offers}")
        self._decide(Declare(offers), Does.DECLARE)

    def _offer(self, cells: tuple[int, ...]) -> None:
        board = self.board
        if self.task is None or not self.task.offers or len(cells) != self.task.offers:
            raise self._refusal(f"an offer of {len(cells)} cells")
        for cell in cells:
            if not board.is_legal(cell):
                raise IllegalActionError(f"an offer of cell {cell}, where no stone can be placed")
        if len(distinct_cells(board, cells)) < len(cells):
            raise IllegalActionError("an offer of cells that are the same up to symmetry")
        self._decide(Offer(cells), Does.OFFER)

    def _decide(self, action: DecisionAction, does: Does) -> None:
        self._enter(does)
        self._steps = self._steps[1:]
        self.decisions.append(Decision(self.board.ply, action))

    def _enter(self, *does: Does) -> None:
        """Leave the step for what may be done instead, where it is that which is done."""
        if self._steps[0].does not in does:
            self._steps = self._steps[0].instead

    def _refusal(self, what: str) -> IllegalActionError:
        return IllegalActionError(f"{what} where the task is to {self._asked}")

    @property
    def _asked(self) -> str:
        return "place a stone" if self.task is None else str(self.task)


def asks_for(task: Task, action: OpeningAction) -> bool:
    """Whether an action is of a kind that a task asks for."""
    match action:
        case Choose():
            return task.may_choose
        case Declare():
            return bool(task.most_offers)
        case Offer():
            return bool(task.offers)
    return bool(task.stones)


def allows(task: Task, stone: int, cell: int, variant: Variant) -> bool:
    """Whether a task lets its stone of this number, from 0, lie on a cell."""
    if task.among:
        return cell in task.among
    return not task.squares or cell in central_cells(task.squares[stone], variant)


def central_cells(side: int, variant: Variant) -> frozenset[int]:
    """The cells of the square around the centre: of an even side, the cell right of it or below."""
    top, left = variant.height // 2 - side // 2, variant.width // 2 - side // 2
    rows, columns = range(top, top + side), range(left, left + side)
    return frozenset(row * variant.width + column for row in rows for column in columns)


def distinct_cells(board: Board, cells: Iterable[int]) -> list[int]:
    """Those of the cells on which the next stone makes positions that no symmetry makes equal."""
    found = dict[PositionKey, int]()
    for cell in cells:
        found.setdefault(position_key((*board.moves, cell), board.variant), cell)
    return list(found.values())
