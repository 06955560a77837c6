"""`meijin game export`: a game, or a selection of games, as a file."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Annotated

import typer

from meijin.arena.game_tables import COLUMNS, Rows, table_rows, write_csv, write_parquet
from meijin.cli.connection import Connection, with_server
from meijin.cli.errors import CommandError
from meijin.cli.game_selection import (
    BotOption,
    LadderOption,
    Selection,
    SinceOption,
    TournamentOption,
    UntilOption,
    ended_games,
)
from meijin.cli.record_files import OutputFormat, new_file, text_output, written
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.wire import record_from_proto

OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="The file to write; else standard output.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


@with_server
def export(
    connection: Connection,
    game: Annotated[str, typer.Argument(help="The game's number; else choose by options.")] = "",
    form: Annotated[
        OutputFormat,
        typer.Option(
            "--format",
            "-f",
            help="sgf, psq (Piskvork), pos (h8i9...), json; html: a page that replays one game; "
            "csv and parquet: tables.",
        ),
    ] = OutputFormat.SGF,
    rows: Annotated[Rows, typer.Option(help="What a row of a table is.")] = Rows.GAMES,
    tournament: TournamentOption = "",
    bot: BotOption = "",
    ladder: LadderOption = "",
    since: SinceOption = "",
    until: UntilOption = "",
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Write a game for other programs, or all ended games of a selection, newest first.

    A file appears when all of it is written. docs/records.md has the formats and the columns.
    """
    selection = Selection(tournament, bot, ladder, since, until)
    _check(game, selection, form)
    games = [_whole_game(connection, game)] if game else ended_games(connection, selection)
    if form.is_table:
        _write_table(games, form, rows, output, force=force)
    else:
        _write_records(games, form, output, force=force)


def _check(game: str, selection: Selection, form: OutputFormat) -> None:
    if game and not selection.is_empty:
        raise CommandError("name a game or choose by options, not both")
    if not game and selection.is_empty:
        raise CommandError(
            "name a game, or choose with --tournament, --bot, --ladder, --since or --until"
        )
    if not game and not form.holds_many:
        raise CommandError(f"{form.value} holds one game; name it")


def _whole_game(connection: Connection, key: str) -> game_pb2.Game:
    return connection.ask(connection.games.GetGame, pb.GetGameRequest(game_id=key)).game


def _write_records(
    games: Iterable[game_pb2.Game], form: OutputFormat, output: Path | None, *, force: bool
) -> None:
    with text_output(output, force=force) as write:
        for game in games:
            write(written(record_from_proto(game), form))


def _write_table(
    games: Iterable[game_pb2.Game],
    form: OutputFormat,
    rows: Rows,
    output: Path | None,
    *,
    force: bool,
) -> None:
    ended = (game for game in games if game.state != game_pb2.GAME_STATE_RUNNING)

    def write(file: IO[bytes]) -> None:
        writer = write_parquet if form is OutputFormat.PARQUET else write_csv
        writer(file, COLUMNS[rows], table_rows(ended, rows))

    if output is not None:
        with new_file(output, force=force) as file:
            write(file)
    elif sys.stdout.isatty() and form is OutputFormat.PARQUET:
        raise CommandError("parquet is no text; give a file with --output")
    else:
        write(sys.stdout.buffer)
