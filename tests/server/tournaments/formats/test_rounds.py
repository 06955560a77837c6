"""Tournaments in rounds, over the wire and played by scripted bots."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from meijin.game import encode_moves
from meijin.server.match.wire import game_started_to_proto
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_service_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.v1 import tournament_service_pb2 as pb

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import LiveGame

SWISS, KNOCKOUT = pb.TOURNAMENT_FORMAT_SWISS, pb.TOURNAMENT_FORMAT_KNOCKOUT
FINISHED = pb.TOURNAMENT_STATE_FINISHED
BOTS = ("ada", "bob", "cyd", "dan", "eve")
OPENINGS = [encode_moves(cells) for cells in itertools.permutations(range(6, 12), 2)]


async def get(server: ServerInTest, key: str) -> pb.GetTournamentResponse:
    """One tournament with its standings and meetings."""
    request = pb.GetTournamentRequest(tournament_id=key)
    return await (await server.tournaments()).GetTournament(request)


async def void(server: ServerInTest, game_id: str) -> None:
    """Take a game back."""
    request = game_service_pb2.VoidGameRequest(game_id=game_id, reason="a wrong opening")
    await (await server.games()).VoidGame(request)


@asynccontextmanager
async def players(server: ServerInTest, *names: str, strength: bool = True) -> AsyncIterator[None]:
    """Bots that play; with `strength` each resigns to those that come before it."""
    peers = [await server.bot(name, max_games=2) for name in names]
    tasks = [asyncio.create_task(_play(peer, names if strength else ())) for peer in peers]
    yield
    for task in tasks:
        task.cancel()


async def _play(peer: Peer, order: tuple[str, ...]) -> None:
    if not order:
        await peer.play_out(1_000_000)
    while True:
        game = await peer.started()
        if order.index(game.opponent) < order.index(peer.name):
            await peer.resign(game.game)


def started(game: LiveGame) -> play_pb.GameStarted:
    """What black is told when the game starts."""
    return game_started_to_proto(game, game.black)


async def test_a_round_by_round_tournament_of_an_odd_field(server: ServerInTest) -> None:
    """Everything comes back: settings, standings with tie-breaks, meetings with byes."""
    async with players(server, *BOTS):
        key = await server.tournament(*BOTS, rounds=3, format=SWISS, openings=OPENINGS)
        await server.until_finished(key)
    found = await get(server, key)
    tournament = found.tournament
    assert (tournament.planned_games, tournament.finished_games) == (12, 12)
    assert not tournament.may_end_early
    assert tournament.settings.rounds == 3
    assert tournament.settings.swiss == pb.SwissSettings(seeding=pb.SEEDING_LADDER)
    winner = found.standings[0]
    assert (winner.rank, winner.bot, winner.points) == (1, "ada", 6)
    assert [each.name for each in winner.tie_breaks] == [
        "Buchholz",
        "Sonneborn-Berger",
    ]
    assert Counter(each.games for each in found.standings) == {6: 2, 4: 3}
    assert [(each.round, each.number) for each in found.meetings] == [
        (at, 3 * (at - 1) + place) for at in (1, 2, 3) for place in (1, 2, 3)
    ]
    byes = [each for each in found.meetings if each.bye]
    assert [(bye.winner, bye.second, bye.first_points) for bye in byes] == [
        (bye.first, "", 2.0) for bye in byes
    ]


async def test_a_knockout_ends_with_a_winner(server: ServerInTest) -> None:
    """Its bracket tells who met whom, and who went on."""
    async with players(server, *BOTS):
        settings = pb.KnockoutSettings(
            seeding=pb.SEEDING_GIVEN, extra_pairs=0, fast_pairs=0, fast_clock=0.5
        )
        key = await server.tournament(
            *BOTS, rounds=0, format=KNOCKOUT, knockout=settings, openings=OPENINGS
        )
        await server.until_finished(key)
    found = await get(server, key)
    assert found.tournament.verdict == "ada wins the final"
    assert (found.tournament.planned_games, found.tournament.finished_games) == (8, 8)
    settings.pairs = 1
    assert found.tournament.settings.knockout == settings
    assert [(each.first, each.second, each.winner, each.next) for each in found.meetings] == [
        ("ada", "", "ada", 5),
        ("dan", "eve", "dan", 5),
        ("bob", "", "bob", 6),
        ("cyd", "", "cyd", 6),
        ("ada", "dan", "ada", 7),
        ("bob", "cyd", "bob", 7),
        ("ada", "bob", "ada", 0),
    ]
    assert [each.bot for each in found.standings][:2] == ["ada", "bob"]


async def test_two_bots_that_always_draw_end_a_knockout(server: ServerInTest) -> None:
    """After its further pairs, the last with a faster clock, the better seed has won."""
    starts: list[play_pb.GameStarted] = []
    server.listen(ended=lambda game: starts.append(started(game)))
    async with players(server, "ada", "bob", strength=False):
        key = await server.tournament("bob", "ada", rounds=0, format=KNOCKOUT, openings=[b""])
        await server.until_finished(key)
    found = (await get(server, key)).tournament
    assert found.state == FINISHED
    # Both take the first free cell: black wins every game, so that each pair is level.
    assert found.finished_games == 8
    assert found.verdict == "bob wins the final: level, so the better seed goes on"
    request = game_service_pb2.ListGamesRequest(tournament_id=key)
    games = (await (await server.games()).ListGames(request)).games
    clocks = [game.time_control.initial.seconds for game in games]
    assert clocks == [150, 150, *[600] * 6]
    assert [start.time_control.initial.seconds for start in starts] == clocks[::-1]


@pytest.mark.parametrize("form", [SWISS, KNOCKOUT])
async def test_a_game_that_is_taken_back_is_played_again(
    server: ServerInTest, form: pb.TournamentFormat.ValueType
) -> None:
    """The tournament runs once more, and ends as it did."""
    async with players(server, *BOTS[:4]):
        key = await server.tournament(*BOTS[:4], rounds=0, format=form, openings=OPENINGS)
        await server.until_finished(key)
        before = await get(server, key)
        for game_id in ("1", str(before.tournament.finished_games)):
            await void(server, game_id)
        await server.until_finished(key)
    after = await get(server, key)
    assert after.standings == before.standings
    assert after.tournament.finished_games == before.tournament.finished_games
    assert [each.winner for each in after.meetings] == [each.winner for each in before.meetings]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"format": KNOCKOUT, "rounds": 2}, "rounds: a knockout has as many as its bots need"),
        ({"format": KNOCKOUT, "swiss": pb.SwissSettings()}, "swiss: for the format SWISS and no"),
        ({"format": SWISS, "knockout": pb.KnockoutSettings()}, "knockout: for the format KNOCKOUT"),
        (
            {"format": KNOCKOUT, "knockout": pb.KnockoutSettings(pairs=1_000_000)},
            "1000003 pairs of games a tie make up to 2000006 games; at most 1000000",
        ),
        ({"format": SWISS, "rounds": 1_000_000}, "rounds 1000000 is above 1: then all have met"),
        (
            {"format": SWISS, "swiss": pb.SwissSettings(seeding=9)},  # type: ignore[arg-type]  # a later one
            "swiss.seeding: there is no 9",
        ),
    ],
)
async def test_what_can_not_be_is_refused(
    server: ServerInTest, settings: dict[str, Any], words: str
) -> None:
    """The error names the field and what is wrong with it."""
    for name in ("ada", "bob"):
        await server.bot(name)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await server.tournament("ada", "bob", **({"rounds": 0} | settings))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert words in str(caught.value.details())
