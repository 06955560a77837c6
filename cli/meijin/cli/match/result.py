"""What is said of a match: where it stands now and then, how it ended, and with which status."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO

import typer
from rich.console import RenderableType

from meijin.cli.command import Output
from meijin.cli.errors import CommandError, TooManyFaultsError, unusable_file
from meijin.cli.match.players import MatchFolder
from meijin.cli.tournament.commands import tournament_lines
from meijin.cli.tournament.follow import PLAYERS, Rating
from meijin.cli.tournament.sprt import EXIT_STATUS
from meijin.cli.tournament.tables import games_text
from meijin.local.connection import Connection, get_tournament
from meijin.local.first_fault import FirstFault
from meijin.local.match_play import excess_of_faults
from meijin.v1 import game_pb2, game_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.match_report import report_lines

USUAL_INTERVAL = 10
"""Games after which a match says where it stands."""
TEST_INTERVAL = 100
"""The same of a test."""

STANDARD_OUTPUT = Path("-")


def opened(path: Path, stack: ExitStack) -> IO[str]:
    if path == STANDARD_OUTPUT:
        return sys.stdout
    try:
        return stack.enter_context(path.open("w", encoding="utf-8"))
    except OSError as error:
        raise unusable_file(error) from None


def write_game_line(connection: Connection, file: IO[str], game: game_pb2.Game) -> None:
    """Write a game that has ended as a line of JSON, at once, with all that is known of it."""
    form = game_service_pb2.RECORD_FORMAT_JSON
    request = game_service_pb2.ExportGameRequest(game_id=game.game_id, format=form)
    text = connection.ask(connection.games.ExportGame, request).text
    try:
        file.write(text.rstrip("\n") + "\n")
        file.flush()
    except OSError as error:
        if file is sys.stdout:
            raise
        with suppress(OSError):
            file.close()  # which would try once more
        raise unusable_file(OSError(error.errno, error.strerror, file.name)) from None


def match_output(
    response: pb.GetTournamentResponse, faults: Sequence[FirstFault], folder: MatchFolder | None
) -> Output:
    """How a match ended; where there were faults the logs in its folder stay."""
    logs = ""
    if folder is not None and (faults or folder.keeps_logs):
        logs = str(folder.keep_logs())
    lines = standing_lines(response)
    for fault in faults:
        lines += fault.lines()
    if logs:
        lines.append(f"logs: {logs}")
    from meijin.wire.json import json_object  # noqa: PLC0415 - takes 10 ms, for --json

    value = {"first_faults": list(map(asdict, faults)), "logs": logs}
    return Output(json_object(response) | value, lines, _failure(response))


def standing_lines(response: pb.GetTournamentResponse) -> list[RenderableType]:
    """What a match or a tournament has come to."""
    is_match = len(response.tournament.settings.bots) == PLAYERS
    return [*(report_lines(response) if is_match else tournament_lines(response))]


def _failure(response: pb.GetTournamentResponse) -> Exception | None:
    found = response.tournament
    if found.state == pb.TOURNAMENT_STATE_CANCELLED:
        if excess := excess_of_faults(response):
            return TooManyFaultsError(excess)
        return CommandError(f"the match was cancelled after {games_text(found)}")
    if not found.finished_games:
        return CommandError("no game was finished")
    if found.HasField("sprt") and found.sprt.decision in EXIT_STATUS:
        return typer.Exit(EXIT_STATUS[found.sprt.decision])
    return None


def rating_of(connection: Connection, made: pb.Tournament, interval: int | None) -> Rating | None:
    """What is said after every this many games: the lines that are said at the end."""

    def lines(games: int) -> list[str]:
        if games == made.planned_games:
            return []
        return report_lines(get_tournament(connection, made.tournament_id, with_match_report=True))

    if interval is None:
        interval = TEST_INTERVAL if made.HasField("sprt") else USUAL_INTERVAL
    return Rating(interval, lines) if interval else None
