"""`meijin ladder run`: a continuous ladder."""

from typing import Annotated

import typer

from meijin.cli.connection import (
    USUAL_SERVER,
    JsonOption,
    Server,
    TokenOption,
    connect,
    with_server,
)
from meijin.cli.errors import CommandError
from meijin.cli.follow import current_standings, follow
from meijin.cli.ladder_views import ladder_table, notes
from meijin.cli.options import (
    DEFAULT_TIME,
    DEFAULT_VARIANT,
    MAX_UINT32,
    ConcurrencyOption,
    NameOption,
    OpeningsOption,
    SeedOption,
    TimeOption,
    VariantOption,
    make_tournament,
    settings,
)
from meijin.cli.output import console, print_json
from meijin.v1 import tournament_service_pb2 as pb

SURE = 0.95
"""What ends the ladder of some named bots."""


@with_server
def run(
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            help="Who takes part; without any, everyone who is there.", metavar="BOT..."
        ),
    ] = None,
    games: Annotated[
        int,
        typer.Option(min=0, max=MAX_UINT32, help="At most so many games; 0 for no bound."),
    ] = 0,
    until: Annotated[
        float | None,
        typer.Option(
            help="End when each bot is stronger than the next with a higher chance; 0 for never. "
            "0.95 for named bots, else 0."
        ),
    ] = None,
    time: TimeOption = DEFAULT_TIME,
    variant: VariantOption = DEFAULT_VARIANT,
    seed: SeedOption = None,
    openings: OpeningsOption = None,
    concurrency: ConcurrencyOption = 0,
    name: NameOption = "",
    server: Server = USUAL_SERVER,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play on where the ladder learns most: whoever is free gets the most instructive opponent.

    Bots that no games link to the others are linked first. Then every other pairing makes all
    ratings together surest, and the others settle who of two is stronger. Pairs of games are
    played on one opening with both colours, and each game tells why it was paired. Ctrl-C
    leaves it to the server; `meijin tournament cancel` stops it.
    """
    wanted = settings(
        bots or [],
        time=time,
        variant=variant,
        seed=seed,
        openings=openings,
        concurrency=concurrency,
        name=name or "Ladder",
    )
    if until is None:
        until = SURE if bots else 0.0
    if not 0 <= until < 1:
        raise CommandError(f"--until {until:g}: give a chance from 0 up to but not including 1")
    wanted.rounds = 0
    wanted.format = pb.TOURNAMENT_FORMAT_LADDER
    wanted.ladder.CopyFrom(pb.LadderRun(confidence=until, most_games=games))
    with connect(server, token) as connection:
        followed = follow(connection, make_tournament(connection, wanted))
        standings = current_standings(connection, followed.tournament.ladder)
    if as_json:
        print_json(followed)
        print_json(standings)
        return
    console.print(ladder_table(standings, console.width))
    for note in (followed.tournament.verdict, *notes(standings)):
        console.print(note, style="dim")
