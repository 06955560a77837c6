"""`meijin ladder run` and `meijin ladder settle`: continuous ladders."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import RenderableType

from meijin.cli.command import Output, option
from meijin.cli.errors import CommandError
from meijin.cli.ladder.standings import (
    current_standings,
    final_lines,
    final_standings,
    ladder_table,
    notes,
)
from meijin.cli.options import (
    DEFAULT_TIME,
    MAX_UINT32,
    USUAL_CONDITIONS,
    Conditions,
    NameOption,
    TimeOption,
    TournamentOptions,
)
from meijin.cli.output import Styled, console
from meijin.cli.tournament.follow import NEW_VIEW, follow
from meijin.local.connection import Connection, make_tournament
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.v1 import tournament_service_pb2 as pb

SURE = 0.95
"""What ends the ladder of some named bots."""
ZONE = 10.0
"""Differences that do not matter, in Elo: telling 10 from 0 takes some thousand games of two."""

GamesOption = Annotated[int, option("At most this many games; 0 for no bound.", 0, MAX_UINT32)]


@dataclass(frozen=True, slots=True)
class LadderOptions:
    """What has to be sure, and what is played for it."""

    within: Annotated[
        float | None,
        option(
            "The order of two does not matter where they are no further apart, in Elo; 0 for "
            f"every order, which may take forever. {ZONE:g} where --until ends it.",
            0,
            1000,
        ),
    ] = None
    top: Annotated[
        int,
        option(
            "Only who the first N are has to be sure, not their order; 0 for the whole order.",
            0,
            MAX_UINT32,
        ),
    ] = 0
    time: TimeOption = DEFAULT_TIME
    conditions: Conditions = USUAL_CONDITIONS
    name: NameOption = ""

    def settings(
        self, bots: list[str], until: float, games: int, name: str
    ) -> pb.TournamentSettings:
        """The ladder that they ask for; what is left out has a default where the rest is given."""
        if not 0 <= until < 1:
            raise CommandError(f"--until {until:g}: give a chance from 0 up to but not including 1")
        if not until and (self.within or self.top):
            raise CommandError("--within and --top say what has to be sure; give --until with them")
        options = TournamentOptions(
            bots, time=self.time, conditions=self.conditions, name=self.name or name
        )
        wanted = options.settings()
        within = self.within if self.within is not None else ZONE if until else 0.0
        rule = pb.LadderRun(confidence=until, within=within, top=self.top, most_games=games)
        wanted.ladder.CopyFrom(rule)
        wanted.format = pb.TOURNAMENT_FORMAT_LADDER
        return wanted


def run(
    connection: Connection,
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            help="Who takes part; without any, everyone who is there.", metavar="BOT..."
        ),
    ] = None,
    games: GamesOption = 0,
    until: Annotated[
        float | None,
        "End when the order is right with this chance; 0 for never. 0.95 for named bots, else 0.",
    ] = None,
    *,
    options: LadderOptions,
) -> Output:
    """Play on where the ladder learns most: whoever is free gets the most instructive opponent.

    Bots that no games link to the others are linked first. Then pairings make all ratings
    together surest, or the order, by turns; with --until most settle what it asks for, and of that
    what --games can settle. Pairs of games are played on one opening with both colours, and each game tells why
    it was paired. Ctrl-C leaves it to the server; `meijin tournament cancel` stops it.
    """
    if until is None:
        until = SURE if bots else 0.0
    wanted = options.settings(bots or [], until, games, "Ladder")
    followed = follow(connection, make_tournament(connection, wanted), NEW_VIEW)
    standings = current_standings(connection, followed.tournament.ladder)
    return Output((followed, standings), _lines(followed, standings))


def settle(
    connection: Connection,
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            help="Who takes part; without any, those on the ladder who are connected now.",
            metavar="BOT...",
        ),
    ] = None,
    games: GamesOption = 0,
    hours: Annotated[float, option("At most this many hours; 0 for no bound.", 0, 100_000)] = 0.0,
    until: Annotated[float, "End when the order is right with this chance; 0 for never."] = SURE,
    *,
    options: LadderOptions,
) -> Output:
    """Settle a ladder: close its entries, play until its order is sure, publish a final run.

    Open ladders leave these bots to it meanwhile. It ends when the order is sure, or when its
    games or its hours are used up; the run that has all of its games is marked final and kept for
    ever. Ctrl-C leaves it to the server; `meijin tournament cancel` stops it, without a final run.
    """
    wanted = options.settings(bots or [], until, games, "Ladder, settled")
    wanted.ladder.most_seconds = round(3600 * hours)
    wanted.ladder.final = True
    followed = follow(connection, make_tournament(connection, wanted), NEW_VIEW)
    if followed.tournament.state != pb.TOURNAMENT_STATE_FINISHED:
        raise CommandError(f"tournament {followed.tournament.tournament_id} was cancelled")
    settled, standings = final_standings(connection, followed.tournament.tournament_id)
    lines = (*_lines(settled, standings), *final_lines(standings))
    return Output((settled, standings), lines)


def _lines(
    followed: pb.GetTournamentResponse, standings: ladder_pb.GetStandingsResponse
) -> Iterator[RenderableType | Styled]:
    yield ladder_table(standings, console.width)
    yield from map(Styled, (followed.tournament.verdict, *notes(standings)))
