"""Monte-Carlo tree search, guided by a network or in its pure form."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from meijin.bots.builtin.compiled import CompiledBot
from meijin.bots.core.limits import TreeLimits
from meijin.bots.sdk.answer import Analysis, Choice
from meijin.bots.sdk.bot import options_given
from meijin.bots.sdk.position import Position, thinking_time
from meijin.game import GOMOKU, OPENING_RULES, RULES, Board, Variant
from meijin.game.rules.variant import GOMOKU_LINE
from meijin.wire.capabilities import Capabilities

if TYPE_CHECKING:
    from meijin.bots.core.puct import GuidedTree
    from meijin.bots.core.uct import PureTree

MAX_TREES = 4
"""Games whose trees are kept; each takes 64 MB."""
MAX_VISITS = 1 << 30
WARM_UP_VISITS = 256


GUIDED = "guided"
"""PUCT: a network gives the priors of moves and the values of positions."""
PURE = "pure"
"""UCT: positions are played to their end by random moves."""
FORMS = (GUIDED, PURE)


class MctsBot(CompiledBot):
    """Monte-Carlo tree search: PUCT with a network, or UCT with random playouts.

    Patterns know five in a row alone; other games are played in the pure form.
    """

    name = "mcts"
    version = "2"
    capabilities = Capabilities(
        rules=tuple(RULES.values()),
        min_size=3,
        max_size=22,
        min_move_time=timedelta(milliseconds=50),
        any_line=True,
        opening_rules=tuple(OPENING_RULES.values()),
        evaluates=True,
    )

    def __init__(
        self,
        form: str = GUIDED,
        seed: int | None = None,
        time_limit: timedelta | None = None,
        playouts: int | None = None,
    ) -> None:
        """Set the form, and the most that one move may cost; the game's clock limits it anyway.

        Raises:
            MissingExtraError: numba isn't installed.
            ValueError: there is no such form.
        """
        super().__init__()
        if form not in FORMS:
            raise ValueError(f'no form "{form}"; the forms are {" and ".join(FORMS)}')
        self._form = form
        self._seed = seed
        self._time_limit = time_limit
        self._playouts = playouts
        self._trees: OrderedDict[str, GuidedTree | PureTree] = OrderedDict()

    @property
    def configuration(self) -> Mapping[str, str]:
        return options_given(
            form=None if self._form == GUIDED else self._form,
            seed=self._seed,
            time_limit=self._time_limit,
            playouts=self._playouts,
        )

    def warm_up(self) -> None:
        """Search the first move of the game that is played most; have every rule's tables made."""
        from meijin.bots.core.lookup import prepare_rules  # noqa: PLC0415 - see `_new_tree`

        prepare_rules()
        self._new_tree(GOMOKU).search((), TreeLimits(WARM_UP_VISITS))

    def choose(self, position: Position) -> Choice:
        limits = TreeLimits(
            visits=min(self._playouts or MAX_VISITS, position.max_nodes or MAX_VISITS),
            time=thinking_time(position, self._time_limit),
        )
        result = self._tree(position).search(position.board.moves, limits)
        analysis = Analysis(
            score=round(100 * result.expected_score),
            depth=len(result.pv),
            nodes=result.visits,
            pv=result.pv,
        )
        return Choice(result.cell, analysis)

    def advantage(self, position: Position, board: Board, time: timedelta) -> float:
        """The score that a search expects, beyond a draw's."""
        time = min(time, thinking_time(position, self._time_limit))
        limits = TreeLimits(visits=self._playouts or MAX_VISITS, time=time)
        return self._tree(position).search(board.moves, limits).expected_score - 0.5

    def game_ended(self, game_id: str, outcome: object) -> None:  # noqa: ARG002 - a hook
        self._trees.pop(game_id, None)

    def _tree(self, position: Position) -> GuidedTree | PureTree:
        """The tree of a game, made at its first turn or when it was put away for others.

        A position outside of games has one of its own: two of them may be searched at once.
        """
        if not position.game_id:
            return self._new_tree(position.variant)
        tree = self._trees.pop(position.game_id, None) or self._new_tree(position.variant)
        self._trees[position.game_id] = tree
        while len(self._trees) > MAX_TREES:
            self._trees.popitem(last=False)
        return tree

    def _new_tree(self, variant: Variant) -> GuidedTree | PureTree:
        """Import compiled code no earlier than here: it needs more than the bare install."""
        from meijin.bots.core.puct import GuidedTree  # noqa: PLC0415 - see above
        from meijin.bots.core.uct import PureTree  # noqa: PLC0415 - see above

        if self._form == PURE or variant.line != GOMOKU_LINE:
            return PureTree(variant, 1 if self._seed is None else self._seed)
        return GuidedTree(variant)
