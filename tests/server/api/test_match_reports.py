"""What a match's results say, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from meijin.v1 import tournament_service_pb2 as pb

if TYPE_CHECKING:
    from meijin.testing.server import ServerInTest


async def report_of(server: ServerInTest, tournament: str) -> pb.GetTournamentResponse:
    """A tournament with its match report."""
    request = pb.GetTournamentRequest(tournament_id=tournament, with_match_report=True)
    return await (await server.tournaments()).GetTournament(request)


async def test_a_match_tells_its_score_by_colour(server: ServerInTest) -> None:
    """And a bound on the advantage of who has won all games; only where it is asked for."""
    black, white = await server.pair(rounds=2)
    assert not (await report_of(server, "1")).HasField("match_report")
    first = await black.turn()
    await black.resign(first.game)
    second = await white.turn()
    await white.play(second, 0)
    await black.resign((await black.turn()).game)
    for _ in range(2):
        await black.ended()
        await white.ended()
    found = await report_of(server, "1")
    report = found.match_report
    bob_has_won = white.name == "bob"
    for score in (report.black, report.white):
        assert (score.wins, score.draws, score.losses) == ((0, 0, 1) if bob_has_won else (1, 0, 0))
    assert not report.HasField("estimate")
    assert (report.elo_bound > 0) == bob_has_won  # it is not above that, or not below
    assert (report.first.moves, report.second.moves) in {(0, 1), (1, 0)}
    assert report.play_time.ToTimedelta().total_seconds() > 0
    plain = pb.GetTournamentRequest(tournament_id="1")
    response = await (await server.tournaments()).GetTournament(plain)
    assert not response.HasField("match_report")
    assert response.crosstable == found.crosstable
