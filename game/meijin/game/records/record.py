"""Game records, and position strings: their moves without anything between them: ``h8i9j10``.

Columns are letters from the left and rows numbers from the bottom, as `coordinates` has them.
Engines that count rows from the top mean the mirror image, which is the same game.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from meijin.game.board.board import Board
from meijin.game.board.coordinates import cell_name, parse_cell
from meijin.game.clock import Clock, TimeControl
from meijin.game.color import Color, Seat
from meijin.game.outcome import Ending, Outcome, Party
from meijin.game.position import Decision, GamePosition
from meijin.game.records.analysis import Analysis
from meijin.game.rules.variant import Variant


def imported_outcome(winner: Color | None, board: Board, ending: Ending | None = None) -> Outcome:
    """The outcome of a game that `winner` won, or nobody.

    Without an ending it is the one that the board shows, and an adjudication where that shows
    another result or none. A forfeit is the loser's fault.
    """
    if ending is None:
        shown = Ending.FIVE if winner is not None else Ending.DRAW
        is_shown = winner is board.winner and board.is_over
        ending = shown if is_shown else Ending.ADJUDICATION
    if winner is None:
        return Outcome(ending)
    fault = Party.of(winner.other) if ending.is_forfeit else Party.NOBODY
    return Outcome(ending, winner, fault)


def finished_outcome(board: Board) -> Outcome | None:
    """The outcome that the board itself shows; ``None`` where the game could go on."""
    return imported_outcome(board.winner, board) if board.is_over else None


@dataclass(frozen=True, slots=True)
class GameEngine:
    """The program behind a side, as it introduced itself."""

    digest: str = ""
    """Changes whenever the program or its options do."""
    configuration: tuple[str, ...] = ()
    """Options that make it play as it does, each ``name=value``."""
    hardware: str = ""
    """What it runs on."""
    threads: int | None = None
    """That its search was told to use; ``None`` where nobody has said."""
    memory_bytes: int | None = None
    """That it was told to keep to; likewise."""


UNKNOWN_ENGINE = GameEngine()


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game from its first move to its outcome, enough to replay it."""

    variant: Variant
    black: str
    """The name of the player of the black stones."""
    white: str
    moves: tuple[int, ...]
    """The cells in the order played."""
    times: tuple[timedelta, ...] = ()
    """The time charged for each move, zero in the opening; empty where it is unknown."""
    raw_times: tuple[timedelta, ...] = ()
    """The time from each request to its answer, before credits; empty where it is unknown."""
    cpu_times: tuple[timedelta | None, ...] = ()
    """The processor time of each move, ``None`` where no host has measured it; empty for none."""
    analysis: tuple[Analysis | None, ...] = ()
    """What the bots thought of each move; empty where they said nothing."""
    opening_plies: int = 0
    """How many of the moves were given to both sides."""
    time_control: TimeControl | None = None
    outcome: Outcome | None = None
    """``None`` while the game is running."""
    start_time: datetime | None = None
    """Aware of its time zone."""
    end_time: datetime | None = None
    """Aware of its time zone."""
    event: str = ""
    game_id: str = ""
    decisions: tuple[Decision, ...] = ()
    """Those of the opening, in their order; `black` and `white` are who had which in the end."""
    black_version: str = ""
    """The label of the player's version."""
    white_version: str = ""
    white_time_control: TimeControl | None = None
    """``None`` where it is black's, the `time_control`."""
    black_engine: GameEngine = UNKNOWN_ENGINE
    white_engine: GameEngine = UNKNOWN_ENGINE
    pair: int = 0
    """What two games of one opening with the colours reversed share; 0 for none."""
    round: int = 0
    """Of the event; 0 where it is unknown."""
    seed: int = 0
    """Of the event, by which its openings were dealt."""
    release: str = ""
    """Of the Meijin that it was played on; empty where it is unknown."""

    def __post_init__(self) -> None:
        if not any(time is not None for time in self.cpu_times):
            object.__setattr__(self, "cpu_times", ())  # frozen: as if nothing had been given
        for times in (self.times, self.raw_times, self.cpu_times):
            self._check_times(times)
        if self.analysis and len(self.analysis) != len(self.moves):
            raise ValueError(f"{len(self.analysis)} analyses don't fit {len(self.moves)} moves")
        if not any(self.analysis):
            object.__setattr__(self, "analysis", ())  # frozen: as if nothing had been given
        if not 0 <= self.opening_plies <= len(self.moves):
            raise ValueError(
                f"an opening of {self.opening_plies} plies doesn't fit {len(self.moves)} moves"
            )
        last = max((decision.ply for decision in self.decisions), default=0)
        if last > len(self.moves):
            raise ValueError(f"a decision at ply {last} doesn't fit {len(self.moves)} moves")
        for name, time in (("start", self.start_time), ("end", self.end_time)):
            if time is not None and time.utcoffset() is None:
                raise ValueError(f"{name} time {time} needs a time zone")

    def _check_times(self, times: Sequence[timedelta | None]) -> None:
        if times and len(times) != len(self.moves):
            raise ValueError(f"{len(times)} times don't fit {len(self.moves)} moves")
        least = min((time for time in times if time is not None), default=timedelta(0))
        if least < timedelta(0):
            raise ValueError(f"a move can't take {least}")

    @property
    def opening(self) -> str:
        """The moves that were given to both sides, as a position string."""
        return format_position(self.moves[: self.opening_plies], self.variant)

    def control_of(self, color: Color) -> TimeControl | None:
        """What a side got on its clock; ``None`` where it is unknown."""
        own = self.white_time_control if color is Color.WHITE else None
        return own or self.time_control

    def clock(self) -> Clock:
        """The clock of both seats at the game's beginning.

        Raises:
            ValueError: nobody knows the time control, or the opening is none by its rule.
        """
        if self.time_control is None:
            raise ValueError("the record has no time control, so nobody knows the clocks")
        position = self.opening_position()
        first, second = (self.control_of(position.color_of(seat)) for seat in Seat)
        return Clock.of(first or self.time_control, second or self.time_control)

    def opening_position(self) -> GamePosition:
        """The position after what the opening rule asked for, which tells who has which side.

        Raises:
            ValueError: it is none by its rule.
        """
        stones = self.moves[: self.variant.opening_rule.most_stones]
        return GamePosition(Board.from_moves(stones, self.variant), self.decisions)

    def checked(self) -> "GameRecord":
        """The record itself.

        Raises:
            ValueError: its opening is none by its rule.
        """
        self.opening_position()
        return self

    def board(self) -> Board:
        """The board after the last move.

        Raises:
            IllegalMoveError: the moves are no game of the variant.
        """
        return Board.from_moves(self.moves, self.variant)

    def _repr_svg_(self) -> str:
        return self.board().svg()


_CELL = re.compile(r"\s*([A-Za-z][0-9]{1,2})")


def format_position(cells: Iterable[int], variant: Variant) -> str:
    """Write moves one behind the other."""
    return "".join(cell_name(cell, variant) for cell in cells)


def parse_position(text: str, variant: Variant) -> tuple[int, ...]:
    """Read moves, with or without white space between them.

    Raises:
        ValueError: what stands somewhere is no cell of the board, or there are too many.
    """
    cells: list[int] = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        cell = _CELL.match(text, place)
        if cell is None or len(cells) == variant.cells:
            rest = text[place : place + 10]
            raise ValueError(f'no move of the {variant.size} board at "{rest}"')
        cells.append(parse_cell(cell[1], variant))
        place = cell.end()
    return tuple(cells)


def from_position(text: str, variant: Variant) -> GameRecord:
    """Read a game, of which nothing but the moves is known.

    Raises:
        ValueError: the text is none, or the moves are no legal game.
    """
    moves = parse_position(text, variant)
    board = Board.from_moves(moves, variant)
    return GameRecord(variant, "", "", moves, outcome=finished_outcome(board))
