"""Matches that a test ends, over the wire and played by scripted bots."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, update
from tests.server.tournaments.formats import players as played
from tests.server_in_test import WATCH, ServerInTest

from meijin.game import encode_moves
from meijin.store import Database
from meijin.store.schema import Tournament, TournamentState
from meijin.v1 import tournament_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

NAMES = ("ada", "bob")
POINTS = "TournamentService/ListTestPoints"
OPENINGS = [encode_moves((12, 7, 5 * row + column)) for row in (0, 3, 4) for column in range(3)]
"""Nine on 5x5, none of them the image of another."""
WIDE = {"elo0": 0, "elo1": 100}
"""Ten pairs that one bot wins decide, nine do not."""
PAIRS_NEEDED = 10
FINISHED_GAMES = 2 * PAIRS_NEEDED
DECIDED = "H1 accepted: ada is better (LLR "


async def create(server: ServerInTest, **more: Any) -> str:
    test = pb.Sprt(**WIDE | more.pop("test", {}))
    form: dict[str, Any] = {"format": pb.TOURNAMENT_FORMAT_SPRT, "openings": OPENINGS, "rounds": 0}
    return await server.tournament(*NAMES, **form | {"sprt": test} | more)


def players(
    server: ServerInTest, order: Sequence[str] = NAMES, max_games: int = 1
) -> AbstractAsyncContextManager[None]:
    """Both bots, of which the second resigns all its games, if there is an order."""
    return played.players(server, *NAMES, order=order, max_games=max_games)


# -- deciding ---------------------------------------------------------------------


async def test_a_match_ends_when_it_is_decided(server: ServerInTest) -> None:
    """With the pair that decides it, and says for whom; the path of its ratio ends there too.

    That has as few points as are asked for, but for the ends.
    """
    async with players(server):
        key = await create(server)
        await server.until_finished(key)
    found = (await server.report(key)).tournament
    assert found.sprt.decision == pb.SPRT_DECISION_ELO1
    assert list(found.sprt.pairs) == [0, 0, 0, 0, PAIRS_NEEDED]
    assert found.verdict.startswith(DECIDED)
    assert (found.finished_games, found.running_games) == (FINISHED_GAMES, 0)
    assert found.planned_games == 100_000
    path = await server.ask(POINTS, tournament_id=key)
    assert [point.games for point in path.points] == list(range(2, FINISHED_GAMES + 1, 2))
    assert 0 < path.points[0].llr < 1
    end = path.points[-1]
    assert end.llr == found.sprt.llr >= path.upper > 0 > path.lower
    assert not end.HasField("elo")  # nothing but wins has no interval
    assert found.create_time.ToDatetime() < end.time.ToDatetime() <= found.end_time.ToDatetime()
    ends = (await server.ask(POINTS, tournament_id=key, max_points=2)).points
    assert list(ends) == [path.points[0], end]
    for most in (1, 1001):
        refused = await server.refusal(POINTS, tournament_id=key, max_points=most)
        assert "is not from 2 to 1000" in refused.details
    no_test = await server.tournament(*NAMES)
    assert "round-robin" in (await server.refusal(POINTS, tournament_id=no_test)).details


@pytest.mark.settings(max_notices=2)
async def test_late_moves_in_void_games_are_no_abuse(server: ServerInTest) -> None:
    """The bot had not heard of the decision when it sent them; a second one is not excused."""
    ada, bob = [await server.bot(name, max_games=40) for name in NAMES]
    await create(server)
    decisive = [(await bob.started()).game for _ in range(FINISHED_GAMES)]
    turns = [await ada.turn() for _ in range(20)]
    late = [turn for turn in turns if turn.game not in decisive]
    assert len(late) == 10
    with server.held():
        for game in decisive:
            await bob.resign(game)
        await server.until(lambda: not server.running)
        for turn in late:
            await ada.play(turn, 24)
        notices = [await ada.notice() for _ in late]
    assert {notice.game for notice in notices} == {turn.game for turn in late}
    assert await server.connected() == set(NAMES)
    for turn in late[:3]:
        await ada.play(turn, 24)
    assert (await ada.closed()).reason == "TOO_MANY_NOTICES"


# -- asking -----------------------------------------------------------------------


async def test_the_test_comes_back_as_it_was_made(server: ServerInTest) -> None:
    for name in NAMES:
        await server.bot(name)
    given = {"elo0": -5, "elo1": 300, "alpha": 0.1, "scale": 2, "most_games": 40}
    defaults = {"alpha": 0.05, "beta": 0.05, "scale": 1, "unit": 1, "most_games": 100_000}
    for test in (given, WIDE):
        made = (await server.report(await create(server, test=test))).tournament.settings
        assert made.sprt == pb.Sprt(**defaults | test)
        assert made.format == pb.TOURNAMENT_FORMAT_SPRT
        assert list(made.openings) == OPENINGS


async def test_a_watcher_is_told_where_the_test_stands(server: ServerInTest) -> None:
    for name in NAMES:
        (await server.bot(name)).call.cancel()
        await server.away(name)
    key = await create(server)
    watching = server.facts(WATCH, tournament_id=key)
    first = await anext(watching)
    async with players(server):
        facts = [first, *[fact async for fact in watching]]
    standings = [fact.sprt for fact in facts if fact.HasField("sprt")]
    games = [standing.wins for standing in standings]
    assert games == sorted(games)  # two in a row may be told of at once
    assert games[-1] == FINISHED_GAMES
    assert standings[-1].llr >= standings[-1].upper == -standings[-1].lower
    last = facts[-1].tournament
    assert (last.state, last.sprt) == (pb.TOURNAMENT_STATE_FINISHED, standings[-1])


# -- stopping and going on ----------------------------------------------------------


async def test_what_was_decided_is_decided_again(
    start_server: StartServer, any_database_url: str
) -> None:
    """A server that finds a decided match running ends it, and plays no game."""

    def forget(connection: Connection) -> None:
        values = {"state": TournamentState.RUNNING, "verdict": "", "end_time": None}
        connection.execute(update(Tournament).values(values))

    async with start_server(database_url=any_database_url) as server, players(server):
        key = await create(server)
        await server.until_finished(key)
    with Database(any_database_url) as database:
        database.write(forget)
    async with start_server(database_url=any_database_url) as server:
        bots = [await server.bot(name) for name in NAMES]
        await server.until_finished(key)
        found = (await server.report(key)).tournament
        assert found.verdict.startswith(DECIDED)
        assert found.finished_games == FINISHED_GAMES
        assert not any(peer.unread("started") for peer in bots)
