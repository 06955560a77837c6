"""`meijin tournament`: make, follow, show and stop tournaments."""

import secrets
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.connection import (
    DEFAULT_SERVER,
    JsonOption,
    ServerOption,
    TokenOption,
    connect,
)
from meijin.cli.errors import CommandError
from meijin.cli.follow import follow
from meijin.cli.output import console, crosstable, print_json, table
from meijin.game import TimeControl, Variant, encode_moves, parse_opening
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import time_control_from_proto, time_control_to_proto, variant_from_proto
from meijin.wire import variant_to_proto as to_proto

app = typer.Typer(help="Make, follow, show and stop tournaments.", no_args_is_help=True)


class Format(str, Enum):
    """Who meets whom."""

    ROUND_ROBIN = "round-robin"
    GAUNTLET = "gauntlet"


FORMATS = {
    Format.ROUND_ROBIN: pb.TOURNAMENT_FORMAT_ROUND_ROBIN,
    Format.GAUNTLET: pb.TOURNAMENT_FORMAT_GAUNTLET,
}
STATES = {
    pb.TOURNAMENT_STATE_RUNNING: "running",
    pb.TOURNAMENT_STATE_FINISHED: "finished",
    pb.TOURNAMENT_STATE_CANCELLED: "cancelled",
}

BotsArgument = Annotated[
    list[str], typer.Argument(help="Names of bots on the server, at least two.", metavar="BOT...")
]
FormatOption = Annotated[
    Format,
    typer.Option("--format", help="Everybody meets everybody, or the first meets the others."),
]
RoundsOption = Annotated[
    int,
    typer.Option(min=1, help="Games of each pair; two rounds are one opening with both colours."),
]
TimeOption = Annotated[
    str, typer.Option("--time", "-t", help="Seconds: 60, 60+0.5, 5/move or 60+0.5,5/move.")
]
VariantOption = Annotated[
    str, typer.Option(help='Such as "15x15", "standard 19x19" or "3x3, 3 in a row".')
]
SeedOption = Annotated[
    int | None, typer.Option(min=0, help="Same seed, same schedule; drawn by lot when left out.")
]
OpeningsOption = Annotated[
    Path | None,
    typer.Option(help='A file with an opening a line, such as "h8 i9 j7"; else our balanced ones.'),
]
ConcurrencyOption = Annotated[
    int, typer.Option(min=0, help="Games at once; 0 leaves it to what the bots can.")
]
UnratedOption = Annotated[bool, typer.Option("--unrated", help="Leave the ladder alone.")]
NameOption = Annotated[str, typer.Option(help="What the tournament is called.")]
IdArgument = Annotated[str, typer.Argument(help="The tournament's number.", metavar="ID")]


def settings(
    bots: list[str],
    *,
    form: Format,
    rounds: int,
    time: str,
    variant: str,
    seed: int | None,
    openings: Path | None,
    concurrency: int,
    unrated: bool,
    name: str,
) -> pb.TournamentSettings:
    """What the options ask for.

    Raises:
        CommandError: one of them can't be what it should be.
    """
    try:
        board = Variant.parse(variant)
        control = TimeControl.parse(time)
    except ValueError as error:
        raise CommandError(str(error)) from None
    return pb.TournamentSettings(
        name=name,
        bots=bots,
        format=FORMATS[form],
        rounds=rounds,
        variant=to_proto(board),
        time_control=time_control_to_proto(control),
        seed=secrets.randbits(31) if seed is None else seed,
        openings=[] if openings is None else _openings(openings, board),
        max_games=concurrency,
        unrated=unrated,
    )


def _openings(path: Path, variant: Variant) -> list[bytes]:
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise CommandError(f"can't read {path}: {error.strerror}") from None
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                found.append(encode_moves(parse_opening(line, variant)))
        except ValueError as error:
            raise CommandError(f"{path}:{number}: {error}") from None
    if not found:
        raise CommandError(f"{path} holds no opening")
    return found


