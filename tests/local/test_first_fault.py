"""The first game that each bot has forfeited."""

from types import SimpleNamespace
from typing import Any, cast

from tests.cli.made_games import RUNNING, VOID, WON, game

from meijin.game import Color, Ending, Outcome, Party
from meijin.local.connection import Connection
from meijin.local.first_fault import FirstFault, culprit_of, first_faults
from meijin.v1 import fault_service_pb2 as pb

CRASH = Outcome(Ending.CRASH, Color.BLACK, Party.WHITE, "IndexError: no cell (bob.py, line 4)")
LATE = Outcome(Ending.TIME, Color.WHITE, Party.BLACK)
LOST = [game(4, "h8i9h9", CRASH), game(5, "h8i9h9", LATE), game(6, "h8i9h9", CRASH)]
BOB = WON.white


def ledger(_method: object, request: Any) -> pb.ListFaultsResponse:
    """What a server says of a game's faults."""
    others = pb.Fault(bot="ada", traceback="not this one")
    return pb.ListFaultsResponse(
        faults=[others, pb.Fault(bot=BOB, traceback=f"line 4 of game {request.game_id}")]
    )


def test_who_has_forfeited_a_game() -> None:
    assert [culprit_of(each) for each in (WON, VOID, RUNNING, *LOST)] == [
        *("", "", ""),
        *(BOB, "ada", BOB),
    ]


def test_each_bots_first_one_is_told_with_its_traceback() -> None:
    stub = SimpleNamespace(ask=ledger, faults=SimpleNamespace(ListFaults=None))
    adas, bobs = first_faults(cast("Connection", stub), [WON, *LOST])
    assert (adas.bot, adas.game_id, adas.text) == ("ada", "5", "time")
    assert bobs == FirstFault(BOB, "4", 3, f"crash, {CRASH.detail}", "line 4 of game 4")
    assert bobs.lines() == [
        f"first fault of {BOB}: game 4, ply 3: crash, {CRASH.detail}",
        "  line 4 of game 4",
    ]
