"""`meijin class report`: a page of HTML for each student."""

from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.classroom.report_page import report_page
from meijin.cli.classroom.student_report import student_report
from meijin.cli.commands.classes.rosters import ClassArgument, get_class
from meijin.cli.connection import Connection, with_server
from meijin.cli.output import console
from meijin.cli.private_files import make_folder, write_private


@with_server
def report(
    connection: Connection,
    name: ClassArgument,
    out: Annotated[
        Path | None, typer.Option(help="The folder for the pages; CLASS/reports else.")
    ] = None,
    games: Annotated[
        int, typer.Option(min=1, max=5000, help="The newest so many games of each student.")
    ] = 500,
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
