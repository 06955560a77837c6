"""Bare alpha-beta in plain Python: the core's, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field

from plain_network import PlainNetwork
from plain_state import PlainState

from meijin.bots.core.evaluate import MAX_EVAL, PROVEN, WIN_SCORE
from meijin.bots.core.movegen import TT_MOVE_BONUS
from meijin.bots.core.shapes import WIN

LOWEST = -(1 << 40)
"""Less than any score."""


@dataclass(slots=True)
class PlainSearch:
    """Deepens ply by ply, as the core does with `Options.plain`, in as many positions."""

    state: PlainState
    nodes: int = 0
    """Positions visited in all iterations."""
    _first: int = -1
    """The best move of the iteration before."""
    network: PlainNetwork = field(init=False)

    def __post_init__(self) -> None:
        self.network = PlainNetwork(self.state)

    def iterative_deepening(self, depth_limit: int) -> int:
        """Score the position for the side to move."""
        state = self.state
        if state.counts[state.side][WIN]:
            return WIN_SCORE - 1
        moves, scores = self._listed(-1)
        self._first = moves[scores.index(max(scores))]
        for depth in range(1, min(depth_limit, state.empties) + 1):
            score = self._search(-WIN_SCORE, WIN_SCORE, depth, 0)
            if score >= PROVEN:
                break
        return score

    def _search(self, alpha: int, beta: int, depth: int, ply: int) -> int:
        state = self.state
        self.nodes += 1
        if state.counts[state.side][WIN]:
            return WIN_SCORE - ply - 1
        if state.empties == 0:
            return 0
        if depth <= 0:
            return max(-MAX_EVAL, min(MAX_EVAL, self.network.value()))
        best = LOWEST
        moves, scores = self._listed(self._first if ply == 0 else -1)
        for number in range(len(moves)):
            move = _pick(moves, scores, number)
            state.make(move)
            score = -self._search(-beta, -alpha, depth - 1, ply + 1)
            state.undo()
            best = max(best, score)
            if score > alpha:
                alpha = score
                if ply == 0:
                    self._first = move
            if alpha >= beta:
                break
        return best

    def _listed(self, tt_move: int) -> tuple[list[int], list[int]]:
        """The moves to try with their scores; `tt_move` is the one to try first, or -1."""
        moves = self.state.candidates()
        self.network.sync()
        scores = [self.network.policy_score(cell) for cell in moves]
        if tt_move >= 0:
            scores[moves.index(tt_move)] += TT_MOVE_BONUS
        return moves, scores


def _pick(moves: list[int], scores: list[int], number: int) -> int:
    """Swap the best of the moves from `number` on to its place, as the core does."""
    best = max(range(number, len(moves)), key=scores.__getitem__)
    moves[number], moves[best] = moves[best], moves[number]
    scores[number], scores[best] = scores[best], scores[number]
    return moves[number]
