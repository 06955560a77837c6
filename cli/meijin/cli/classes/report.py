"""`meijin class report`: a page of HTML for each student, without a network or a library."""

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from meijin.cli.classes.roster import ClassArgument, get_class
from meijin.cli.command import option
from meijin.cli.files import make_folder, write_private
from meijin.cli.game.selection import GameSelection, ended_games
from meijin.cli.output import console
from meijin.cli.tables import local_time
from meijin.game import Color, GameRecord, cell_name
from meijin.local.connection import Connection, read_list
from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import fault_service_pb2 as fault_pb
from meijin.v1 import game_pb2
from meijin.web.replay.page_parts import embedded, filled, policy
from meijin.wire.records import record_from_proto

SLOWEST = 10
"""Moves that a report names."""
RESULTS = {1.0: "won", 0.5: "drawn", 0.0: "lost"}


def report(
    connection: Connection,
    name: ClassArgument,
    out: Annotated[Path | None, "The folder for the pages; CLASS/reports else."] = None,
    games: Annotated[int, option("The newest N games of each student.", 1, 5000)] = 500,
) -> None:
    """Write a page for each student: games, faults with tracebacks, slowest moves, scores.

    Each is one file that needs no network.
    """
    folder = out or Path(name) / "reports"
    make_folder(folder)
    students = get_class(connection, name).students
    for student in students:
        page = report_page(student_report(connection, name, student, games))
        write_private(folder / f"{student.handle}.html", page, is_new=False)
    console.print(f"{len(students)} reports in {folder}", soft_wrap=True)


@dataclass(frozen=True, slots=True)
class OwnGame:
    """A finished game from the bot's side."""

    record: GameRecord
    color: Color
    """The bot's."""

    @property
    def opponent(self) -> str:
        return self.record.white if self.color is Color.BLACK else self.record.black

    @property
    def points(self) -> float:
        assert self.record.outcome is not None
        winner = self.record.outcome.winner
        return 0.5 if winner is None else float(winner is self.color)

    def own_moves(self) -> Iterator[tuple[int, timedelta]]:
        first = 0 if self.color is Color.BLACK else 1
        for ply, time in enumerate(self.record.times):
            if ply >= self.record.opening_plies and ply % 2 == first:
                yield ply, time


class SlowMove(NamedTuple):
    """A move that took long."""

    game: OwnGame
    ply: int
    time: timedelta


@dataclass(frozen=True, slots=True)
class StudentReport:
    """Everything that a student's page has."""

    class_name: str
    student: pb.Student
    games: Sequence[OwnGame]
    """Finished ones, newest first."""
    faults: Sequence[fault_pb.Fault]
    """Newest first."""

    @property
    def scores(self) -> dict[str, tuple[int, int, int]]:
        """Games won, drawn and lost against each opponent, by name."""
        points: dict[str, list[float]] = {}
        for game in self.games:
            points.setdefault(game.opponent, []).append(game.points)
        return {
            name: (found.count(1.0), found.count(0.5), found.count(0.0))
            for name, found in sorted(points.items())
        }

    @property
    def slowest(self) -> Sequence[SlowMove]:
        moves = (SlowMove(game, *move) for game in self.games for move in game.own_moves())
        return sorted(moves, key=lambda move: move.time, reverse=True)[:SLOWEST]


def student_report(
    connection: Connection, class_name: str, student: pb.Student, most_games: int
) -> StudentReport:
    handle = student.handle
    ended = ended_games(connection, GameSelection(bot=handle))
    finished = (game for game in ended if game.state == game_pb2.GAME_STATE_FINISHED)
    games = [
        OwnGame(record_from_proto(game), Color.BLACK if game.black == handle else Color.WHITE)
        for game in islice(finished, most_games)
    ]
    request = fault_pb.ListFaultsRequest(bot=handle)
    faults = read_list(connection.ask, connection.faults.ListFaults, request).faults
    return StudentReport(class_name, student, games, faults)


def report_page(report: StudentReport) -> str:
    """The page: tables that stand in it as text, and a board that a script draws.

    Names, labels and texts of faults come from students: they are escaped, or stand in JSON in
    which nothing can end the element, and the page's policy lets no other script run.
    """
    style, script = _part("css"), _part("js")
    title = f"{report.student.display_name}: {report.class_name}"
    parts = {
        "policy": policy(style, script),
        "title": html.escape(title),
        "style": style,
        "facts": html.escape(_facts(report)),
        "scores": _rows(_score_rows(report)),
        "faults": "".join(map(_fault, report.faults)) or "<p>None.</p>",
        "slowest": _rows(_slow_rows(report)),
        "games": "".join(map(_game_row, report.games)),
        "data": embedded({"games": {game.record.game_id: _board(game) for game in report.games}}),
        "script": script,
    }
    return filled(_part("html"), parts)


@cache
def _part(ending: str) -> str:
    return files("meijin.cli.classes").joinpath(f"report_page.{ending}").read_text("utf-8")


def _facts(report: StudentReport) -> str:
    student = report.student
    version = f"version {student.version or 'without a name'}" if student.version_id else "no bot"
    late = f", {student.late_attempts} refused as late" if student.late_attempts else ""
    return f"{student.handle}, {version}{late}; the newest {len(report.games)} finished games"


def _rows(rows: Iterable[Sequence[object]]) -> str:
    return "".join(f"<tr>{_cells(row)}</tr>" for row in rows)


def _cells(row: Iterable[object]) -> str:
    return "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row)


def _score_rows(report: StudentReport) -> Iterable[Sequence[object]]:
    for opponent, (wins, draws, losses) in report.scores.items():
        share = (wins + draws / 2) / (wins + draws + losses)
        yield opponent, wins, draws, losses, f"{share:.0%}"


def _slow_rows(report: StudentReport) -> Iterable[Sequence[object]]:
    for move in report.slowest:
        record = move.game.record
        cell = cell_name(record.moves[move.ply], record.variant)
        yield record.game_id, move.ply + 1, cell, f"{move.time.total_seconds():.3f} s"


def _fault(fault: fault_pb.Fault) -> str:
    game = f"game {fault.game_id}, " if fault.game_id else ""
    version = f"version {fault.version}: " if fault.version else ""
    time = local_time(fault.create_time)
    head = html.escape(f"{time}, {game}{version}{fault.detail}")
    trace = f"<pre>{html.escape(fault.traceback)}</pre>" if fault.traceback else ""
    return f"<li>{head}{trace}</li>"


def _game_row(game: OwnGame) -> str:
    record = game.record
    cells = (
        record.game_id,
        game.opponent,
        game.color.name.lower(),
        RESULTS[game.points],
        record.outcome,
        len(record.moves),
    )
    number = html.escape(record.game_id, quote=True)
    return f'<tr data-game="{number}">{_cells(cells)}<td><button>board</button></td></tr>'


def _board(game: OwnGame) -> dict[str, Any]:
    variant = game.record.variant
    return {
        "width": variant.width,
        "height": variant.height,
        "names": [game.record.black, game.record.white],
        "cells": [[cell % variant.width, cell // variant.width] for cell in game.record.moves],
    }
