"""How bots that search play openings: balanced stones, and the better side by their own search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from random import Random

from meijin.bots.builtin.compiled import CompiledBot
from meijin.bots.sdk.budget import thinking_time
from meijin.bots.sdk.position import Position
from meijin.game import FREE, Board, Color
from meijin.game.openings.book import generated_openings

CANDIDATES = 8
"""Openings that are looked at, of which the most balanced is placed."""


class OpeningSearcher(CompiledBot):
    """A bot that plays openings by the values that its own search gives to positions."""

    def advantage(self, position: Position, board: Board, time: timedelta) -> float:
        """How much better the side to move stands, in any unit; below 0 it stands worse.

        `board` is a position of the same game, searched for no longer than `time`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no advantage method")

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        """Place the candidate after which neither side is better, as far as a search sees."""
        candidates = _candidates(position, stones)
        time = thinking_time(position) / len(candidates)

        def imbalance(cells: Sequence[int]) -> float:
            board = position.board.copy()
            for cell in cells:
                board.play(cell)
            return abs(self.advantage(position, board, time))

        return min(candidates, key=imbalance)

    def choose_side(self, position: Position, stones: int) -> Color | Sequence[int]:  # noqa: ARG002 - it never places more
        """Take the side that is better, as far as a search sees."""
        side = position.board.side_to_move
        value = self.advantage(position, position.board, thinking_time(position))
        return side if value >= 0 else side.other


def _candidates(position: Position, stones: int) -> list[tuple[int, ...]]:
    """Half of them begin balanced openings, and half lie anywhere; drawn by the game's name.

    One stone alone lies anywhere: near the middle black is better.
    """
    rng = Random(position.game_id)  # noqa: S311 - the opponent may know it
    legal = position.legal_cells()
    anywhere = (tuple(rng.sample(legal, stones)) for _ in range(CANDIDATES))
    book = generated_openings(replace(position.variant, opening_rule=FREE, draw_at=None))
    known = [opening[:stones] for opening in book if len(opening) > stones > 1]
    if position.board.moves or not known:
        return list(anywhere)
    half = CANDIDATES // 2
    return [*rng.sample(known, min(half, len(known))), *islice(anywhere, half)]
