"""A student's report as one page of HTML, without a network and without a library."""

import html
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from meijin.cli.classroom.student_report import PlayedGame, StudentReport
from meijin.game import cell_name
from meijin.v1 import fault_service_pb2 as fault_pb
from meijin.web.replay.page_parts import embedded, filled, policy

RESULTS = {1.0: "won", 0.5: "drawn", 0.0: "lost"}


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
    return files("meijin.cli.classroom").joinpath(f"report_page.{ending}").read_text("utf-8")


def _facts(report: StudentReport) -> str:
    student = report.student
    version = f"version {student.version or 'without a name'}" if student.version_id else "no bot"
    late = f", {student.late_attempts} refused as late" if student.late_attempts else ""
    return f"{student.handle}, {version}{late}; the newest {len(report.games)} finished games"


def _rows(rows: Iterable[Sequence[object]]) -> str:
    return "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )


def _score_rows(report: StudentReport) -> Iterable[Sequence[object]]:
    for score in report.scores:
        games = score.wins + score.draws + score.losses
        share = (score.wins + score.draws / 2) / games
        yield score.opponent, score.wins, score.draws, score.losses, f"{share:.0%}"


def _slow_rows(report: StudentReport) -> Iterable[Sequence[object]]:
    variants = {game.record.game_id: game.record.variant for game in report.games}
    for move in report.slowest:
        cell = cell_name(move.cell, variants[move.game_id])
        yield move.game_id, move.ply + 1, cell, f"{move.time.total_seconds():.3f} s"


def _fault(fault: fault_pb.Fault) -> str:
    time = f"{fault.create_time.ToDatetime():%Y-%m-%d %H:%M:%S}"
    game = f"game {fault.game_id}, " if fault.game_id else ""
    version = f"version {fault.version}: " if fault.version else ""
    head = html.escape(f"{time} UTC, {game}{version}{fault.detail}")
    trace = f"<pre>{html.escape(fault.traceback)}</pre>" if fault.traceback else ""
    return f"<li>{head}{trace}</li>"


def _game_row(game: PlayedGame) -> str:
    record = game.record
    cells = (
        record.game_id,
        game.opponent,
        game.color.name.lower(),
        RESULTS[game.points],
        record.outcome,
        len(record.moves),
    )
    text = "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells)
    number = html.escape(record.game_id, quote=True)
    return f'<tr data-game="{number}">{text}<td><button>board</button></td></tr>'


def _board(game: PlayedGame) -> dict[str, Any]:
    variant = game.record.variant
    return {
        "width": variant.width,
        "height": variant.height,
        "names": [game.record.black, game.record.white],
        "cells": [[cell % variant.width, cell // variant.width] for cell in game.record.moves],
    }
