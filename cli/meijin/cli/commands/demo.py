"""`meijin demo`: the whole arena at work, in a minute."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from meijin.arena.local import local_arena
from meijin.arena.server_parts import check_server_parts
from meijin.arena.tournaments import make_tournament
from meijin.cli.errors import CommandError, missing_part
from meijin.cli.follow import current_standings, follow
from meijin.cli.ladder_views import ladder_table
from meijin.cli.options import MAX_UINT32, settings
from meijin.cli.output import (
    PlainConsole,
    console,
    crosstable,
    message_fields,
    print_json,
    print_note,
)
from meijin.wire.contract import DATABASE_FILE

NEXT = (
    ("meijin match alphabeta mcts --local --games 4", "a match of your own"),
    ("meijin bot new my-bot", "a bot to start from, in my_bot.py"),
    ("meijin match my_bot.py random --local", "how it does"),
    ("meijin serve --open --data {data}", "this demo's server again"),
)
"""Commands for who has seen the demo, and what they show."""
BOTS = {"random": "random", "alphabeta": "alphabeta", "mcts": "mcts"}


def demo(
    data: Annotated[Path, typer.Option(help="Folder for the database and the logs.")] = Path(
        "demo-data"
    ),
    rounds: Annotated[int, typer.Option(min=1, max=MAX_UINT32, help="Games of each pair.")] = 2,
    time: Annotated[str, typer.Option("--time", "-t", help="Time control.")] = "0.5/move",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Play a double round robin of three bots and compute the ladder.

    Starts a server with its database and queue, and random, alphabeta and mcts as processes of
    their own that connect over gRPC. Everything is stopped at the end; the database stays. An
    earlier demo in the folder is replaced, unless the folder is in use or has been put to more use.
    """
    check_server_parts()
    if find_spec("numba") is None:
        raise CommandError("the demo's bots need numba; run: pip install 'meijin[server,bots]'")
    request_id = _make_room(data)
    notes = PlainConsole(stderr=True)
    notes.print("starting a server and three bots, each a process of its own ...")
    wanted = settings(list(BOTS), rounds=rounds, time=time, seed=1, name="Demo")
    with local_arena(data, BOTS, print_note) as connection:
        made = make_tournament(connection, wanted, request_id)
        finished = follow(connection, made)
        standings = current_standings(connection, made.ladder)
    if as_json:
        print_json({"tournament": message_fields(finished), "ladder": message_fields(standings)})
        return
    console.print()
    console.print(crosstable(finished))
    console.print()
    console.print(ladder_table(standings, console.width))
    console.print()
    console.print(f"kept: {data / DATABASE_FILE}")
    console.print("What to try next:")
    for command, what in NEXT:
        console.print(f"  {command.format(data=data):<48}  {what}", soft_wrap=True)


def _make_room(data: Path) -> str:
    try:
        from meijin.cli.demo_folder import make_room  # noqa: PLC0415 - not in the bare install
    except ModuleNotFoundError as error:
        raise missing_part(error) from None
    return make_room(data, BOTS)
