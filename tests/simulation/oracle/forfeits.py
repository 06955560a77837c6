"""A forfeit names a bot's own fault; and other games end by what lies on the board."""

from __future__ import annotations

from tests.simulation.oracle.books import MS, Ask, GameRecord
from tests.simulation.oracle.clocks import UNCREDITED_NS, free_absence_ns
from tests.simulation.oracle.presence import Presence
from tests.simulation.oracle.violation import Violation, require

from meijin.game import Board, Color, Ending, IllegalMoveError, Seat, decode_moves

GRACE_TOLERANCE_NS = 200 * MS
"""An absence lasts until the hello is stored, and it is looked at 25 times a second."""


class Forfeits:
    """Holds every end against the board and against what the loser did.

    Args:
        grace_ns: How long a bot may be away.
    """

    def __init__(self, presence: Presence, *, grace_ns: int) -> None:
        self._presence = presence
        self._grace_ns = grace_ns

    def check(self, game: GameRecord, ending: Ending, loser: Color | None, at_fault: str) -> None:
        what = f"game {game.id} at ply {game.ply} ended by {ending.value} of {loser!r}"
        board = _board(game, what)
        if ending is Ending.FIVE:
            require(board.winner not in {None, loser}, f"{what}: no such line")
        else:
            require(board.winner is None, f"{what} on a board with a line")
        if ending is Ending.DRAW:
            require(board.is_over, f"{what}: the board is not full")
        elif ending is Ending.VOID:
            require(loser is None, what)
        elif ending is not Ending.FIVE:
            assert loser is not None
            self._check_fault(game, ending, loser, what)
            if ending.is_forfeit:
                require(at_fault == loser.name.lower(), f"{what}, at fault {at_fault}")

    def _check_fault(self, game: GameRecord, ending: Ending, loser: Color, what: str) -> None:
        seat = game.seat_of(loser)
        if ending is Ending.TIME:
            self._check_time(game, seat, what)
        elif ending is Ending.DISCONNECT:
            self._check_absence(game, seat, what)
        else:
            require((seat, ending) in game.deeds, f"{what}: it did not")

    def _check_time(self, game: GameRecord, seat: Seat, what: str) -> None:
        """Who loses on time has used all of the clock that it was told, thinking or away."""
        asks = game.valid_asks
        require(bool(asks), f"{what} without a turn")
        own_ns = sum(ask.own_ns for ask in asks)
        own_ns += max(game.away_ns[seat] - free_absence_ns(game.control), 0)
        spare_ns = UNCREDITED_NS * len(asks)
        told_ns = _told_ns(game, asks[0])
        require(own_ns + spare_ns >= told_ns, f"{what}: it used {own_ns / MS} ms of {told_ns / MS}")

    def _check_absence(self, game: GameRecord, seat: Seat, what: str) -> None:
        """Who loses for being away has used up the grace, or what is free and its own clock.

        A hostile bot that is there may be another version of itself, which plays no old game.
        """
        if game.names[seat] in self._presence.hostile:
            return
        away_ns = game.away_ns[seat] + self._presence.absence_ns(game.names[seat])
        least_ns = self._grace_ns
        asks = game.valid_asks
        if asks and seat is game.seat_to_act:
            used_ns = sum(ask.most_ns(self._presence.now_ns()) + UNCREDITED_NS for ask in asks)
            clock_ns = _told_ns(game, asks[0])
            least_ns = min(least_ns, free_absence_ns(game.control) + clock_ns - used_ns)
        require(
            away_ns + GRACE_TOLERANCE_NS >= least_ns,
            f"{what}: it was away {away_ns / MS} ms of {least_ns / MS}",
        )


def _told_ns(game: GameRecord, ask: Ask) -> int:
    if game.control.per_move is None:
        return ask.clock_ns
    return min(ask.clock_ns, round(game.control.per_move.total_seconds() * 1e9))


def _board(game: GameRecord, what: str) -> Board:
    try:
        return Board.from_moves(decode_moves(bytes(game.moves)), game.variant)
    except IllegalMoveError as error:
        raise Violation(f"{what}: {error}") from error
