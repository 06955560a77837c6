"""A tournament and a game as they are kept, for what is played in memory alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

from meijin.game import GOMOKU, Board, Clock, TimeControl, Variant
from meijin.game.arbiter.arbiter import Arbiter
from meijin.game.arbiter.moment import Moment
from meijin.server.match.live.live_game import Contest, LiveGame, Participant
from meijin.server.match.live.session import Session
from meijin.store.schema import BotId, BotVersionId, FormatName, GameId, PairingId, TournamentId
from meijin.store.tournaments import PendingPairing, TournamentRow
from meijin.wire.capabilities import Capabilities

PLAIN: dict[str, Any] = {
    "format": FormatName("round-robin"),
    "variant": GOMOKU,
    "time_control": TimeControl.parse("60"),
    "create_time": datetime(2026, 3, 4, tzinfo=UTC),
}


def tournament_row(key: int = 1, **changes: Any) -> TournamentRow:
    """A round robin of a minute a side, but for what is said."""
    return TournamentRow(id=TournamentId(key), **PLAIN | changes)


def live_game(number: int = 1, *cells: int, **changes: Any) -> LiveGame:
    """A game of ada and bob on a small board, at the turn after these moves."""
    board, clock = Board.from_moves(cells, Variant(width=5, height=5)), Clock(PLAIN["time_control"])
    given: dict[str, Any] = {
        "run": Contest(tournament_row()),
        "pairing": PendingPairing(PairingId(number), number, BotId(1), BotId(2), b""),
        "arbiter": Arbiter(board, clock, grace_ns=0),
        "first": Participant(BotId(1), "ada"),
        "second": Participant(BotId(2), "bob"),
        "first_version": BotVersionId(1),
        "second_version": BotVersionId(2),
        "start_time": PLAIN["create_time"],
        "opening_plies": 0,
    }
    return LiveGame(number=number, id=GameId(number), **given | changes)


def open_session(games: dict[int, LiveGame], *, max_notices: int) -> Session:
    """The stream of ada, which has been welcomed."""
    session = Session(
        "id",
        Participant(BotId(1), "ada"),
        BotVersionId(1),
        Capabilities(),
        games=games,
        grace=timedelta(seconds=30),
        max_notices=max_notices,
        heard=Moment(0, 0),
    )
    session.drain(Moment(0, 0))
    return session
