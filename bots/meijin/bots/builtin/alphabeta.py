"""Alpha-beta on the compiled search core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from meijin.bots.builtin.compiled import CompiledBot
from meijin.bots.core.limits import MAX_DEPTH, NO_LIMIT, Options, SearchLimits, SearchResult
from meijin.bots.sdk.answer import RESIGN, Analysis, Choice, Resignation
from meijin.bots.sdk.bot import options_given
from meijin.bots.sdk.position import Position, thinking_time
from meijin.game import GOMOKU, OPENING_RULES, RULES, Board, Variant
from meijin.game.records.chances import PROVEN_SCORE
from meijin.wire.capabilities import Capabilities

if TYPE_CHECKING:
    from meijin.bots.core.engine import Engine

STRONGEST = 10


@dataclass(frozen=True, slots=True)
class Level:
    """The limits and the noise of a weaker player."""

    depth: int
    """Plies."""
    nodes: int
    noise: int
    """How far its evaluations are off."""
    vcf: bool = True

    def options(self) -> Options:
        return Options(vcf=self.vcf, noise=self.noise, table_bits=16)


LEVELS: Mapping[int, Level] = {
    1: Level(depth=1, nodes=100, noise=150, vcf=False),
    2: Level(depth=1, nodes=200, noise=80, vcf=False),
    3: Level(depth=2, nodes=1_000, noise=60, vcf=False),
    4: Level(depth=3, nodes=2_000, noise=40, vcf=False),
    5: Level(depth=4, nodes=5_000, noise=30),
    6: Level(depth=5, nodes=10_000, noise=20),
    7: Level(depth=7, nodes=35_000, noise=8),
    8: Level(depth=8, nodes=80_000, noise=0),
    9: Level(depth=10, nodes=250_000, noise=0),
}
"""By strength; the strongest has no limits but its time."""


class AlphaBetaBot(CompiledBot):
    """Alpha-beta with iterative deepening, as deep as time allows, and deeper along threats."""

    name = "alphabeta"
    version = "2"
    capabilities = Capabilities(
        rules=tuple(RULES.values()),
        min_size=5,
        max_size=22,
        min_move_time=timedelta(milliseconds=20),
        opening_rules=tuple(OPENING_RULES.values()),
        evaluates=True,
    )

    def __init__(
        self,
        time_limit: timedelta | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        level: int = STRONGEST,
        *,
        resign: bool = False,
    ) -> None:
        """Set the most that one move may cost; the clock of the game limits it anyway.

        `level` is its strength, 1 to 10. With a limit of `depth` or `nodes` a game repeats, as
        long as there is time enough: nothing is kept from the games before. With `resign` it
        gives up games that it has seen to be lost.

        Raises:
            MissingExtraError: numba isn't installed.
            ValueError: there is no such level.
        """
        super().__init__()
        if not 1 <= level <= STRONGEST:
            raise ValueError(f"level {level} is out of range: 1 to {STRONGEST}")
        self._time_limit = time_limit
        self._depth = depth
        self._nodes = nodes
        self._level = level
        self._resign = resign
        self._engines: dict[Variant, list[Engine]] = {}
        self._is_limited = depth is not None or nodes is not None
        self._last_game = ""
        """The game that was searched in last."""

    @property
    def configuration(self) -> Mapping[str, str]:
        return options_given(
            time_limit=self._time_limit,
            depth=self._depth,
            nodes=self._nodes,
            level=None if self._level == STRONGEST else self._level,
            resign=self._resign or None,
        )

    def warm_up(self) -> None:
        """Set up the board that most games have, search it, and have every rule's tables made."""
        from meijin.bots.core.lookup import prepare_rules  # noqa: PLC0415 - see `_take`

        prepare_rules()
        engine = self._take(GOMOKU)
        engine.warm_up()
        self._engines[GOMOKU].append(engine)

    def choose(self, position: Position) -> Choice | Resignation:
        limits, game_id = self._limits(position), position.game_id
        is_limited = self._is_limited or position.max_nodes > 0
        result = self._search(position.board, limits, game_id, is_limited=is_limited)
        if self._resign and _is_lost(result):
            return RESIGN
        analysis = Analysis(result.score, result.depth, result.nodes, result.pv)
        return Choice(result.cell, analysis)

    def advantage(self, position: Position, board: Board, time: timedelta) -> float:
        limits = self._limits(position)
        limits = replace(limits, time=min(time, limits.time or time))
        game_id = position.game_id
        return self._search(board, limits, game_id, is_limited=self._is_limited).score

    def _search(
        self, board: Board, limits: SearchLimits, game_id: str, *, is_limited: bool
    ) -> SearchResult:
        engine = self._take(board.variant)
        if is_limited and (not game_id or game_id != self._last_game):
            engine.forget()
        self._last_game = game_id
        try:
            return engine.search_board(board, limits)
        finally:
            self._engines[board.variant].append(engine)

    def _take(self, variant: Variant) -> Engine:
        """Take an engine that no other thread is using."""
        idle = self._engines.setdefault(variant, [])
        try:
            return idle.pop()
        except IndexError:
            # numba is imported where it is needed: it isn't part of the bare install.
            from meijin.bots.core.engine import Engine  # noqa: PLC0415

            level = LEVELS.get(self._level)
            return Engine(variant, level.options() if level else Options())

    def _limits(self, position: Position) -> SearchLimits:
        level = LEVELS.get(self._level, Level(MAX_DEPTH, NO_LIMIT, noise=0))
        return SearchLimits(
            depth=min(self._depth or MAX_DEPTH, level.depth, position.board.plies_left),
            nodes=min(self._nodes or NO_LIMIT, level.nodes, position.max_nodes or NO_LIMIT),
            time=thinking_time(position, self._time_limit),
        )


def _is_lost(result: SearchResult) -> bool:
    return result.score <= -PROVEN_SCORE
