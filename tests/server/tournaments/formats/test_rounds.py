"""Tournaments in rounds, over the wire and played by scripted bots."""

from __future__ import annotations

from collections import Counter

from tests.server.tournaments.formats.players import OPENINGS, players
from tests.server_in_test import ServerInTest

from meijin.server.match.wire import game_started_to_proto
from meijin.v1 import tournament_service_pb2 as pb

SWISS, KNOCKOUT = pb.TOURNAMENT_FORMAT_SWISS, pb.TOURNAMENT_FORMAT_KNOCKOUT
BOTS = ("ada", "bob", "cyd", "dan", "eve")


async def test_a_round_by_round_tournament_of_an_odd_field(server: ServerInTest) -> None:
    """Everything comes back: settings, standings with tie-breaks, meetings with byes."""
    async with players(server, *BOTS, order=BOTS, max_games=2):
        key = await server.tournament(*BOTS, rounds=3, format=SWISS, openings=OPENINGS)
        await server.until_finished(key)
    found = await server.report(key)
    tournament = found.tournament
    assert (tournament.planned_games, tournament.finished_games) == (12, 12)
    assert not tournament.may_end_early
    assert tournament.settings.rounds == 3
    assert tournament.settings.swiss == pb.SwissSettings(seeding=pb.SEEDING_LADDER)
    winner = found.standings[0]
    assert (winner.rank, winner.bot, winner.points) == (1, "ada", 6)
    assert [each.name for each in winner.tie_breaks] == ["Buchholz", "Sonneborn-Berger"]
    assert Counter(each.games for each in found.standings) == {6: 2, 4: 3}
    numbers = [(round_, 3 * (round_ - 1) + place) for round_ in (1, 2, 3) for place in (1, 2, 3)]
    assert [(each.round, each.number) for each in found.meetings] == numbers
    byes = [each for each in found.meetings if each.bye]
    assert len(byes) == 3
    for bye in byes:
        assert (bye.winner, bye.second, bye.first_points) == (bye.first, "", 2.0)


async def test_a_knockout_ends_with_a_winner(server: ServerInTest) -> None:
    """Its bracket tells who met whom, and who went on."""
    settings = pb.KnockoutSettings(
        seeding=pb.SEEDING_GIVEN, extra_pairs=0, fast_pairs=0, fast_clock=0.5
    )
    async with players(server, *BOTS, order=BOTS, max_games=2):
        key = await server.tournament(
            *BOTS, rounds=0, format=KNOCKOUT, knockout=settings, openings=OPENINGS
        )
        await server.until_finished(key)
    found = await server.report(key)
    assert found.tournament.verdict == "ada wins the final"
    assert (found.tournament.planned_games, found.tournament.finished_games) == (8, 8)
    settings.pairs = 1
    assert found.tournament.settings.knockout == settings
    told = [(each.first, each.second, each.winner, each.next) for each in found.meetings]
    assert told[:2] == [("ada", "", "ada", 5), ("dan", "eve", "dan", 5)]
    assert told[5:] == [("bob", "cyd", "bob", 7), ("ada", "bob", "ada", 0)]
    assert [each.bot for each in found.standings][:2] == ["ada", "bob"]


async def test_two_bots_that_always_draw_end_a_knockout(server: ServerInTest) -> None:
    """After its further pairs, the last with a faster clock, the better seed has won."""
    starts: list[int] = []
    server.listen(
        ended=lambda game: starts.append(
            game_started_to_proto(game, game.black).time_control.initial.seconds
        )
    )
    async with players(server, "ada", "bob", max_games=2):
        key = await server.tournament("bob", "ada", rounds=0, format=KNOCKOUT, openings=[b""])
        await server.until_finished(key)
    found = (await server.report(key)).tournament
    # Both take the first free cell: black wins every game, so that each pair is level.
    assert found.finished_games == 8
    assert found.verdict == "bob wins the final: level, so the better seed goes on"
    games = (await server.ask("GameService/ListGames", tournament_id=key)).games
    clocks = [game.time_control.initial.seconds for game in games]
    assert clocks == starts[::-1] == [150, 150, *[600] * 6]
