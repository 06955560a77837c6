"""`meijin demo`: the whole arena at work, in a minute."""

import signal
import socket
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meijin.arena.connection import Connection
from meijin.arena.local import addresses, local_arena
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
from meijin.v1 import bot_service_pb2 as pb
from meijin.wire.contract import (
    DATABASE_FILE,
    DEFAULT_HOST,
    DEFAULT_WEB,
    SERVER_LOG_FILE,
    WEB_VARIABLE,
)

if TYPE_CHECKING:
    from meijin.v1.ladder_service_pb2 import GetStandingsResponse
    from meijin.v1.tournament_service_pb2 import GetTournamentResponse

NEXT = (
    ("meijin match alphabeta mcts --local --games 4", "a match of your own"),
    ("meijin bot new my-bot", "a bot to start from, in my_bot.py"),
    ("meijin match my_bot.py random --local", "how it does"),
    ("meijin serve --open --data {data}", "this demo's server again, and its pages"),
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
    web: Annotated[
        str | None,
        typer.Option(
            envvar=WEB_VARIABLE,
            show_envvar=False,
            help=f"Host and port of pages for browsers, or off. \\[{DEFAULT_WEB} if it is free]",
        ),
    ] = None,
    stay: Annotated[
        bool, typer.Option("--stay", help="Keep serving at the end, until Ctrl-C.")
    ] = False,
) -> None:
    """Play a double round robin of three bots and compute the ladder.

    Starts a server with its database and queue, and random, alphabeta and mcts as processes of
    their own that connect over gRPC; its pages show the games as they are played. Everything is
    stopped at the end; the database stays. An earlier demo in the folder is replaced, unless the
    folder is in use or has been put to more use.
    """
    check_server_parts()
    if find_spec("numba") is None:
        raise CommandError("the demo's bots need numba; run: pip install 'meijin[server,bots]'")
    request_id = _make_room(data)
    notes = PlainConsole(stderr=True)
    notes.print("starting a server and three bots, each a process of its own ...")
    wanted = settings(list(BOTS), rounds=rounds, time=time, seed=1, name="Demo")
    with local_arena(data, BOTS, print_note, web=web or _free_address()) as connection:
        listening, url = addresses(data / SERVER_LOG_FILE)
        if url:
            notes.print(f"look at {url} meanwhile", soft_wrap=True)
        _open_to_people(connection)
        made = make_tournament(connection, wanted, request_id)
        finished = follow(connection, made)
        standings = current_standings(connection, made.ladder)
        _show(finished, standings, as_json=as_json)
        if stay:
            pages = f", pages for browsers at {url}" if url else ""
            notes.print(f"serving bots at {listening}{pages}; Ctrl-C stops it", soft_wrap=True)
            _wait_for_signal()
    if not as_json:
        console.print()
        console.print(f"kept: {data / DATABASE_FILE}")
        console.print("What to try next:")
        for command, what in NEXT:
            console.print(f"  {command.format(data=data):<48}  {what}", soft_wrap=True)


def _open_to_people(connection: Connection) -> None:
    """Have the bots take on anybody, so that one may play against them in a browser."""
    for bot in BOTS:
        request = pb.UpdateBotRequest(name=bot, challenges=pb.CHALLENGE_POLICY_ANYONE)
        connection.ask(connection.bots.UpdateBot, request)


def _show(
    finished: "GetTournamentResponse", standings: "GetStandingsResponse", *, as_json: bool
) -> None:
    """Print what has come of it."""
    if as_json:
        print_json({"tournament": message_fields(finished), "ladder": message_fields(standings)})
        return
    console.print()
    console.print(crosstable(finished))
    console.print()
    console.print(ladder_table(standings, console.width))


def _wait_for_signal() -> None:
    """Return on Ctrl-C or SIGTERM."""
    with suppress(KeyboardInterrupt):
        signal.pause()


def _free_address() -> str:
    """Where pages are looked for, unless somebody else has the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((DEFAULT_HOST, int(DEFAULT_WEB.rpartition(":")[2])))
        except OSError:
            return f"{DEFAULT_HOST}:0"
    return DEFAULT_WEB


def _make_room(data: Path) -> str:
    try:
        from meijin.cli.demo_folder import make_room  # noqa: PLC0415 - not in the bare install
    except ModuleNotFoundError as error:
        raise missing_part(error) from None
    return make_room(data, BOTS)
