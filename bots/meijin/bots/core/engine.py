"""The search core as Python sees it: an engine that is handed positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Timer

import numpy as np

from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import FIVES, tables_of
from meijin.bots.core.search import iterative_deepening
from meijin.bots.core.state import STATE, init, make
from meijin.bots.core.transposition import new_table
from meijin.game import Board, Color, Variant
from meijin.game.rules.variant import GOMOKU_LINE, MIN_GOMOKU_SIDE

MAX_DEPTH = 100
NO_LIMIT = 1 << 60


@dataclass(frozen=True, slots=True)
class Options:
    """How to search; each part can be left out, to see what it is good for."""

    vcf: bool = True
    """Search for VCF, wins by fours."""
    vct: bool = False
    """Search for VCT, wins by fours and threes; it has cost more in depth than it won."""
    table: bool = True
    """Use a transposition table."""
    reductions: bool = True
    """Late move reductions and pruning, and internal iterative reductions."""
    futility: bool = True
    """Reverse futility pruning."""
    plain: bool = False
    """Bare alpha-beta over all candidates, as the definition has it."""
    width: int = 24
    """The most moves tried at a node."""
    noise: int = 0
    """Static evaluations are off by as much, up or down: a weaker player."""
    table_bits: int = 20
    """The table has 2 to the power of it entries, 16 bytes each."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a search ends, whichever comes first."""

    depth: int = MAX_DEPTH
    """Plies."""
    nodes: int = NO_LIMIT
    time: timedelta | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found; the first cell of its principal variation is the move."""

    score: int
    """From the side to move, in hundredths of the logarithm of the odds; see `WIN_SCORE`."""
    depth: int
    """Plies searched in full."""
    nodes: int
    """Positions visited."""
    pv: tuple[int, ...]
    """The principal variation: the cells expected, beginning with `cell`."""
    seldepth: int = 0
    """Selective depth: the ply that the last iterations reached with all extensions."""

    @property
    def cell(self) -> int:
        """The move to play."""
        return self.pv[0]


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
        self._configure(options)

    def _configure(self, options: Options) -> None:
        state = self.state
        full = not options.plain
        state.plain = options.plain
        state.use_vcf = full and options.vcf
        state.use_vct = full and options.vct
        state.use_table = full and options.table
        state.use_reductions = full and options.reductions
        state.use_futility = full and options.futility
        state.width = options.width
        state.noise = options.noise

    def warm_up(self) -> None:
        """Run everything once, so that the first move is no slower than the others."""
        self.search([], Limits(depth=2))

    def search(self, moves: Sequence[int], limits: Limits | None = None) -> SearchResult:
        """Find the best move after `moves`, black's first; see `search_board`."""
        return self.search_board(Board.from_moves(moves, self.variant), limits)

    def search_board(self, board: Board, limits: Limits | None = None) -> SearchResult:
        """Find the best move for the side to move, without touching the board.

        Raises:
            ValueError: the game is over, or it is another variant's.
        """
        if board.is_over:
            raise ValueError("the game is over; there is no move to find")
        if board.variant != self.variant:
            raise ValueError(f"this engine plays {self.variant}, not {board.variant}")
        limits = limits or Limits()
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
        for seen in (state.vcf_seen, state.vct_seen, state.values):
            seen[:] = 0
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
