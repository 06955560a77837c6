"""The readable searches, as a bot."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

from meijin.bots import reference
from meijin.bots.core.cache import source_digest
from meijin.bots.reference.gomoku import NEAR, GomokuGame, PlayoutGame, by_promise
from meijin.bots.sdk.answer import Analysis, Choice
from meijin.bots.sdk.bot import DIGEST_LENGTH, Bot, options_given
from meijin.bots.sdk.position import Position
from meijin.game import RULES, Board
from meijin.wire.capabilities import Capabilities

ALPHABETA = "alphabeta"
"""Minimax with alpha-beta pruning."""
MINIMAX = "minimax"
"""Plain minimax, without pruning."""
UCT = "uct"
"""Monte-Carlo tree search by UCB1, with random playouts."""
ALGORITHMS = (ALPHABETA, MINIMAX, UCT)

_FEWEST_PLAYOUTS = 2
_SOURCES = Path(reference.__file__).parent


class ReferenceBot(Bot):
    """Plays by the searches that are written to be read, near the stones and without a clock.

    Its playouts ask for the legal cells at every ply, which takes too long where there are fouls:
    with uct it plays the other rules.
    """

    name = "reference"
    search_threads = 1
    capabilities = Capabilities(
        rules=tuple(RULES.values()),
        min_size=3,
        max_size=22,
        min_move_time=timedelta(seconds=1),
        any_line=True,
        evaluates=True,
    )

    def __init__(
        self,
        algorithm: str = ALPHABETA,
        depth: int = 2,
        playouts: int = 500,
        seed: int | None = None,
    ) -> None:
        """Set what a move costs: `depth` plies, or `playouts` drawn by `seed` for uct.

        Raises:
            ValueError: there is no such algorithm, or it finds no move with so little.
        """
        if algorithm not in ALGORITHMS:
            raise ValueError(f'no algorithm "{algorithm}"; there are {", ".join(ALGORITHMS)}')
        if depth < 1:
            raise ValueError(f"depth {depth} is out of range: 1 or more")
        if playouts < _FEWEST_PLAYOUTS:
            raise ValueError(f"playouts {playouts} is out of range: {_FEWEST_PLAYOUTS} or more")
        if algorithm == UCT:
            rules = tuple(rule for rule in RULES.values() if not rule.has_forbidden_cells)
            self.capabilities = replace(self.capabilities, rules=rules)
        self._algorithm = algorithm
        self._depth = depth
        self._playouts = playouts
        self._seed = seed
        self._rng = Random(seed)  # noqa: S311 - no secret hangs on it

    @property
    def configuration(self) -> Mapping[str, str]:
        if self._algorithm == UCT:
            return options_given(algorithm=UCT, playouts=self._playouts, seed=self._seed)
        return options_given(algorithm=self._algorithm, depth=self._depth)

    @property
    def digest(self) -> str:
        """Tells versions apart, those of the searches too."""
        both = f"{super().digest}{source_digest(_SOURCES)}".encode()
        return hashlib.sha256(both).hexdigest()[:DIGEST_LENGTH]

    def choose(self, position: Position) -> Choice:
        board = position.board
        if self._algorithm == UCT:
            return self._play_out(board)
        game = GomokuGame(board, maximiser=board.side_to_move, reach=NEAR)
        if self._algorithm == MINIMAX:
            found = reference.minimax(game, self._depth)
        else:
            found = reference.alphabeta(game, self._depth, order=by_promise(board))
        analysis = Analysis(round(found.value), self._depth, found.nodes, (found.move,))
        return Choice(found.move, analysis)

    def _play_out(self, board: Board) -> Choice:
        game = PlayoutGame(board, maximiser=board.side_to_move)
        estimate = reference.uct(game, self._playouts, self._rng)
        score = round(100 * estimate.value)
        return Choice(estimate.move, Analysis(score, 1, self._playouts, (estimate.move,)))
