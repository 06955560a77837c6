"""`meijin tournament`: make, follow, show, export and stop tournaments."""

from pathlib import Path
from typing import Annotated

import typer

from meijin.arena.tournaments import make_tournament
from meijin.cli.bracket import bracket_lines
from meijin.cli.commands.game_export import ForceOption
from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.follow import follow
from meijin.cli.game_selection import Selection, ended_games
from meijin.cli.listing import OLDER, USUAL_LIMIT, LimitOption, read_list
from meijin.cli.options import with_settings
from meijin.cli.output import (
    console,
    count_text,
    crosstable,
    games_text,
    planned_text,
    print_json,
    standings_table,
    table,
)
from meijin.cli.record_files import new_file
from meijin.cli.sprt import outcome_lines
from meijin.cli.tournament_archive import write_archive
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import time_control_from_proto, variant_from_proto

app = typer.Typer(help="Make, follow, show, export and stop tournaments.", no_args_is_help=True)

STATES = {
    pb.TOURNAMENT_STATE_RUNNING: "running",
    pb.TOURNAMENT_STATE_FINISHED: "finished",
    pb.TOURNAMENT_STATE_CANCELLED: "cancelled",
}

IdArgument = Annotated[str, typer.Argument(help="The tournament's number.", metavar="ID")]


@app.command()
@with_settings
@with_server
def run(
    connection: Connection,
    wanted: pb.TournamentSettings,
    detach: Annotated[
        bool, typer.Option("--detach", help="Leave it to the server, and print its number.")
    ] = False,
    request_id: Annotated[
        str, typer.Option(help="Given again, it makes no second tournament.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a tournament, follow it to its end and print its table."""
    made = make_tournament(connection, wanted, request_id)
    if not detach:
        _print(follow(connection, made), as_json=as_json)
    elif as_json:
        print_json(made)
    else:
        number = made.tournament_id
        console.print(f"tournament {number}: {planned_text(made)}")
        console.print(f"follow it: meijin tournament watch {number}")


@app.command()
@with_server
def show(connection: Connection, key: IdArgument, as_json: JsonOption = False) -> None:
    """Show a tournament and its table, or its bracket."""
    request = pb.GetTournamentRequest(tournament_id=key)
    response = connection.ask(connection.tournaments.GetTournament, request)
    _print(response, as_json=as_json)


@app.command()
@with_server
def watch(connection: Connection, key: IdArgument, as_json: JsonOption = False) -> None:
    """Follow a tournament to its end and print its table."""
    _print(follow(connection, _find(connection, key)), as_json=as_json)


@app.command("list")
@with_server
def list_(
    connection: Connection, limit: LimitOption = USUAL_LIMIT, as_json: JsonOption = False
) -> None:
    """List tournaments, newest first."""
    response = read_list(
        connection.ask,
        connection.tournaments.ListTournaments,
        pb.ListTournamentsRequest(),
        rows=lambda response: response.tournaments,
        limit=limit,
    )
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
            f"{tournament.finished_games}/{tournament.planned_games or '∞'}",
            str(len(tournament.settings.bots)),
        )
    console.print(made)
    if response.next_page_token:
        console.print(OLDER)


@app.command()
@with_server
def export(
    connection: Connection,
    key: IdArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The zip to write.")],
    force: ForceOption = False,
) -> None:
    """Write a tournament as a zip: its ended games in SGF and JSON, its table and a manifest.

    The manifest has the SHA-256 of each file; docs/records.md says what else.
    """
    request = pb.GetTournamentRequest(tournament_id=key)
    found = connection.ask(connection.tournaments.GetTournament, request)
    with new_file(output, force=force) as file:
        games = ended_games(connection, Selection(tournament=key))
        count = write_archive(file, found, games)
    console.print(f"{count_text(count)} written to {output}", soft_wrap=True)


@app.command()
@with_server
def cancel(connection: Connection, key: IdArgument) -> None:
    """Stop a tournament: its running games become void and are not rated."""
    request = pb.UpdateTournamentRequest(tournament_id=key, state=pb.TOURNAMENT_STATE_CANCELLED)
    made = connection.ask_with_token(connection.tournaments.UpdateTournament, request)
    games = games_text(made.tournament)
    console.print(f"cancelled after {games}; meijin tournament resume {key} goes on")


@app.command()
@with_server
def resume(connection: Connection, key: IdArgument, as_json: JsonOption = False) -> None:
    """Take a cancelled tournament up again, or follow a running one, to its end."""
    found = _find(connection, key)
    if found.state == pb.TOURNAMENT_STATE_CANCELLED:
        request = pb.UpdateTournamentRequest(tournament_id=key, state=pb.TOURNAMENT_STATE_RUNNING)
        connection.ask_with_token(connection.tournaments.UpdateTournament, request)
    _print(follow(connection, found), as_json=as_json)


def _find(connection: Connection, key: str) -> pb.Tournament:
    request = pb.GetTournamentRequest(tournament_id=key)
    return connection.ask(connection.tournaments.GetTournament, request).tournament


def _print(response: pb.GetTournamentResponse, *, as_json: bool) -> None:
    if as_json:
        print_json(response)
        return
    found = response.tournament
    _print_table(response)
    if found.HasField("sprt"):
        console.print(*outcome_lines(found), sep="\n", soft_wrap=True)
    elif found.verdict:
        console.print(found.verdict, soft_wrap=True)
    console.print(f"{STATES[found.state]}: {games_text(found)}, {found.running_games} running")
    if found.waiting_for:
        console.print(f"waiting: {found.waiting_for}")


def _print_table(response: pb.GetTournamentResponse) -> None:
    """The crosstable; where there are rounds the standings, below the bracket if there is one."""
    meetings = response.meetings
    if not meetings:
        console.print(crosstable(response))
        return
    if any(meeting.next for meeting in meetings):
        lines = bracket_lines(meetings, console.width)
        console.print(*lines, "", sep="\n", soft_wrap=True)
    console.print(standings_table(response))
    for meeting in meetings:
        if meeting.note:
            who = f"{meeting.first} - {meeting.second}"
            console.print(f"round {meeting.round}, {who}: {meeting.note}")
