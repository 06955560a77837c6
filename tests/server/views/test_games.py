"""Stored games as they are shown."""

from array import array
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from meijin.game import (
    Color,
    Ending,
    Outcome,
    Party,
    Result,
    SideChoice,
    TimeControl,
    Variant,
    encode_moves,
)
from meijin.server.views.games import GameChoice, GameMove, game_detail, game_summary, record
from meijin.store.games import GameRow, encode_choice, encode_times
from meijin.store.schema import (
    BotId,
    BotVersionId,
    GameId,
    GameState,
    PairingId,
    TournamentId,
)

NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)


def row(**changes: Any) -> GameRow:
    """A stored game that was won on move three."""
    plain: dict[str, Any] = {
        "id": GameId(7),
        "pairing_id": PairingId(1),
        "tournament_id": TournamentId(2),
        "variant": Variant.parse("standard 15x15"),
        "time_control": TimeControl.parse("60+0.5"),
        "black": "ada",
        "white": "bob",
        "black_id": BotId(1),
        "white_id": BotId(2),
        "black_version_id": BotVersionId(1),
        "white_version_id": BotVersionId(2),
        "black_version": "1.0",
        "white_version": "",
        "state": GameState.FINISHED,
        "opening_plies": 1,
        "moves": encode_moves((112, 113, 114)),
        "times": encode_times(array("Q", [10**9, 2000]), array("Q", [5000, 1000])),
        "result": Result.WHITE_WINS,
        "ending": Ending.TIME,
        "at_fault": Party.BLACK,
        "detail": "late",
        "start_time": NOON,
        "end_time": NOON + timedelta(seconds=3),
        "is_repeat": False,
        "reason": "",
    }
    return GameRow(**(plain | changes))


def test_a_stored_game_has_its_outcome_and_settings() -> None:
    """As values of the game, not as the columns that are stored."""
    game = game_summary(row(), None)
    assert game.outcome == Outcome(Ending.TIME, Color.WHITE, Party.BLACK, "late")
    assert game.variant == Variant.parse("standard 15x15")
    assert game.time_control == TimeControl.parse("60+0.5")
    assert (game.black_version, game.white_version) == ("1.0", "")
    assert (game.ply, game.opening_plies) == (3, 1)


def test_a_game_says_that_it_is_not_rated_and_why_it_was_played() -> None:
    """A repeat, and one that no schedule asked for."""
    game = game_summary(row(is_repeat=True, reason="it links them"), None)
    assert (game.is_repeat, game.reason) == (True, "it links them")


def test_only_moves_after_the_opening_have_times() -> None:
    """Raw and charged nanoseconds, as they are stored."""
    assert game_detail(row(), None).moves == (
        GameMove(112, None, None),
        GameMove(113, 10**9, 5000),
        GameMove(114, 2000, 1000),
    )


def test_a_running_game_that_nobody_plays_is_as_stored() -> None:
    """Its opening alone, without an outcome: a server that starts has not taken it up yet."""
    running = row(
        state=GameState.RUNNING,
        ending=None,
        end_time=None,
        result=Result.NONE,
        moves=encode_moves((112,)),
        times=b"",
    )
    game = game_detail(running, None)
    assert (game.summary.outcome, game.summary.end_time, game.summary.ply) == (None, None, 1)
    assert game.moves == (GameMove(112, None, None),)


@pytest.mark.parametrize("ending", [Ending.TIME, None])
def test_a_record_is_enough_to_replay_it(ending: Ending | None) -> None:
    """With the charged times, which are none in the opening, and where the game comes from."""
    kept = record(game_detail(row(ending=ending), None))
    assert kept.moves == (112, 113, 114)
    assert kept.times == tuple(timedelta(microseconds=us) for us in (0, 5, 1))
    assert (kept.black, kept.white, kept.opening_plies) == ("ada", "bob", 1)
    assert (kept.event, kept.game_id) == ("tournament 2", "7")
    assert (kept.outcome is None) is (ending is None)
    assert kept.start_time == NOON


def test_a_choice_is_shown_with_its_time() -> None:
    """The stored names are those of the colours in the end."""
    side = SideChoice(3, Color.BLACK)
    game = game_detail(row(choice=encode_choice(side, 2000, 1000), is_swapped=True), None)
    assert game.choice == GameChoice(side, 2000, 1000)
    assert (game.summary.black, game.summary.is_swapped) == ("ada", True)
    assert record(game).choice == side
