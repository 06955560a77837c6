"""A student's report: what the server knows of how the bot did."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from meijin.cli.connection import PAGE, Connection, pages
from meijin.game import Color, GameRecord
from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import fault_service_pb2 as fault_pb
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as games_pb
from meijin.wire import record_from_proto

SLOWEST = 10
"""Moves that a report names."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game from the bot's side."""

    record: GameRecord
    color: Color
    """The bot's."""

    @property
    def opponent(self) -> str:
        """The other bot."""
        return self.record.white if self.color is Color.BLACK else self.record.black

    @property
    def points(self) -> float:
        """1, a half or 0."""
        assert self.record.outcome is not None
        winner = self.record.outcome.winner
        return 0.5 if winner is None else float(winner is self.color)

    def own_moves(self) -> Iterator[tuple[int, timedelta]]:
        """The ply and the time of each move of the bot's own."""
        first = 0 if self.color is Color.BLACK else 1
        for ply, time in enumerate(self.record.times):
            if ply >= self.record.opening_plies and ply % 2 == first:
                yield ply, time


@dataclass(frozen=True, slots=True)
class SlowMove:
    """A move that took long."""

    game_id: str
    ply: int
    cell: int
    time: timedelta


@dataclass(frozen=True, slots=True)
class Score:
    """How the bot did against another."""

    opponent: str
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True, slots=True)
class StudentReport:
    """Everything that a student's page has."""

    class_name: str
    student: pb.Student
    games: Sequence[PlayedGame]
    """Finished ones, newest first."""
    faults: Sequence[fault_pb.Fault]
    """Newest first."""

    @property
    def scores(self) -> Sequence[Score]:
        """Against each opponent, by name."""
        names = sorted({game.opponent for game in self.games})
        return [_score(name, self.games) for name in names]

    @property
    def slowest(self) -> Sequence[SlowMove]:
        """The moves that took longest, slowest first."""
        moves = (
            SlowMove(game.record.game_id, ply, game.record.moves[ply], time)
            for game in self.games
            for ply, time in game.own_moves()
        )
        return sorted(moves, key=lambda move: move.time, reverse=True)[:SLOWEST]


def student_report(
    connection: Connection, class_name: str, student: pb.Student, most_games: int
) -> StudentReport:
    """A report of the newest games, and of all faults."""
    games = []
    for game in _games(connection, student.handle):
        games.append(played_game(game, student.handle))
        if len(games) == most_games:
            break
    return StudentReport(class_name, student, games, _faults(connection, student.handle))


def played_game(game: game_pb2.Game, handle: str) -> PlayedGame:
    """A finished game from a bot's side."""
    color = Color.BLACK if game.black == handle else Color.WHITE
    return PlayedGame(record_from_proto(game), color)


def _games(connection: Connection, handle: str) -> Iterator[game_pb2.Game]:
    request = games_pb.ListGamesRequest(
        bot=handle, state=game_pb2.GAME_STATE_FINISHED, with_moves=True, page_size=PAGE
    )
    for page in pages(connection.ask, connection.games.ListGames, request):
        yield from page.games


def _faults(connection: Connection, handle: str) -> list[fault_pb.Fault]:
    request = fault_pb.ListFaultsRequest(bot=handle, page_size=PAGE)
    found = pages(connection.ask, connection.faults.ListFaults, request)
    return [fault for page in found for fault in page.faults]


def _score(opponent: str, games: Iterable[PlayedGame]) -> Score:
    points = [game.points for game in games if game.opponent == opponent]
    return Score(opponent, points.count(1.0), points.count(0.5), points.count(0.0))
