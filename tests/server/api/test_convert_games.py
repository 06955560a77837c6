"""Games as messages."""

from datetime import UTC, datetime, timedelta
from typing import Any

from meijin.game import Color, Ending, Outcome, Party, TimeControl, Variant
from meijin.server.api.convert_games import game_detail_to_proto, game_to_proto, moves_to_proto
from meijin.server.views.games import GameDetail, GameMove, GameSummary
from meijin.store.schema import GameId, GameState, TournamentId
from meijin.v1 import game_pb2

NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)


def summary(**changes: Any) -> GameSummary:
    """A game that was won on move three."""
    plain: dict[str, Any] = {
        "id": GameId(7),
        "tournament_id": TournamentId(2),
        "black": "ada",
        "white": "bob",
        "black_version": "1.0",
        "variant": Variant.parse("standard 15x15"),
        "time_control": TimeControl.parse("60+0.5"),
        "state": GameState.FINISHED,
        "outcome": Outcome(Ending.TIME, Color.WHITE, Party.BLACK, "late"),
        "opening_plies": 1,
        "ply": 3,
        "start_time": NOON,
        "end_time": NOON + timedelta(seconds=3),
        "reason": "",
    }
    return GameSummary(**(plain | changes))


MOVES = (GameMove(112, None, None), GameMove(113, 10**9, 5), GameMove(114, 2, 1))


def test_a_game_is_told_whole() -> None:
    """Every field of the contract."""
    message = game_detail_to_proto(GameDetail(summary(), MOVES))
    assert (message.game_id, message.tournament_id) == ("7", "2")
    assert (message.black, message.black_version) == ("ada", "1.0")
    assert (message.white, message.white_version) == ("bob", "")
    assert message.variant.rule == game_pb2.RULE_STANDARD
    assert message.time_control.increment.ToMilliseconds() == 500
    assert message.state == game_pb2.GAME_STATE_FINISHED
    assert (message.opening_plies, message.ply) == (1, 3)
    assert message.outcome == game_pb2.Outcome(
        winner=game_pb2.COLOR_WHITE,
        ending=game_pb2.ENDING_TIME,
        at_fault=game_pb2.PARTY_BLACK,
        detail="late",
    )
    assert [move.cell for move in message.moves] == [112, 113, 114]
    assert message.start_time.ToDatetime(UTC) == NOON
    assert message.end_time.ToDatetime(UTC) == NOON + timedelta(seconds=3)
    assert (message.repeat, message.pairing_reason) == (False, "")


def test_a_game_says_that_it_is_not_rated_and_why_it_was_played() -> None:
    """In lists too."""
    message = game_to_proto(summary(is_repeat=True, reason="it links them"))
    assert (message.repeat, message.pairing_reason) == (True, "it links them")


def test_a_running_game_has_no_outcome() -> None:
    """Nor an end; a list leaves the moves out."""
    message = game_to_proto(summary(state=GameState.RUNNING, outcome=None, end_time=None))
    assert message.state == game_pb2.GAME_STATE_RUNNING
    assert not message.HasField("outcome")
    assert not message.HasField("end_time")
    assert (list(message.moves), message.ply) == ([], 3)


def test_only_moves_after_the_opening_have_times() -> None:
    """To the nanosecond; none is not zero."""
    opening, first, second = moves_to_proto(MOVES)
    assert not opening.HasField("raw_time")
    assert not opening.HasField("charged_time")
    assert [move.raw_time.ToNanoseconds() for move in (first, second)] == [10**9, 2]
    assert [move.charged_time.ToNanoseconds() for move in (first, second)] == [5, 1]
