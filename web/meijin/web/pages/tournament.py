"""The page of one tournament: progress, standings, rounds or crosstable, and its test."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.responses import Response

from meijin.v1 import game_pb2, game_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.charts import ChartData
from meijin.web.crosstables import CrosstableLine, crosstable, crosstable_csv
from meijin.web.drafts import Draft
from meijin.web.game_files import KINDS, game_file
from meijin.web.game_lines import GameLine, game_lines
from meijin.web.pace import Pace, pace_of
from meijin.web.pages.tournaments import TournamentLine, tournament_line
from meijin.web.refusals import not_found
from meijin.web.rounds import Round, rounds_of
from meijin.web.routes import Page, Private
from meijin.web.sprt_charts import elo_chart, llr_chart
from meijin.web.visit import Visit
from meijin.web.wording import text

SHOWN = 20
"""Games; the rest has pages of its own."""

LAST_ENDED = 5
"""Games with a result that tell when the last one came."""

MAX_COLUMNS = 60
"""Bots of a crosstable that is shown; a larger one is to be had as a file."""

MAX_MEETINGS = 400
"""Of the newest rounds; a bracket of 512 bots has one less than 400 behind its first round."""

MAX_STANDINGS = 200

POINTS = 400
"""Of a test's path."""

DECISIONS = {
    pb.SPRT_DECISION_ELO0: "elo0",
    pb.SPRT_DECISION_ELO1: "elo1",
    pb.SPRT_DECISION_NOTHING_NEW: "nothing_new",
}


@dataclass(frozen=True, slots=True)
class TestView:
    """Where a test stands, and how it came there."""

    standing: pb.SprtStanding
    settings: pb.Sprt
    unit: str
    """What its hypotheses are told in."""
    decision: str
    points: tuple[pb.TestPoint, ...]
    llr: ChartData
    elo: ChartData
    has_elo: bool
    levels: tuple[str, str]
    """The bounds of the ratio."""


@dataclass(frozen=True, slots=True)
class TournamentView:
    """What the page of a tournament shows."""

    line: TournamentLine
    pace: Pace | None
    standings: tuple[pb.TournamentStanding, ...]
    more_standings: int
    """Bots that are left out."""
    tie_breaks: tuple[str, ...]
    rounds: tuple[Round, ...]
    is_bracket: bool
    crosstable: tuple[CrosstableLine, ...]
    """Empty where it is too large to be shown."""
    has_crosstable: bool
    test: TestView | None
    games: tuple[GameLine, ...]


async def tournament(visit: Visit) -> Draft:
    """Show a tournament."""
    key, services = visit.place("tournament"), visit.services
    found, games, ended = await asyncio.gather(
        services.tournaments.GetTournament(pb.GetTournamentRequest(tournament_id=key)),
        services.games.ListGames(
            game_service_pb2.ListGamesRequest(tournament_id=key, page_size=SHOWN)
        ),
        services.games.ListGames(
            game_service_pb2.ListGamesRequest(
                tournament_id=key, state=game_pb2.GAME_STATE_FINISHED, page_size=LAST_ENDED
            )
        ),
    )
    path = pb.ListTestPointsResponse()
    if found.tournament.HasField("sprt"):
        points = pb.ListTestPointsRequest(tournament_id=key, max_points=POINTS)
        path = await services.tournaments.ListTestPoints(points)

    def view() -> TournamentView:
        return _view(found, games.games, ended.games, path)

    return visit.page("tournament.html", view, found, games, ended, path)


def _view(
    found: pb.GetTournamentResponse,
    games: Sequence[game_pb2.Game],
    ended: Sequence[game_pb2.Game],
    path: pb.ListTestPointsResponse,
) -> TournamentView:
    standings = found.standings
    lines = crosstable(found)
    return TournamentView(
        line=tournament_line(found.tournament),
        pace=pace_of(found.tournament, _last_end(found.tournament, ended)),
        standings=tuple(standings[:MAX_STANDINGS]),
        more_standings=max(0, len(standings) - MAX_STANDINGS),
        tie_breaks=tuple(each.name for each in standings[0].tie_breaks) if standings else (),
        rounds=rounds_of(found.meetings, most=MAX_MEETINGS),
        is_bracket=any(meeting.next for meeting in found.meetings),
        crosstable=lines if len(lines) <= MAX_COLUMNS else (),
        has_crosstable=bool(lines),
        test=_test(found.tournament, path) if found.tournament.HasField("sprt") else None,
        games=game_lines(games),
    )


def _test(tournament: pb.Tournament, path: pb.ListTestPointsResponse) -> TestView:
    standing, settings = tournament.sprt, tournament.settings.sprt
    is_logistic = settings.scale == pb.SPRT_SCALE_LOGISTIC
    decision, elo = DECISIONS.get(standing.decision, "open"), elo_chart(path)
    return TestView(
        standing,
        settings,
        text("tournament.elo" if is_logistic else "tournament.normalised_elo"),
        text(f"tournament.decision.{decision}"),
        tuple(path.points),
        llr_chart(path),
        elo,
        bool(elo.x),
        (f"{standing.lower:.2f}", f"{standing.upper:.2f}"),
    )


def _last_end(tournament: pb.Tournament, ended: Sequence[game_pb2.Game]) -> datetime | None:
    """When the newest result came, as far as the newest games with one tell."""
    if tournament.HasField("end_time"):
        return tournament.end_time.ToDatetime(UTC)
    return max((game.end_time.ToDatetime(UTC) for game in ended), default=None)


async def crosstable_file(visit: Visit) -> Draft:
    """A tournament's crosstable as a file."""
    key = visit.place("tournament")
    request = pb.GetTournamentRequest(tournament_id=key)
    found = await visit.services.tournaments.GetTournament(request)
    return Draft(
        (found,),
        lambda: crosstable_csv(found),
        "text/csv; charset=utf-8",
        f"tournament-{found.tournament.tournament_id}-crosstable.csv",
    )


async def games_file(visit: Visit) -> Response:
    """A tournament's games as a file."""
    ending = visit.place("ending")
    if ending not in KINDS:
        raise not_found(f'no file of games ends in "{ending}"; there are: {", ".join(KINDS)}')
    request = pb.GetTournamentRequest(tournament_id=visit.place("tournament"))
    found = await visit.services.tournaments.GetTournament(request)
    key = found.tournament.tournament_id
    return game_file(visit.services, key, ending, visit.shell.closing)


ROUTES = (
    Page("/tournaments/{tournament}", tournament),
    Page("/tournaments/{tournament}/crosstable.csv", crosstable_file),
    Private("/tournaments/{tournament}/games.{ending}", games_file),
)
