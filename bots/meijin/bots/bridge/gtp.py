"""The Go Text Protocol, as far as Gomoku needs it.

Source: GTP version 2 by Gunnar Farnebäck. Columns are lettered without I, rows count from below,
and every command is answered with ``=`` or ``?``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

from meijin.bots.bridge.dialogue import (
    ANSWERS,
    Ask,
    Dialogue,
    EngineProtocol,
    EngineRefusedError,
    EngineReply,
    EngineTime,
    EngineTraits,
    NewGame,
    Point,
    ReplyKind,
)
from meijin.bots.sdk.answer import RESIGN, Resignation
from meijin.game import Variant

LETTERS = "ABCDEFGHJKLMNOPQRSTUVW"
"""The columns; I is left out."""
PATIENCE = timedelta(seconds=30)
"""What a command that searches for no move may take."""

_ANSWER = re.compile(r"([=?])[0-9]*\s*(.*)")
_VERTEX = re.compile(rf"([{LETTERS}])([1-9][0-9]?)", re.IGNORECASE)
_COLORS = ("black", "white")


def vertex(cell: int, variant: Variant) -> str:
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
    farewell = "quit"

    def __init__(self, options: Mapping[str, str], traits: EngineTraits | None = None) -> None:
        super().__init__(options, traits)
        self._knows_time = True

    def read(self, line: str) -> EngineReply:
        """Read a line of the engine; the lines that follow an answer's first are left out."""
        match = _ANSWER.fullmatch(line)
        if match is None:
            return EngineReply(ReplyKind.MESSAGE, line)
        return EngineReply(ReplyKind.OK if match[1] == "=" else ReplyKind.ERROR, match[2])

    def about(self) -> Dialogue[Mapping[str, str]]:
        told = {}
        for key in ("name", "version"):
            reply = yield Ask([key], ANSWERS, timedelta(seconds=2))
            if reply.kind is ReplyKind.OK:
                told[key] = reply.text
        return told

    def start(self, variant: Variant) -> Dialogue[None]:
        """Set the size of its board, and clear it."""
        self._variant = None
        if variant.width != variant.height:
            raise EngineRefusedError(f"GTP has no boards of {variant.size}")
        yield from self._order(f"boardsize {variant.width}", PATIENCE)
        yield from self._order("clear_board", PATIENCE)
        self._variant, self._stones = variant, []

    def new_game(self, game: NewGame) -> Dialogue[None]:
        yield from self.start(game.variant)
        for key, value in self.options.items():
            yield from self._order(f"{key} {value}".strip(), PATIENCE)
        yield from self._tell_time(_time_settings(game.time))

    def find_refused(self, variant: Variant) -> Dialogue[Mapping[str, str]]:  # noqa: ARG002 - its board stays
        refused = {}
        for key, value in self.options.items():
            reply = yield Ask([f"{key} {value}".strip()], ANSWERS, PATIENCE)
            if reply.kind is not ReplyKind.OK:
                refused[key] = self._quote(reply)
        return refused

    def choose(self, moves: Sequence[int], time: EngineTime) -> Dialogue[Point | Resignation]:
        """Show it the moves that it hasn't seen, and have it choose its own."""
        if list(moves[: len(self._stones)]) != self._stones:
            yield from self._order("clear_board", PATIENCE)
            self._stones = []
        for ply in range(len(self._stones), len(moves)):
            stone = f"{_COLORS[ply % 2]} {vertex(moves[ply], self._begun)}"
            yield from self._order(f"play {stone}", PATIENCE)
        self._stones = list(moves)
        color = _COLORS[len(moves) % 2]
        if time.left_ms is not None:
            yield from self._tell_time(f"time_left {color} {time.left_ms // 1000} 0")
        reply = yield Ask([f"genmove {color}"], ANSWERS)
        if reply.kind is ReplyKind.OK and reply.text.lower() == "resign":
            return RESIGN
        point = parse_vertex(reply.text, self._begun) if reply.kind is ReplyKind.OK else None
        if point is None:
            raise self._refusal("genmove", reply)
        self._note(moves, point)
        return point

    def _tell_time(self, command: str) -> Dialogue[None]:
        """Tell it of the time, unless it has no such command."""
        if self._knows_time:
            reply = yield Ask([command], ANSWERS, PATIENCE)
            self._knows_time = reply.kind is ReplyKind.OK

    def _quote(self, reply: EngineReply) -> str:
        return f"{'=' if reply.kind is ReplyKind.OK else '?'} {reply.text}"


def _time_settings(time: EngineTime) -> str:
    """The main time; or, where only moves are limited, a period for each of them.

    The protocol counts whole seconds, of which there is one at least.
    """
    if time.left_ms is None:
        return f"time_settings 0 {max(1, time.turn_ms // 1000)} 1"
    return f"time_settings {max(1, time.match_ms // 1000)} 0 0"
