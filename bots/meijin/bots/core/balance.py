"""The balance of an opening, as the search sees it."""

from meijin.bots.core.engine import Engine, Limits, Options
from meijin.game import Board, Opening, Variant

LOOKS = ((1_000, 150), (20_000, 50))
"""Positions that a search visits, and the score, in hundredths of the logarithm of the odds,
beyond which it leaves an opening out: most are one-sided, which a short search sees."""
TABLE_BITS = 16


def imbalance(opening: Opening, variant: Variant) -> int | None:
    """The score of the side to move where a look finds one side far ahead; ``None`` else.

    A search counts positions rather than time, and each opening begins with an empty table, so
    the verdict is the same on every machine.
    """
    board = Board.from_moves(opening, variant)
    engine = Engine(variant, Options(table_bits=TABLE_BITS))
    for nodes, most in LOOKS:
        score = engine.search_board(board, Limits(nodes=nodes)).score
        if abs(score) > most:
            return score
    return None
