"""The search core as Python sees it: an engine that is handed positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from threading import Timer

import numpy as np

from meijin.bots.core.jit import new_record
from meijin.bots.core.limits import MAX_DEPTH, Options, SearchLimits, SearchResult
from meijin.bots.core.lookup import FIVES, tables_of
from meijin.bots.core.search import iterative_deepening
from meijin.bots.core.state import STATE, init, make
from meijin.bots.core.transposition import new_table
from meijin.game import Board, Color, Opening, Variant
from meijin.game.rules.variant import GOMOKU_LINE, MIN_GOMOKU_SIDE


class Engine:
    """Searches positions of one variant; the transposition table is kept between them.

    One thread at a time may search; any may call `stop`.
    """

    variant: Variant
    state: np.record
    """The position searched last, see `STATE`."""

    def __init__(self, variant: Variant, options: Options | None = None) -> None:
        """Set up the tables.

        Raises:
            ValueError: the core doesn't play the variant.
        """
        if not supports(variant):
            raise ValueError(f"the search core plays five in a row on 5x5 to 22x22, not {variant}")
        self.variant = variant
        options = options or Options()
        self._tables = tables_of(variant)
        self.state = new_record(STATE)
        self._table = new_table(options.table_bits)
        self.state.plain, self.state.width = options.plain, options.width
        self.state.noise = options.noise
        for part in ("vcf", "table", "reductions", "futility"):
            setattr(self.state, f"use_{part}", getattr(options, part) and not options.plain)

    def warm_up(self) -> None:
        """Run everything once, so that the first move is no slower than the others."""
        self.search([], SearchLimits(depth=2))

    def search(self, moves: Sequence[int], limits: SearchLimits | None = None) -> SearchResult:
        """Find the best move after `moves`, black's first; see `search_board`."""
        return self.search_board(Board.from_moves(moves, self.variant), limits)

    def search_board(self, board: Board, limits: SearchLimits | None = None) -> SearchResult:
        """Find the best move for the side to move, without touching the board.

        Raises:
            ValueError: the game is over, or it is another variant's.
        """
        if board.is_over:
            raise ValueError("the game is over; there is no move to find")
        if board.variant != self.variant:
            raise ValueError(f"this engine plays {self.variant}, not {board.variant}")
        limits = limits or SearchLimits()
        state = self.state
        self._set_up(board)
        state.age += 1
        state.stop = 0
        state.node_limit = limits.nodes
        with self._deadline(limits.time):
            iterative_deepening(state, self._tables, self._table, min(limits.depth, MAX_DEPTH))
        return self._result()

    def forget(self) -> None:
        """Empty all tables: what is found next is what a new engine finds."""
        self._table[:] = np.zeros((), self._table.dtype)
        state = self.state
        state.vcf_seen[:] = state.values[:] = 0
        state.age = 0

    def stop(self) -> None:
        """End the search that runs now, if one does."""
        self.state.stop = 1

    def _set_up(self, board: Board) -> None:
        """Place the stones: in the order played, where it is known."""
        state, tables = self.state, self._tables
        init(state, tables)
        if len(board.moves) == sum(stone is not None for stone in _stones(board)):
            for cell in board.moves:
                make(state, tables, cell)
            return
        for cell, stone in enumerate(_stones(board)):
            if stone is not None:
                state.side = stone - Color.BLACK
                make(state, tables, cell)
        state.side = board.side_to_move - Color.BLACK

    @contextmanager
    def _deadline(self, time: timedelta | None) -> Iterator[None]:
        """Stop the search when `time` is up.

        The core can't read a clock; it polls a flag, and runs without the lock that the
        timer's thread needs to set it.
        """
        if time is None:
            yield
            return
        timer = Timer(max(0.0, time.total_seconds()), self.stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # or it might stop the next search

    def _result(self) -> SearchResult:
        state = self.state
        line = state.best_line[: state.best_length]
        return SearchResult(
            score=int(state.best_score),
            depth=int(state.best_depth),
            nodes=int(state.nodes),
            pv=tuple(int(cell) for cell in line),
            seldepth=int(state.best_seldepth),
        )


def supports(variant: Variant) -> bool:
    """Whether the core knows the variant's rule, line and size."""
    return (
        variant.rule.name in FIVES
        and variant.line == GOMOKU_LINE
        and min(variant.width, variant.height) >= MIN_GOMOKU_SIDE
    )


def _stones(board: Board) -> list[Color | None]:
    return [board.stone(cell) for cell in range(board.variant.cells)]


LOOKS = ((1_000, 150), (20_000, 50))
"""Positions that a search visits, and the score, in hundredths of the logarithm of the odds,
beyond which it leaves an opening out: most are one-sided, which a short search sees."""
TABLE_BITS = 16


def imbalance(opening: Opening, variant: Variant, nodes: int) -> int | None:
    """The score of the side to move where a look finds one side far ahead; ``None`` else.

    A search counts positions rather than time, and each opening begins with an empty table, so
    the verdict is the same on every machine. `nodes` are those of the last look.
    """
    board = Board.from_moves(opening, variant)
    engine = Engine(variant, Options(table_bits=TABLE_BITS))
    for visits, most in (*(look for look in LOOKS if look[0] < nodes), (nodes, LOOKS[-1][1])):
        score = engine.search_board(board, SearchLimits(nodes=visits)).score
        if abs(score) > most:
            return score
    return None
