"""The Go Text Protocol, as far as Gomoku needs it.

Source: GTP version 2 by Gunnar Farnebäck. Columns are lettered without I, rows count from below,
and every command is answered with ``=`` or ``?``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

from meijin.bots.bridge.dialogue import (
    Ask,
    Dialogue,
    EngineProtocol,
    EngineTime,
    Kind,
    NewGame,
    Point,
    Reply,
    Turn,
)
from meijin.bots.bridge.errors import EngineRefusedError
from meijin.bots.sdk.answer import RESIGN, Resignation
from meijin.game import Variant

LETTERS = "ABCDEFGHJKLMNOPQRSTUVW"
"""The columns; I is left out."""
PATIENCE = timedelta(seconds=30)
"""What a command that searches for no move may take."""

_ANSWER = re.compile(r"([=?])[0-9]*\s*(.*)")
_VERTEX = re.compile(rf"([{LETTERS}])([1-9][0-9]?)", re.IGNORECASE)
_ANSWERS = frozenset({Kind.OK, Kind.ERROR})
_COLORS = ("black", "white")


def vertex(cell: int, variant: Variant) -> str:
    """The name of a cell."""
    row, column = divmod(cell, variant.width)
    return f"{LETTERS[column]}{variant.height - row}"


def parse_vertex(text: str, variant: Variant) -> Point | None:
    """The point of that name, which may be off the board; ``None`` if it is no name."""
    match = _VERTEX.fullmatch(text.strip())
    if match is None:
        return None
    return LETTERS.index(match[1].upper()), variant.height - int(match[2])


class GtpProtocol(EngineProtocol):
    """The commands boardsize, clear_board, play, genmove, time_settings and time_left."""

    name = "gtp"

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self._variant: Variant | None = None
        self._stones: list[int] = []
        self._knows_time = True

    def read(self, line: str) -> Reply:
        """Read a line of the engine; the lines that follow an answer's first are left out."""
        match = _ANSWER.fullmatch(line)
        if match is None:
            return Reply(Kind.MESSAGE, line)
        return Reply(Kind.OK if match[1] == "=" else Kind.ERROR, match[2])

    def about(self) -> Dialogue[Mapping[str, str]]:
        """Ask for its name and its version."""
        told = {}
        for key in ("name", "version"):
            reply = yield Ask([key], _ANSWERS, timedelta(seconds=2))
            if reply.kind is Kind.OK:
                told[key] = reply.text
        return told

    def start(self, variant: Variant) -> Dialogue[None]:
        """Set the size of its board, and clear it.

        Raises:
            EngineRefusedError: it has no such board, or the board is no square.
        """
        self._variant = None
        if variant.width != variant.height:
            raise EngineRefusedError(f"GTP has no boards of {variant.size}")
        yield from self._ask(f"boardsize {variant.width}")
        yield from self._ask("clear_board")
        self._variant = variant
        self._stones = []

    def new_game(self, game: NewGame) -> Dialogue[None]:
        """Begin a game.

        Raises:
            EngineRefusedError: it has no such board.
        """
        yield from self.start(game.variant)
        for key, value in self.options.items():
            yield from self._ask(f"{key} {value}".strip())
        yield from self._tell_time(_time_settings(game.time))

    def choose(self, turn: Turn) -> Dialogue[Point | Resignation]:
        """Show it the moves that it hasn't seen, and have it choose its own.

        Raises:
            EngineRefusedError: it can't, or passes.
        """
        assert self._variant is not None
        yield from self._show(turn.moves)
        color = _COLORS[len(turn.moves) % 2]
        if turn.time is not None and turn.time.left_ms is not None:
            yield from self._tell_time(f"time_left {color} {turn.time.left_ms // 1000} 0")
        reply = yield Ask([f"genmove {color}"], _ANSWERS)
        if reply.kind is Kind.OK and reply.text.lower() == "resign":
            return RESIGN
        point = parse_vertex(reply.text, self._variant) if reply.kind is Kind.OK else None
        if point is None:
            raise EngineRefusedError(_complaint("genmove", reply))
        x, y = point
        self._stones = [*turn.moves, y * self._variant.width + x]
        return point

    def end(self) -> Sequence[str]:
        """Quit."""
        return ["quit"]

    def _show(self, moves: Sequence[int]) -> Dialogue[None]:
        assert self._variant is not None
        if list(moves[: len(self._stones)]) != self._stones:
            yield from self._ask("clear_board")
            self._stones = []
        for ply in range(len(self._stones), len(moves)):
            yield from self._ask(f"play {_COLORS[ply % 2]} {vertex(moves[ply], self._variant)}")
        self._stones = list(moves)

    def _tell_time(self, command: str) -> Dialogue[None]:
        """Tell it of the time, unless it has no such command."""
        if self._knows_time:
            reply = yield Ask([command], _ANSWERS, PATIENCE)
            self._knows_time = reply.kind is Kind.OK

    def _ask(self, command: str) -> Dialogue[None]:
        reply = yield Ask([command], _ANSWERS, PATIENCE)
        if reply.kind is not Kind.OK:
            raise EngineRefusedError(_complaint(command, reply))


def _time_settings(time: EngineTime) -> str:
    """The main time; or, where only moves are limited, a period for each of them.

    The protocol counts whole seconds, of which there is one at least.
    """
    if time.left_ms is None:
        return f"time_settings 0 {max(1, time.turn_ms // 1000)} 1"
    return f"time_settings {max(1, time.match_ms // 1000)} 0 0"


def _complaint(command: str, reply: Reply) -> str:
    if reply.kind is Kind.SILENCE:
        return f"the engine doesn't answer {command}"
    sign = "=" if reply.kind is Kind.OK else "?"
    return f"the engine answers {command} with {sign} {reply.text}".rstrip()
