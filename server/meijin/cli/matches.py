"""`meijin match`: two bots against each other."""

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.connection import (
    DEFAULT_SERVER,
    Connection,
    JsonOption,
    ServerOption,
    TokenOption,
    connect,
)
from meijin.cli.errors import CommandError
from meijin.cli.follow import follow
from meijin.cli.local import local_arena
from meijin.cli.output import console, print_json, score_text
from meijin.cli.tournaments import (
    ConcurrencyOption,
    Format,
    OpeningsOption,
    SeedOption,
    TimeOption,
    VariantOption,
    settings,
)
from meijin.v1 import tournament_service_pb2 as pb


def match(
    first: Annotated[str, typer.Argument(help="A bot on the server; with --local a bot to run.")],
    second: Annotated[str, typer.Argument(help="The other one.")],
    games: Annotated[int, typer.Option(min=1, help="How many; colours alternate.")] = 10,
    time: TimeOption = "60+0.5",
    variant: VariantOption = "15x15",
    seed: SeedOption = None,
    openings: OpeningsOption = None,
    concurrency: ConcurrencyOption = 0,
    rated: Annotated[bool, typer.Option("--rated", help="Count for the ladder.")] = False,
    local: Annotated[
        bool,
        typer.Option(
            "--local",
            help="On a server of the match's own: the bots are names of built-in ones, or files.",
        ),
    ] = False,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play a match between two bots and print the score.

    meijin match alphabeta mcts --local --games 4 --time 0.5/move needs no server.
    """
    names = _names(first, second) if local else [first, second]
    wanted = settings(
        names,
        form=Format.ROUND_ROBIN,
        rounds=games,
        time=time,
        variant=variant,
        seed=seed,
        openings=openings,
        concurrency=concurrency,
        unrated=not rated,
        name=f"{names[0]} - {names[1]}",
    )
    arena: AbstractContextManager[Connection] = connect(server, token)
    if local:
        arena = _local(dict(zip(names, (first, second), strict=True)))
    with arena as connection:
        request = pb.CreateTournamentRequest(settings=wanted, request_id=secrets.token_hex(8))
        made = connection.ask_as_operator(connection.tournaments.CreateTournament, request)
        response = follow(connection, made.tournament)
    if as_json:
        print_json(response)
        return
    console.print(_summary(names[0], names[1], response), markup=False)


def _names(first: str, second: str) -> list[str]:
    """Names to play under: the files' own names, told apart if they are the same."""
    names = [Path(spec.partition(":")[0]).stem for spec in (first, second)]
    return names if names[0] != names[1] else [f"{names[0]}-1", f"{names[1]}-2"]


@contextmanager
def _local(bots: dict[str, str]) -> Iterator[Connection]:
    with (
        tempfile.TemporaryDirectory(prefix="meijin-") as folder,
        local_arena(Path(folder), bots) as connection,
    ):
        yield connection


def _summary(first: str, second: str, response: pb.GetTournamentResponse) -> str:
    for cell in response.crosstable:
        if (cell.bot, cell.opponent) == (first, second):
            games = cell.wins + cell.draws + cell.losses
            score = f"+{cell.wins} ={cell.draws} -{cell.losses}"
            faults = {count.bot: count.faults for count in response.faults}
            return (
                f"{first} against {second}: {score}, {score_text(cell.wins, cell.draws, games)} "
                f"of {games} games; faults {faults.get(first, 0)} and {faults.get(second, 0)}"
            )
    raise CommandError("no game was finished")
