"""Adjudication: games ended before their end, by scores that both sides agree about."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from meijin.game.color import Seat
from meijin.game.outcome import Ending, Outcome
from meijin.game.position import GamePosition

MAX_SCORE = 10**9
MAX_MOVES = 100
"""Of each side, that one rule may ask for."""

MAX_PLY = 22 * 22
"""From which draws may begin at the latest: the largest board is full."""

_FORM = re.compile(r"(?:resign=(\d+)/(\d+))? ?(?:draw=(\d+)/(\d+)/(\d+))?")


@dataclass(frozen=True, slots=True)
class ResignRule:
    """A side loses that both have seen lost for a while."""

    score: int
    """The loser says at most its negative, and the winner at least this."""
    moves: int
    """Of each side, one after another."""

    def __post_init__(self) -> None:
        _check("resign score", self.score, 1, MAX_SCORE)
        _check("resign moves", self.moves, 1, MAX_MOVES)


@dataclass(frozen=True, slots=True)
class DrawRule:
    """A game is drawn that both sides have seen level for a while."""

    score: int
    """What both say is no further from 0."""
    moves: int
    """Of each side, one after another."""
    from_ply: int = 0
    """Moves count that are made with at least this many stones on the board."""

    def __post_init__(self) -> None:
        _check("draw score", self.score, 0, MAX_SCORE)
        _check("draw moves", self.moves, 1, MAX_MOVES)
        _check("draw from_ply", self.from_ply, 0, MAX_PLY)


@dataclass(frozen=True, slots=True)
class Adjudication:
    """Which games end before their end, written ``resign=900/4 draw=10/8/40``."""

    resign: ResignRule | None = None
    draw: DrawRule | None = None

    def __post_init__(self) -> None:
        if self.resign is None and self.draw is None:
            raise ValueError("an adjudication needs a rule to resign, one to draw, or both")

    def __str__(self) -> str:
        parts = []
        if (resign := self.resign) is not None:
            parts.append(f"resign={resign.score}/{resign.moves}")
        if (draw := self.draw) is not None:
            parts.append(f"draw={draw.score}/{draw.moves}/{draw.from_ply}")
        return " ".join(parts)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` writes.

        Raises:
            ValueError: the form is wrong, or a number is out of range.
        """
        form = _FORM.fullmatch(text.strip())
        if form is None:
            message = f'"{text}" is no adjudication; write such as "resign=900/4 draw=10/8/40"'
            raise ValueError(message)
        score, moves, *draw = form.groups()
        return cls(
            None if score is None else ResignRule(int(score), int(moves)),
            None if draw[0] is None else DrawRule(*map(int, draw)),
        )


class Adjudicator:
    """Follows what the sides of one game say of their moves, and ends it by the rules."""

    __slots__ = ("_level", "_lost", "_rules", "_said", "_won")

    def __init__(self, rules: Adjudication) -> None:
        self._rules = rules
        # By the value of a seat: how many of its last moves, one after another, said so.
        self._lost, self._won, self._level = [0, 0, 0], [0, 0, 0], [0, 0, 0]
        self._said: tuple[list[int], ...] = ([], [], [])
        """By the value of a seat: its scores in its last moves, the newest last."""

    def note(
        self, seat: Seat, ply: int, score: int | None, position: GamePosition
    ) -> Outcome | None:
        """A side has made a move and said its score; the end of the game, if that ends it.

        Args:
            ply: How many stones lay on the board before the move.
            score: From the mover's side; ``None`` where it said nothing.
            position: After the move; it tells the sides' colours.
        """
        self._count(seat, ply, score)
        resign, draw = self._rules.resign, self._rules.draw
        if resign is not None:
            for loser in Seat:
                # The runs of both are long enough: they end now, and so overlap.
                if min(self._lost[loser], self._won[loser.other]) >= resign.moves:
                    detail = _words(self._said, (loser, loser.other), resign.moves, position)
                    winner = position.color_of(loser.other)
                    return Outcome(Ending.ADJUDICATION, winner, detail=detail)
        if draw is not None and min(self._level[seat] for seat in Seat) >= draw.moves:
            detail = _words(self._said, Seat, draw.moves, position)
            return Outcome(Ending.ADJUDICATION, detail=detail)
        return None

    def _count(self, seat: Seat, ply: int, score: int | None) -> None:
        if score is None:
            self._lost[seat] = self._won[seat] = self._level[seat] = 0
            self._said[seat].clear()
            return
        self._said[seat].append(score)
        del self._said[seat][:-MAX_MOVES]
        if (resign := self._rules.resign) is not None:
            self._lost[seat] = self._lost[seat] + 1 if score <= -resign.score else 0
            self._won[seat] = self._won[seat] + 1 if score >= resign.score else 0
        if (draw := self._rules.draw) is not None:
            is_level = ply >= draw.from_ply and abs(score) <= draw.score
            self._level[seat] = self._level[seat] + 1 if is_level else 0


def _words(
    said: Sequence[list[int]], seats: Iterable[Seat], moves: int, position: GamePosition
) -> str:
    """What both sides said in their last moves, such as ``white said -950 to -900 and black ...``."""
    parts = []
    for seat in seats:
        low, high = min(said[seat][-moves:]), max(said[seat][-moves:])
        span = f"{low:+}" if low == high else f"{low:+} to {high:+}"
        parts.append(f"{position.color_of(seat).name.lower()} said {span}")
    last = "the last move" if moves == 1 else f"the last {moves} moves"
    return f"{' and '.join(parts)} in {last} each"


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name} {value} is out of range: {least} to {most}")
