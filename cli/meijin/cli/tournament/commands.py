"""`meijin tournament`: make, follow, show, export and stop tournaments."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from meijin.cli.command import USUAL_LIMIT, Commands, LimitOption, Output, list_output
from meijin.cli.files import ForceOption, new_file
from meijin.cli.game.selection import GameSelection, ended_games
from meijin.cli.options import TournamentOptions
from meijin.cli.output import console
from meijin.cli.tables import count_text, number, text, word
from meijin.cli.tournament.archive import write_archive
from meijin.cli.tournament.bracket import bracket_lines
from meijin.cli.tournament.follow import NEW_VIEW, follow
from meijin.cli.tournament.tables import crosstable, games_text, planned_text, standings_table
from meijin.local.connection import Connection, get_tournament, make_tournament, set_state
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.enums import word_of
from meijin.wire.match_report import report_lines
from meijin.wire.values import time_control_from_proto, variant_from_proto

app = Commands()

IdArgument = Annotated[str, typer.Argument(help="The tournament's number.", metavar="ID")]

COLUMNS = (
    text("#", "tournament_id"),
    text("name", "settings.name"),
    text("state", word("state", pb.TournamentState)),
    text("variant", lambda row: variant_from_proto(row.settings.variant)),
    text("time", lambda row: time_control_from_proto(row.settings.time_control)),
    number("games", lambda row: f"{row.finished_games}/{row.planned_games or '∞'}"),
    number("bots", lambda row: len(row.settings.bots)),
)


@app.command()
def run(
    connection: Connection,
    wanted: TournamentOptions,
    detach: Annotated[bool, "Leave it to the server, and print its number."] = False,
    request_id: Annotated[str, "Given again, it makes no second tournament."] = "",
) -> Output:
    """Make a tournament, follow it to its end and print its table."""
    made = make_tournament(connection, wanted.settings(), request_id)
    if not detach:
        return _output(follow(connection, made, NEW_VIEW))
    key = made.tournament_id
    said = f"tournament {key}: {planned_text(made)}"
    return Output(made, (said, f"follow it: meijin tournament watch {key}"))


@app.command()
def show(connection: Connection, key: IdArgument) -> Output:
    """Show a tournament and its table, or its bracket."""
    return _output(get_tournament(connection, key, with_match_report=True))


@app.command()
def watch(connection: Connection, key: IdArgument) -> Output:
    """Follow a tournament to its end and print its table."""
    return _output(follow(connection, get_tournament(connection, key).tournament))


@app.command("list")
def list_(connection: Connection, limit: LimitOption = USUAL_LIMIT) -> Output:
    """List tournaments, newest first."""
    method = connection.tournaments.ListTournaments
    request = pb.ListTournamentsRequest()
    return list_output(connection.ask, method, request, "Tournaments", COLUMNS, limit)


@app.command()
def export(
    connection: Connection,
    key: IdArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The zip to write.")],
    force: ForceOption = False,
) -> None:
    """Write a tournament as a zip: its ended games in SGF and JSON, its table and a manifest.

    The manifest has the SHA-256 of each file; docs/records.md says what else.
    """
    found = get_tournament(connection, key)
    with new_file(output, force=force) as file:
        games = ended_games(connection, GameSelection(tournament=key))
        count = write_archive(file, found, games)
    console.print(f"{count_text(count)} written to {output}", soft_wrap=True)


@app.command()
def cancel(connection: Connection, key: IdArgument) -> None:
    """Stop a tournament: its running games become void and are not rated."""
    games = games_text(set_state(connection, key, pb.TOURNAMENT_STATE_CANCELLED))
    console.print(f"cancelled after {games}; meijin tournament resume {key} goes on")


@app.command()
def resume(connection: Connection, key: IdArgument) -> Output:
    """Take a cancelled tournament up again, or follow a running one, to its end."""
    found = get_tournament(connection, key).tournament
    if found.state == pb.TOURNAMENT_STATE_CANCELLED:
        set_state(connection, key, pb.TOURNAMENT_STATE_RUNNING)
    return _output(follow(connection, found))


def _output(response: pb.GetTournamentResponse) -> Output:
    return Output(response, tournament_lines(response))


def tournament_lines(response: pb.GetTournamentResponse) -> Iterator[RenderableType]:
    """A tournament's tables, and how far it is."""
    found = response.tournament
    yield from _tables(response)
    yield from report_lines(response)
    state = word_of(pb.TournamentState, found.state)
    yield f"{state}: {games_text(found)}, {found.running_games} running"
    if found.waiting_for:
        yield f"waiting: {found.waiting_for}"


def _tables(response: pb.GetTournamentResponse) -> Iterator[RenderableType]:
    """The crosstable; where there are rounds the standings, below the bracket if there is one."""
    meetings = response.meetings
    if not meetings:
        yield crosstable(response)
        return
    if any(meeting.next for meeting in meetings):
        yield from bracket_lines(meetings, console.width)
        yield ""
    yield standings_table(response)
    for meeting in meetings:
        if meeting.note:
            who = f"{meeting.first} - {meeting.second}"
            yield f"round {meeting.round}, {who}: {meeting.note}"
