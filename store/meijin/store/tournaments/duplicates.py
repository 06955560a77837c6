"""Duplicate games of a test: those that repeat an earlier one tell nothing new.

Games are the same that have versions, colours, opening, moves and end in common, or whose moves
are the mirror image of each other: a bot that plays a mirrored opening mirrored has played one
game. As on a ladder, a game that ended before a move was made repeats none.
"""

from collections.abc import Sequence

from meijin.game import Outcome, Variant, encode_moves
from meijin.game.board.symmetry import canonical
from meijin.store.ladders.games import PLAYERS, hash64
from meijin.store.schema import BotVersionId


def symmetric_fingerprint(
    players: tuple[BotVersionId, BotVersionId],
    moves: Sequence[int],
    outcome: Outcome,
    *,
    opening_plies: int,
    variant: Variant,
) -> int | None:
    """A hash of a game that its repeats share and no other game.

    In a test of a million games two that differ share one with a chance of 3e-8.

    Args:
        players: Black and white.

    Returns:
        ``None`` for a game that repeats none.
    """
    if len(moves) <= opening_plies:
        return None
    end = " ".join(part.value for part in (outcome.result, outcome.ending, outcome.at_fault))
    game = PLAYERS.pack(*players, opening_plies) + encode_moves(canonical(moves, variant))
    return hash64(game + end.encode())
