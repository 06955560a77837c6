"""What is said of a match: where it stands now and then, how it ended, and with which status."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import typer

from meijin.cli.command import Output
from meijin.cli.errors import CommandError, TooManyFaultsError, unusable_file
from meijin.cli.match.players import MatchFolder
from meijin.cli.output import message_fields
from meijin.cli.tournament.follow import Rating
from meijin.cli.tournament.sprt import (
    EXIT_STATUS,
    elo_text,
    normalised_text,
    outcome_lines,
    standing_line,
)
from meijin.cli.tournament.tables import games_text
from meijin.local.child import MOST_FRAMES
from meijin.local.connection import Connection, get_tournament
from meijin.local.match_play import excess_of_faults
from meijin.v1 import fault_service_pb2, game_pb2, game_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.standings import added, games_of, points, results, share_text
from meijin.wire.values import outcome_from_proto

RATED_GAMES = 20
"""From this many games on a match says now and then where it stands."""

RATINGS = 10
"""How often it does."""

TEST_INTERVAL = 100
"""Games after which a test says where it stands."""

MILLISECOND = 0.001
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
    file.write(text.rstrip("\n") + "\n")
    file.flush()


@dataclass(frozen=True, slots=True)
class FirstFault:
    """How a bot forfeited a game."""

    bot: str
    game_id: str
    ply: int
    text: str
    """In a sentence."""
    traceback: str
    """What the bot said of where it happened; empty where it said nothing."""

    def lines(self) -> list[str]:
        head = f"first fault of {self.bot}: game {self.game_id}, ply {self.ply}: {self.text}"
        frames = self.traceback.splitlines()[-MOST_FRAMES:]
        return [head, *(f"  {line}" for line in frames)]


def first_fault(connection: Connection, bot: str, game: game_pb2.Game) -> FirstFault:
    """The first game that a bot has forfeited, with what the fault ledger has of it."""
    request = fault_service_pb2.ListFaultsRequest(game_id=game.game_id)
    faults = connection.ask(connection.faults.ListFaults, request).faults
    traceback = next((fault.traceback for fault in faults if fault.bot == bot), "")
    outcome = outcome_from_proto(game.outcome)
    text = ", ".join(filter(None, (outcome.ending.value, outcome.detail)))
    return FirstFault(bot, game.game_id, game.ply, text, traceback)


def match_output(
    response: pb.GetTournamentResponse, faults: Sequence[FirstFault], folder: MatchFolder | None
) -> Output:
    """How a match ended; where there were faults the logs in its folder stay."""
    logs = ""
    if folder is not None and (faults or folder.keeps_logs):
        logs = str(folder.keep_logs())
    lines = summary_lines(response)
    if response.tournament.HasField("sprt"):
        lines += outcome_lines(response.tournament)
    for fault in faults:
        lines += fault.lines()
    if logs:
        lines.append(f"logs: {logs}")
    value = {"first_faults": list(map(asdict, faults)), "logs": logs}
    return Output(message_fields(response) | value, lines, _failure(response))


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
    """What is said after every this many games: by the results, or where the test stands."""

    def lines(games: int) -> list[str]:
        if games == made.planned_games:
            return []
        found = get_tournament(connection, made.tournament_id, with_match_report=True)
        if found.tournament.HasField("sprt"):
            return [f"after {games} games: {standing_line(found.tournament.sprt)}"]
        return [rating_line(found)] if found.HasField("match_report") else []

    if interval is None:
        rounds = made.settings.rounds
        usual = 0 if rounds < RATED_GAMES else max(rounds // RATINGS, 1)
        interval = TEST_INTERVAL if made.HasField("sprt") else usual
    return Rating(interval, lines) if interval else None


def summary_lines(response: pb.GetTournamentResponse) -> list[str]:
    """The score, the strength, and the time that was used; empty before the first result."""
    if not response.HasField("match_report"):
        return []
    report = response.match_report
    total = added(report.black, report.white)
    games = games_of(total)
    first, second = response.tournament.settings.bots
    repeats = f", repeats left out {report.repeats}" if report.repeats else ""
    seconds = report.play_time.ToTimedelta().total_seconds()
    rate = f"{games / seconds:.3g} games/s" if seconds else "-"
    times = " and ".join(map(_move_time, (report.first, report.second)))
    score = (
        f"{first} against {second}: {points(total):g} of {games} ({share_text(total)}), +{total.wins} "
        f"={total.draws} -{total.losses}, black {results(report.black)}, "
        f"white {results(report.white)}"
    )
    use = (
        f"plies {report.plies / games:.1f} a game, {times} a move, {rate} in {seconds:.1f} s; "
        f"faults {_faults(response)}"
    )
    pairs = "-".join(map(str, report.pairs))
    return [score, f"{strength_text(report)}{repeats}, pairs {pairs}", use]


def rating_line(response: pb.GetTournamentResponse) -> str:
    report = response.match_report
    total = added(report.black, report.white)
    games = games_of(total)
    bot, strength = response.tournament.settings.bots[0], strength_text(report)
    return (
        f"after {games} games: {bot} {points(total):g} of {games} ({share_text(total)}), "
        f"{strength}, faults {_faults(response)}"
    )


def strength_text(report: pb.MatchReport) -> str:
    """Elo and normalised Elo with their 95 % intervals, and the likelihood of superiority."""
    if report.HasField("estimate"):
        found = report.estimate
        return f"Elo {elo_text(found)}, nElo {normalised_text(found)}, LOS {found.los:.1%}"
    if report.HasField("elo_bound"):
        side = "above" if report.black.wins + report.white.wins else "below"
        return f"Elo {side} {report.elo_bound:+z.0f} (95%)"
    return "Elo unknown, all games were drawn"


def _faults(response: pb.GetTournamentResponse) -> str:
    return " and ".join(str(count.faults) for count in response.faults)


def _move_time(use: pb.TimeUse) -> str:
    if not use.moves:
        return "-"
    seconds = use.time.ToTimedelta().total_seconds() / use.moves
    return f"{seconds:.3g} s" if seconds >= MILLISECOND else f"{seconds * 1e6:.0f} us"
