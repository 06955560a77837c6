"""Stored games as messages."""

from array import array
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from meijin.game import (
    Choose,
    Color,
    Decision,
    Ending,
    GameEngine,
    Outcome,
    Party,
    Result,
    TimeControl,
    Variant,
    encode_moves,
)
from meijin.server.api.answers.games import stored_game, whole_game
from meijin.store.games import GameRow, encode_decisions, encode_times
from meijin.store.schema import (
    BotId,
    BotVersionId,
    GameId,
    GameState,
    PairingId,
    TournamentId,
)
from meijin.wire.records import record_from_proto
from meijin.wire.values import outcome_to_proto, time_control_from_proto, variant_from_proto

NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)


def row(**changes: Any) -> GameRow:
    plain: dict[str, Any] = {
        "id": GameId(7),
        "pairing_id": PairingId(1),
        "ladder_id": None,
        "tournament_id": TournamentId(2),
        "variant": Variant.parse("standard 15x15"),
        "time_control": TimeControl.parse("60+0.5"),
        "black": "ada",
        "white": "bob",
        "black_bot_id": BotId(1),
        "white_bot_id": BotId(2),
        "black_id": BotVersionId(1),
        "white_id": BotVersionId(2),
        "black_version": "1.0",
        "white_version": "",
        "state": GameState.FINISHED,
        "opening_plies": 1,
        "opening": 0,
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
    """As values of the game; whether it is a repeat, and why no schedule asked for it."""
    game = stored_game(row(is_repeat=True, reason="it links them"))
    outcome = Outcome(Ending.TIME, Color.WHITE, Party.BLACK, "late")
    assert game.outcome == outcome_to_proto(outcome)
    assert variant_from_proto(game.variant) == Variant.parse("standard 15x15")
    assert time_control_from_proto(game.time_control) == TimeControl.parse("60+0.5")
    assert (game.black_version, game.white_version) == ("1.0", "")
    assert (game.ply, game.opening_plies, len(game.moves)) == (3, 1, 0)
    assert (game.repeat, game.pairing_reason) == (True, "it links them")


def test_a_stored_game_says_what_played_it() -> None:
    """The program of each side with its options and machine, and where the game belongs."""
    engine = GameEngine("ab12", ("nodes=3000",), "EPYC, 2 cores", 2, 2**40)
    game = whole_game(
        row(
            black_digest=engine.digest,
            black_configuration=engine.configuration,
            black_hardware=engine.hardware,
            black_threads=engine.threads,
            black_memory_bytes=engine.memory_bytes,
            pair=3,
            round=5,
            seed=7,
            release="0.1.0",
        )
    )
    record = record_from_proto(game)
    assert (record.black_engine, record.white_engine) == (engine, GameEngine())
    assert (record.pair, record.round, record.seed, record.release) == (3, 5, 7, "0.1.0")


def test_only_moves_after_the_opening_have_times() -> None:
    """Raw and charged, to the nanosecond as they are stored; none is not zero."""
    opening, first, second = whole_game(row()).moves
    assert [move.cell for move in (opening, first, second)] == [112, 113, 114]
    assert not opening.HasField("raw_time")
    assert not opening.HasField("charged_time")
    assert [move.raw_time.ToNanoseconds() for move in (first, second)] == [10**9, 2000]
    assert [move.charged_time.ToNanoseconds() for move in (first, second)] == [5000, 1000]


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
    game = whole_game(running)
    assert (game.HasField("outcome"), game.HasField("end_time"), game.ply) == (False, False, 1)
    assert [move.cell for move in game.moves] == [112]


@pytest.mark.parametrize("ending", [Ending.TIME, None])
def test_a_record_is_enough_to_replay_it(ending: Ending | None) -> None:
    """With the charged times, which are none in the opening, and where the game comes from."""
    kept = record_from_proto(whole_game(row(ending=ending)))
    assert kept.moves == (112, 113, 114)
    assert kept.times == tuple(timedelta(microseconds=us) for us in (0, 5, 1))
    assert (kept.black, kept.white, kept.opening_plies) == ("ada", "bob", 1)
    assert (kept.event, kept.game_id) == ("tournament 2", "7")
    assert (kept.outcome is None) is (ending is None)
    assert kept.start_time == NOON


def test_a_choice_is_shown_with_its_time() -> None:
    """The stored names are those of the colours in the end."""
    side = Decision(3, Choose(Color.BLACK))
    game = whole_game(row(decisions=encode_decisions([side], [(2000, 1000)]), is_swapped=True))
    (told,) = game.decisions
    assert (told.raw_time.ToNanoseconds(), game.black, game.swapped) == (2000, "ada", True)
    assert told.charged_time.ToNanoseconds() == 1000
    assert record_from_proto(game).decisions == (side,)
