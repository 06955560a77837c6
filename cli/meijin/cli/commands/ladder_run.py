"""`meijin ladder run` and `meijin ladder settle`: continuous ladders."""

from typing import Annotated

import typer

from meijin.arena.tournaments import make_tournament
from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.errors import CommandError
from meijin.cli.follow import current_standings, final_standings, follow
from meijin.cli.ladder_views import final_lines, ladder_table, notes
from meijin.cli.options import (
    DEFAULT_OPENING_RULE,
    DEFAULT_TIME,
    DEFAULT_VARIANT,
    MAX_UINT32,
    ConcurrencyOption,
    NameOption,
    OpeningRuleOption,
    OpeningsOption,
    SeedOption,
    TimeOption,
    VariantOption,
    settings,
)
from meijin.cli.output import console, print_json
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.v1 import tournament_service_pb2 as pb

SURE = 0.95
"""What ends the ladder of some named bots."""
ZONE = 10.0
"""Differences that do not matter, in Elo: telling 10 from 0 takes some thousand games of two."""

GamesOption = Annotated[
    int, typer.Option(min=0, max=MAX_UINT32, help="At most so many games; 0 for no bound.")
]
WithinOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1000,
        help="The order of two does not matter where they are no further apart, in Elo; 0 for "
        f"every order, which may take for ever. {ZONE:g} where --until ends it.",
    ),
]
TopOption = Annotated[
    int,
    typer.Option(
        min=0,
        max=MAX_UINT32,
        help="Only who the first so many are has to be sure, not their order; 0 for the whole "
        "order.",
    ),
]


@with_server
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
        typer.Option(
            help="End when the order is right with this chance; 0 for never. "
            "0.95 for named bots, else 0."
        ),
    ] = None,
    within: WithinOption = None,
    top: TopOption = 0,
    time: TimeOption = DEFAULT_TIME,
    variant: VariantOption = DEFAULT_VARIANT,
    opening_rule: OpeningRuleOption = DEFAULT_OPENING_RULE,
    seed: SeedOption = None,
    openings: OpeningsOption = None,
    concurrency: ConcurrencyOption = 0,
    name: NameOption = "",
    as_json: JsonOption = False,
) -> None:
    """Play on where the ladder learns most: whoever is free gets the most instructive opponent.

    Bots that no games link to the others are linked first. Then pairings make all ratings
    together surest, or settle who of two is stronger, by turns; with --until most settle what it
    asks for. Pairs of games are played on one opening with both colours, and each game tells why
    it was paired. Ctrl-C leaves it to the server; `meijin tournament cancel` stops it.
    """
    wanted = settings(
        bots or [],
        time=time,
        variant=variant,
        opening_rule=opening_rule,
        seed=seed,
        openings=openings,
        concurrency=concurrency,
        name=name or "Ladder",
    )
    if until is None:
        until = SURE if bots else 0.0
    wanted.ladder.CopyFrom(_rule(until, within, top))
    wanted.ladder.most_games = games
    followed = _follow(connection, wanted)
    standings = current_standings(connection, followed.tournament.ladder)
    _print(followed, standings, as_json=as_json)


@with_server
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
    hours: Annotated[
        float, typer.Option(min=0, max=100_000, help="At most so many hours; 0 for no bound.")
    ] = 0.0,
    until: Annotated[
        float, typer.Option(help="End when the order is right with this chance; 0 for never.")
    ] = SURE,
    within: WithinOption = None,
    top: TopOption = 0,
    time: TimeOption = DEFAULT_TIME,
    variant: VariantOption = DEFAULT_VARIANT,
    opening_rule: OpeningRuleOption = DEFAULT_OPENING_RULE,
    seed: SeedOption = None,
    openings: OpeningsOption = None,
    concurrency: ConcurrencyOption = 0,
    name: NameOption = "",
    as_json: JsonOption = False,
) -> None:
    """Settle a ladder: close its entries, play until its order is sure, publish a final run.

    Open ladders leave these bots to it meanwhile. It ends when the order is sure, or when its
    games or its hours are used up; the run that has all of its games is marked final and kept for
    ever. Ctrl-C leaves it to the server; `meijin tournament cancel` stops it, without a final run.
    """
    wanted = settings(
        bots or [],
        time=time,
        variant=variant,
        opening_rule=opening_rule,
        seed=seed,
        openings=openings,
        concurrency=concurrency,
        name=name or "Ladder, settled",
    )
    wanted.ladder.CopyFrom(_rule(until, within, top))
    wanted.ladder.most_games = games
    wanted.ladder.most_seconds = round(3600 * hours)
    wanted.ladder.final = True
    followed = _follow(connection, wanted)
    if followed.tournament.state != pb.TOURNAMENT_STATE_FINISHED:
        raise CommandError(f"tournament {followed.tournament.tournament_id} was cancelled")
    standings = final_standings(connection, followed.tournament)
    _print(followed, standings, as_json=as_json)
    if not as_json:
        console.print(*final_lines(standings), sep="\n", soft_wrap=True)


def _rule(until: float, within: float | None, top: int) -> pb.LadderRun:
    """What ends it; what is left out has a default where the rest is asked for."""
    if not 0 <= until < 1:
        raise CommandError(f"--until {until:g}: give a chance from 0 up to but not including 1")
    if not until and (within or top):
        raise CommandError("--within and --top say what has to be sure; give --until with them")
    if within is None:
        within = ZONE if until else 0.0
    return pb.LadderRun(confidence=until, within=within, top=top)


def _follow(connection: Connection, wanted: pb.TournamentSettings) -> pb.GetTournamentResponse:
    """Make a continuous ladder and follow it to its end."""
    wanted.rounds = 0
    wanted.format = pb.TOURNAMENT_FORMAT_LADDER
    return follow(connection, make_tournament(connection, wanted))


def _print(
    followed: pb.GetTournamentResponse, standings: ladder_pb.GetStandingsResponse, *, as_json: bool
) -> None:
    if as_json:
        print_json(followed)
        print_json(standings)
        return
    console.print(ladder_table(standings, console.width))
    for note in (followed.tournament.verdict, *notes(standings)):
        console.print(note, style="dim")
