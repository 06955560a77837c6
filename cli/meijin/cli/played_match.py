"""A match that is played: where it stands now and then, how it ended, and with which status."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import typer
from google.protobuf.json_format import MessageToDict

from meijin.arena.match_play import excess_of_faults
from meijin.cli.connection import Connection
from meijin.cli.errors import CommandError, TooManyFaultsError
from meijin.cli.first_faults import FirstFault
from meijin.cli.follow import Rating
from meijin.cli.match_folder import MatchFolder
from meijin.cli.match_summary import rating_line, summary_lines
from meijin.cli.output import console, games_text, print_json
from meijin.cli.sprt import EXIT_STATUS, outcome_lines, standing_line
from meijin.v1 import tournament_service_pb2 as pb

RATED_GAMES = 20
"""From so many games on a match says now and then where it stands."""

RATINGS = 10
"""How often it does."""

TEST_INTERVAL = 100
"""Games after which a test says where it stands."""


@dataclass(frozen=True, slots=True)
class Played:
    """A match that is over."""

    response: pb.GetTournamentResponse
    faults: Sequence[FirstFault]
    """The first of each bot."""
    folder: MatchFolder | None
    """``None`` for one on another's server."""

    def show(self, *, as_json: bool) -> None:
        """Print how it ended; where there were faults the logs stay."""
        logs = ""
        if self.folder is not None and (self.faults or self.folder.has_logs_to_keep):
            logs = str(self.folder.keep_logs())
        if as_json:
            fields = MessageToDict(
                self.response,
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
            )
            found = [asdict(fault) for fault in self.faults]
            print_json({**fields, "first_faults": found, "logs": logs})
            return
        lines = summary_lines(self.response)
        if self.response.tournament.HasField("sprt"):
            lines += outcome_lines(self.response.tournament)
        for fault in self.faults:
            lines += fault.lines()
        for line in lines:
            console.print(line, soft_wrap=True)
        if logs:
            console.print(f"logs: {logs}", soft_wrap=True)

    def end(self) -> None:
        """End the command with the status that the match has come to.

        Raises:
            TooManyFaultsError: a bot had forfeited as many games as were allowed.
            CommandError: it was cancelled, or none of its games has a result.
            typer.Exit: a test was to decide it, and did not.
        """
        found = self.response.tournament
        if found.state == pb.TOURNAMENT_STATE_CANCELLED:
            if excess := excess_of_faults(self.response):
                raise TooManyFaultsError(excess)
            raise CommandError(f"the match was cancelled after {games_text(found)}")
        if not found.finished_games:
            raise CommandError("no game was finished")
        if found.HasField("sprt") and found.sprt.decision in EXIT_STATUS:
            raise typer.Exit(EXIT_STATUS[found.sprt.decision])


def report_of(connection: Connection, tournament: pb.Tournament) -> pb.GetTournamentResponse:
    """A match with what its results say."""
    request = pb.GetTournamentRequest(
        tournament_id=tournament.tournament_id, with_match_report=True
    )
    return connection.ask(connection.tournaments.GetTournament, request)


def rating_interval_of(wanted: pb.TournamentSettings, given: int | None, *, quiet: bool) -> int:
    """After how many games it is said where the match stands; 0 for never."""
    if given is not None or quiet:
        return given or 0
    if wanted.HasField("sprt"):
        return TEST_INTERVAL
    return 0 if wanted.rounds < RATED_GAMES else max(wanted.rounds // RATINGS, 1)


def rating_of(connection: Connection, made: pb.Tournament, interval: int) -> Rating:
    """What is said after every so many games: by the results, or where the test stands."""

    def lines(games: int) -> list[str]:
        if games == made.planned_games:
            return []
        found = report_of(connection, made)
        if found.tournament.HasField("sprt"):
            return [f"after {games} games: {standing_line(found.tournament.sprt)}"]
        return [rating_line(found)] if found.HasField("match_report") else []

    return Rating(interval, lines)
