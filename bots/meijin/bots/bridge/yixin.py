"""Yixin's extension of the Gomocup protocol.

Source: the protocol of Yixin-Board; it adds commands that begin with ``yx``, and limits and
resources as INFO, which are given as the engine's options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType

from meijin.bots.bridge.dialogue import Ask, Dialogue, Kind
from meijin.bots.bridge.errors import EngineRefusedError
from meijin.bots.bridge.gomocup import GomocupProtocol, board_lines
from meijin.bots.bridge.rules import RULE_NUMBERS

INFO_KEYS = frozenset(
    {
        "max_depth",
        "max_node",
        "hash_size",
        "thread_num",
        "thread_split_depth",
        "time_increment",
        "caution_factor",
        "pondering",
        "usedatabase",
        "strength",
        "checkmate",
        "vcthread",
        "show_detail",
        "nbestsym",
    }
)
"""What can be told of by INFO beyond the Gomocup protocol."""
STOP_PATIENCE = timedelta(seconds=1)
"""What an engine may take to answer when it is told to stop."""


class YixinProtocol(GomocupProtocol):
    """The Gomocup protocol, with a search that can be stopped."""

    name = "yixin"
    rule_numbers: Mapping[str, int] = MappingProxyType({**RULE_NUMBERS, "renju": 2})
    """Its text counts renju as 2."""

    def stop(self) -> Dialogue[None]:
        """Have the engine end its search: it answers with the move that it has, which is dropped.

        What stands on its board is unknown then, and it is told of it with the next position.

        Raises:
            EngineRefusedError: it goes on.
        """
        self._stones = [-1]
        reply = yield Ask(["yxstop"], frozenset({Kind.MOVE}), STOP_PATIENCE)
        if reply.kind is Kind.SILENCE:
            raise EngineRefusedError("the engine doesn't answer yxstop")

    def show(self, moves: Sequence[int]) -> Dialogue[None]:
        """Put a position on its board without having it move."""
        assert self._variant is not None
        yield Ask(board_lines(moves, self._variant, command="yxboard"))
        self._stones = list(moves)
