"""Games that ended before somebody watched: told once, and first."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.peer import Peer
from tests.server_in_test import WATCH, ServerInTest

from meijin.server.api.answers import ended_games
from meijin.server.api.answers.ended_games import EndedGames
from meijin.store.schema import GameId, TournamentId
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.v1 import tournament_service_pb2 as pb


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ended_games, "PAGE", 2)


async def _games(server: ServerInTest, count: int) -> tuple[Peer, list[str], list[int]]:
    """This many games at once: the bot that may resign them, their ids and numbers."""
    ada = await server.bot("ada", max_games=count)
    await server.bot("bob", max_games=count)
    await server.tournament("ada", "bob", rounds=count)
    started = [await ada.started() for _ in range(count)]
    return ada, [each.game_id for each in started], [each.game for each in started]


async def _resign(server: ServerInTest, ada: Peer, *numbers: int) -> None:
    resigns = [play_pb.Resign(game=number) for number in numbers]
    await ada.write(actions=play_pb.Actions(resigns=resigns))
    for _ in numbers:
        await ada.ended()
    await server.parts.scheduler.settled()


async def _ended(messages: AsyncIterator[pb.WatchTournamentResponse]) -> list[str]:
    return [message.game_ended.game_id async for message in messages]


async def test_games_that_ended_before_the_call_are_told_first(server: ServerInTest) -> None:
    """Each once and without moves; then what happens is told as ever, and of what is over all."""
    ada, ids, numbers = await _games(server, 6)
    await _resign(server, ada, *numbers[:3])
    watching = server.facts(WATCH, tournament_id="1", with_ended_games=True)
    facts = [await anext(watching) for _ in range(4)]
    assert facts[0].tournament.finished_games == 3
    told = [fact.game_ended for fact in facts[1:]]
    assert [(game.game_id, len(game.moves)) for game in told] == [(key, 0) for key in ids[:3]]
    assert {game.outcome.ending for game in told} == {game_pb2.ENDING_RESIGN}
    await _resign(server, ada, *numbers[3:])
    rest = [fact async for fact in watching]
    assert sorted(fact.game_ended.game_id for fact in rest[:-1]) == sorted(ids[3:])
    assert rest[-1].tournament.state == pb.TOURNAMENT_STATE_FINISHED
    first, *every = [
        fact async for fact in server.facts(WATCH, tournament_id="1", with_ended_games=True)
    ]
    assert first.tournament.state == pb.TOURNAMENT_STATE_FINISHED
    assert sorted(fact.game_ended.game_id for fact in every) == sorted(ids)
    assert (
        len([fact async for fact in server.facts(WATCH, tournament_id="1", with_ended_games=False)])
        == 1
    )


async def test_a_game_that_ends_while_others_are_told_is_told_once(server: ServerInTest) -> None:
    """What was running when its page was read is read again, and the feed's word is known.

    Only what runs is remembered, not what has ended.
    """
    ada, ids, numbers = await _games(server, 5)
    await _resign(server, ada, numbers[1])
    past = EndedGames(server.parts.storage, TournamentId(1))
    assert await _ended(past.until_now()) == [ids[1]]
    assert (len(past._running), past._told) == (4, set())
    await _resign(server, ada, numbers[0], numbers[4])
    assert await _ended(past.since()) == [ids[0], ids[4]]
    assert not past.is_new(GameId(int(ids[4])))
    assert past.is_new(GameId(int(ids[2])))
