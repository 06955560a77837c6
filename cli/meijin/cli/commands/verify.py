"""`meijin verify`: whether a server's folder holds everything that was acknowledged."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meijin.cli.commands.server_database import server_database
from meijin.cli.connection import JsonOption
from meijin.cli.output import print_json

if TYPE_CHECKING:
    from meijin.store.verification import Verification


def verify(
    data: Annotated[
        Path | None, typer.Option(help="The server's folder, with its database.")
    ] = None,
    database: Annotated[
        str | None, typer.Option("--database", help="The database's SQLAlchemy URL instead.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Prove that no acknowledged move is missing, beside a running server or without one.

    Reads the database and the log of moves through as a start does, and changes nothing: whether
    every page is whole, the chain of the log has every link up to the newest that was noted, and
    the moves of all running games follow each other on a board. Ends with 1 when they do not.
    """
    with server_database(data, database) as url:
        from meijin.store import Database  # noqa: PLC0415 - not in the bare install
        from meijin.store.verification import verify as read_through  # noqa: PLC0415

        with Database(url) as opened:
            found = read_through(opened)
    if as_json:
        print_json(_as_json(found))
    else:
        for line in _lines(found):
            typer.echo(line)
    if found.failures:
        raise typer.Exit(1)


def _lines(found: "Verification") -> list[str]:
    if found.running is None:
        return [f"NOT whole: {failure}" for failure in found.failures]
    games, log = len(found.running.rows), found.running.log
    lines = [f"{games} running games with {found.moves} moves"]
    if log is not None and log.last:
        lines.append(
            f"the log of moves goes up to entry {log.last}, with the link {log.link.hex()}"
        )
    if found.failures:
        lines += [f"NOT whole: {failure}" for failure in found.failures]
        if found.running.short:
            lines.append(f"games that may be short: {len(found.running.short)}")
    else:
        lines.append("no acknowledged move is missing")
    return lines


def _as_json(found: "Verification") -> dict[str, object]:
    running = found.running
    log = None if running is None else running.log
    return {
        "failures": list(found.failures),
        "running_games": 0 if running is None else len(running.rows),
        "moves": found.moves,
        "short_games": [] if running is None else [str(each) for each in sorted(running.short)],
        "entry": None if log is None else log.last,
        "link": None if log is None else log.link.hex(),
    }
