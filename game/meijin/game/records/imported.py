"""Imported outcomes: what is known of a game whose record tells a result and no more."""

from meijin.game.board.board import Board
from meijin.game.color import Color
from meijin.game.outcome import Ending, Outcome, Party


def imported_outcome(winner: Color | None, board: Board, ending: Ending | None = None) -> Outcome:
    """The outcome of a game that `winner` won, or nobody.

    Without an ending it is the one that the board shows, and an adjudication where that shows
    another result or none. A forfeit is the loser's fault.
    """
    if ending is None:
        shown = Ending.FIVE if winner is not None else Ending.DRAW
        is_shown = winner is board.winner and board.is_over
        ending = shown if is_shown else Ending.ADJUDICATION
    if winner is None:
        return Outcome(ending)
    fault = Party.of(winner.other) if ending.is_forfeit else Party.NOBODY
    return Outcome(ending, winner, fault)


def finished_outcome(board: Board) -> Outcome | None:
    """The outcome that the board itself shows; ``None`` where the game could go on."""
    return imported_outcome(board.winner, board) if board.is_over else None