@app.command()
def run(
    bots: BotsArgument,
    form: FormatOption = Format.ROUND_ROBIN,
    rounds: RoundsOption = 2,
    time: TimeOption = "60+0.5",
    variant: VariantOption = "15x15",
    seed: SeedOption = None,
    openings: OpeningsOption = None,
    concurrency: ConcurrencyOption = 0,
    unrated: UnratedOption = False,
    name: NameOption = "",
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a tournament, follow it to its end and print its crosstable."""
    wanted = settings(
        bots,
        form=form,
        rounds=rounds,
        time=time,
        variant=variant,
        seed=seed,
        openings=openings,
        concurrency=concurrency,
        unrated=unrated,
        name=name,
    )
    with connect(server, token) as connection:
        request = pb.CreateTournamentRequest(settings=wanted, request_id=secrets.token_hex(8))
        made = connection.ask_as_operator(connection.tournaments.CreateTournament, request)
        _print(follow(connection, made.tournament), as_json=as_json)


@app.command()
def create(
    bots: BotsArgument,
    form: FormatOption = Format.ROUND_ROBIN,
    rounds: RoundsOption = 2,
    time: TimeOption = "60+0.5",
    variant: VariantOption = "15x15",
    seed: SeedOption = None,
    openings: OpeningsOption = None,
    concurrency: ConcurrencyOption = 0,
    unrated: UnratedOption = False,
    name: NameOption = "",
    request_id: Annotated[
        str, typer.Option(help="Given again, it makes no second tournament.")
    ] = "",
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a tournament and leave it to the server."""
    wanted = settings(
        bots,
        form=form,
        rounds=rounds,
        time=time,
        variant=variant,
        seed=seed,
        openings=openings,
        concurrency=concurrency,
        unrated=unrated,
        name=name,
    )
    with connect(server, token) as connection:
        request = pb.CreateTournamentRequest(
            settings=wanted, request_id=request_id or secrets.token_hex(8)
        )
        made = connection.ask_as_operator(connection.tournaments.CreateTournament, request)
    if as_json:
        print_json(made.tournament)
        return
    number = made.tournament.tournament_id
    console.print(f"tournament {number}: {made.tournament.planned_games} games")
    console.print(f"follow it: meijin tournament show {number}")


@app.command()
def show(
    key: IdArgument, server: ServerOption = DEFAULT_SERVER, as_json: JsonOption = False
) -> None:
    """Show a tournament and its crosstable."""
    with connect(server) as connection:
        request = pb.GetTournamentRequest(tournament_id=key)
        response = connection.ask(connection.tournaments.GetTournament, request)
    _print(response, as_json=as_json)


@app.command("list")
def list_(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 20,
    server: ServerOption = DEFAULT_SERVER,
    as_json: JsonOption = False,
) -> None:
    """List tournaments, newest first."""
    with connect(server) as connection:
        request = pb.ListTournamentsRequest(page_size=limit)
        response = connection.ask(connection.tournaments.ListTournaments, request)
    if as_json:
        print_json(response)
        return
    columns = ("#", "name", "state", "variant", "time", "games", "bots")
    made = table("Tournaments", columns, text_columns=5)
    for tournament in response.tournaments:
        made.add_row(
            tournament.tournament_id,
            tournament.settings.name,
            STATES[tournament.state],
            str(variant_from_proto(tournament.settings.variant)),
            str(time_control_from_proto(tournament.settings.time_control)),
            f"{tournament.finished_games}/{tournament.planned_games}",
            str(len(tournament.settings.bots)),
        )
    console.print(made)


@app.command()
def cancel(
    key: IdArgument, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None
) -> None:
    """Stop a tournament: its running games become void and are not rated."""
    with connect(server, token) as connection:
        request = pb.CancelTournamentRequest(tournament_id=key)
        made = connection.ask_as_operator(connection.tournaments.CancelTournament, request)
    left = made.tournament.planned_games - made.tournament.finished_games
    console.print(f"cancelled with {left} games left; meijin tournament resume {key} goes on")


@app.command()
def resume(
    key: IdArgument,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a cancelled tournament up again, or follow a running one, to its end."""
    with connect(server, token) as connection:
        found = connection.ask(
            connection.tournaments.GetTournament, pb.GetTournamentRequest(tournament_id=key)
        ).tournament
        if found.state == pb.TOURNAMENT_STATE_CANCELLED:
            request = pb.ResumeTournamentRequest(tournament_id=key)
            connection.ask_as_operator(connection.tournaments.ResumeTournament, request)
        _print(follow(connection, found), as_json=as_json)


def _print(response: pb.GetTournamentResponse, *, as_json: bool) -> None:
    if as_json:
        print_json(response)
        return
    found = response.tournament
    console.print(crosstable(response))
    console.print(
        f"{STATES[found.state]}: {found.finished_games} of {found.planned_games} games, "
        f"{found.running_games} running"
    )
    if found.waiting_for:
        console.print(f"waiting: {found.waiting_for}", markup=False)
