"""What tournaments are set to, as it is played and shown: scores, faults, clocks and reports."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.peer import Peer
from tests.server_in_test import GET_TOURNAMENT, WATCH, ServerInTest

from meijin.game import TimeControl
from meijin.server.api.services import tournaments
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.records import record_from_proto
from meijin.wire.values import time_control_from_proto, time_control_to_proto

if TYPE_CHECKING:
    from tests.server.conftest import StartServer
    from tests.server_in_test import ServerInTest


# -- games that end early by the bots' own scores ---------------------------------

RULES = pb.Adjudication(resign=pb.ResignRule(score=100, moves=2))
CELLS = (0, 7, 14, 21)


async def say(peer: Peer, score: int) -> None:
    turn = await peer.turn()
    await peer.play(turn, CELLS[turn.ply], analysis=play_pb.Analysis(score=score))


async def test_a_lost_game_is_over_by_its_last_score(start_server: StartServer) -> None:
    """What was said before a restart counts; the record has the scores, and the last move."""
    async with start_server() as server:
        black, white = await server.pair(unrated=True, adjudication=RULES, rounds=2)
        await say(black, -100)
        await say(white, 250)
        await black.turn()  # not before white's move is stored
    async with start_server() as server:
        black, white = [await server.bot(peer.name) for peer in (black, white)]
        await say(black, -300)
        await say(white, 100)
        outcome, told = [(await peer.ended()).outcome for peer in (black, white)]
        assert outcome == told
        assert (outcome.ending, outcome.winner, outcome.at_fault) == (
            game_pb2.ENDING_ADJUDICATION,
            game_pb2.COLOR_WHITE,
            game_pb2.PARTY_UNSPECIFIED,
        )
        words = "black said -300 to -100 and white said +100 to +250 in the last 2 moves each"
        assert outcome.detail == words
        game = await server.game()
        assert [move.analysis.score for move in game.moves] == [-100, 250, -300, 100]


# -- bots that fail too often -----------------------------------------------------

CANCELLED = pb.TOURNAMENT_STATE_CANCELLED


async def fail(ada: Peer, bob: Peer) -> None:
    game = (await ada.started()).game
    await bob.started()
    await ada.fail(game, "ValueError: odd (bot.py, line 12)")
    for peer in (ada, bob):
        await peer.ended()


async def test_it_is_cancelled_and_may_be_resumed(start_server: StartServer) -> None:
    """Faults before a restart count; its watchers hear why; the next fault cancels it again."""
    async with start_server() as server:
        ada, bob = [await server.bot(name) for name in ("ada", "bob")]
        await server.tournament("ada", "bob", rounds=4, unrated=True, max_faults=2)
        await fail(ada, bob)
    async with start_server() as server:
        watching = server.facts(WATCH, tournament_id="1")
        assert (await anext(watching)).tournament.settings.max_faults == 2
        ada, bob = [await server.bot(name) for name in ("ada", "bob")]
        await fail(ada, bob)
        last = [fact async for fact in watching][-1].tournament
        verdict = "ada has lost 2 games by its own faults; the last: crash: ValueError: odd"
        assert (last.state, last.verdict) == (CANCELLED, f"{verdict} (bot.py, line 12)")
        assert (await server.resume("1")).verdict == ""
        await fail(ada, bob)
        await server.parts.scheduler.settled()
        found = await server.report()
        assert (found.tournament.state, found.tournament.finished_games) == (CANCELLED, 3)
        assert found.tournament.verdict.startswith("ada has lost 3 games")


# -- bots that have a clock of their own ------------------------------------------

SLOW, FAST = TimeControl.parse("600+1"), TimeControl.parse("60")
CLOCKS = {"ada": SLOW, "bob": FAST}
SIDES: dict[str, Any] = {
    "unrated": True,
    "time_controls": [time_control_to_proto(SLOW), time_control_to_proto(FAST)],
}
LEFT_MS = {"ada": 600_000, "bob": 60_000}


def check_start(peer: Peer, start: play_pb.GameStarted) -> None:
    """A bot is told its own clock, and that of the other."""
    assert time_control_from_proto(start.time_control) == CLOCKS[peer.name]
    assert time_control_from_proto(start.opponent_time_control) == CLOCKS[start.opponent]


async def check_game(server: ServerInTest, game_id: str) -> None:
    game = await server.game(game_id)
    record = record_from_proto(game)
    assert record.time_control == CLOCKS[game.black]
    assert record.white_time_control == CLOCKS[game.white]


async def test_a_clock_is_its_bots_whatever_its_colour(start_server: StartServer) -> None:
    """In both games of a pair, after a restart, and in the replay of a void game."""
    async with start_server() as server:
        black, white = await server.pair(rounds=2, **SIDES)
        for peer in (black, white):
            check_start(peer, peer.start)
        turn = await black.turn()
        assert turn.own_clock_ms == LEFT_MS[black.name]
        assert turn.opponent_clock_ms == LEFT_MS[white.name]
        await black.play(turn, 0)
        await white.turn()
        game_id = black.start.game_id
        await check_game(server, game_id)
    async with start_server() as server:
        black, white = [await server.bot(peer.name) for peer in (black, white)]
        for peer in (black, white):
            check_start(peer, await peer.started())
        left_ms = LEFT_MS[white.name]
        assert left_ms - 20_000 < (await white.turn()).own_clock_ms <= left_ms
        await server.ask("GameService/VoidGame", game_id=game_id, reason="a test")
        for _ in range(2):
            for peer in (black, white):
                await peer.ended()
                check_start(peer, await peer.started())
            await check_game(server, black.start.game_id)
            await black.resign(black.start.game)


async def test_settings_come_back(server: ServerInTest) -> None:
    """In the order of the bots; the same for both is one clock, and may be rated."""
    for name in ("ada", "bob"):
        await server.bot(name)
    same = [time_control_to_proto(FAST)] * 2
    for settings, several, first in ((SIDES, True, SLOW), ({"time_controls": same}, False, FAST)):
        tournament = await server.tournament("bob", "ada", **settings)
        found = (await server.report(tournament)).tournament.settings
        assert list(found.time_controls) == (settings["time_controls"] if several else [])
        assert time_control_from_proto(found.time_control) == first


async def test_a_bot_is_held_to_its_own_clock(server: ServerInTest) -> None:
    """Who needs longer for a move than its own clock gives does not play."""
    await server.bot("ada")
    peer = await server.peer()
    needs = play_pb.Capabilities(
        min_board_size=3, max_board_size=22, any_line=True, min_move_time_ms=5_000
    )
    await peer.hello("bob", capabilities=needs)
    await peer.welcome()
    tournament = await server.tournament("ada", "bob", **SIDES)
    waiting_for = (await server.report(tournament)).tournament.waiting_for
    assert waiting_for.startswith("bob ")
    assert "ada" not in waiting_for


# -- what a match's results say ---------------------------------------------------


async def test_a_match_tells_its_score_by_colour(server: ServerInTest) -> None:
    """And a bound on the advantage of who has won all games; only where it is asked for."""

    async def ask(**more: bool) -> Any:
        return await server.ask(GET_TOURNAMENT, tournament_id="1", **more)

    black, white = await server.pair(rounds=2)
    assert not (await ask(with_match_report=True)).HasField("match_report")
    await black.resign((await black.turn()).game)
    await white.play(await white.turn(), 0)
    await black.resign((await black.turn()).game)
    for _ in range(2):
        await black.ended()
        await white.ended()
    found = await ask(with_match_report=True)
    report = found.match_report
    bob_has_won = white.name == "bob"
    for score in (report.black, report.white):
        assert (score.wins, score.draws, score.losses) == ((0, 0, 1) if bob_has_won else (1, 0, 0))
    assert not report.HasField("estimate")
    assert (report.elo_bound > 0) == bob_has_won  # it is not above that, or not below
    assert (report.first.moves, report.second.moves) in {(0, 1), (1, 0)}
    assert report.play_time.ToTimedelta().total_seconds() > 0
    plain = await ask()
    assert not plain.HasField("match_report")
    assert plain.crosstable == found.crosstable


async def test_a_gauntlet_tells_of_each_opponent(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first bot scored against it, by colour and by pairs; unless too much were read."""
    first, *others = [await server.bot(name) for name in ("cyd", "ada", "bob")]

    async def lose(peer: Peer, to: tuple[str, ...], games: int) -> None:
        for _ in range(games):
            started = await peer.started()
            if started.opponent in to:
                await peer.resign(started.game)

    tournament = await server.tournament(
        "cyd", "ada", "bob", rounds=2, format="TOURNAMENT_FORMAT_GAUNTLET"
    )
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(lose(first, ("bob",), 4))
        for peer, to in zip(others, (("cyd",), ()), strict=True):
            tasks.create_task(lose(peer, to, 2))
    await server.until_finished(tournament)
    asked = {"tournament_id": tournament, "with_match_report": True}
    found = await server.ask(GET_TOURNAMENT, **asked)
    assert not found.HasField("match_report")
    ada, bob = found.match_reports
    assert (ada.black.wins, ada.white.wins, list(ada.pairs)) == (1, 1, [0, 0, 0, 0, 1])
    assert (bob.black.losses, bob.white.losses, list(bob.pairs)) == (1, 1, [1, 0, 0, 0, 0])
    assert ada.elo_bound == -bob.elo_bound
    assert not (await server.report(tournament)).match_reports
    monkeypatch.setattr(tournaments, "MOST_READ", 7)
    assert not (await server.ask(GET_TOURNAMENT, **asked)).match_reports
