"""`meijin demo`: the whole arena at work, in a minute."""

import signal
import socket
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.command import option
from meijin.cli.errors import CommandError, needed_parts
from meijin.cli.ladder.standings import current_standings, ladder_table
from meijin.cli.options import MAX_UINT32, Conditions, TournamentOptions
from meijin.cli.output import PlainConsole, console, print_json, print_note
from meijin.cli.tournament.follow import NEW_VIEW, follow
from meijin.cli.tournament.tables import crosstable
from meijin.local.connection import make_tournament
from meijin.local.errors import check_server_parts
from meijin.local.server import addresses, local_arena
from meijin.v1 import bot_service_pb2 as pb
from meijin.wire.contract import (
    DATABASE_FILE,
    DEFAULT_HOST,
    DEFAULT_WEB,
    SERVER_LOG_FILE,
    WEB_VARIABLE,
)

NEXT = (
    ("meijin match alphabeta mcts --local --games 4", "a match of your own"),
    ("meijin bot new my-bot", "a bot to start from, in my_bot.py"),
    ("meijin match my_bot.py random --local", "how it does"),
    ("meijin serve --open --data {data}", "this demo's server again, and its pages"),
)
"""Commands for who has seen the demo, and what they show."""
BOTS = {name: [name] for name in ("random", "alphabeta", "mcts")}


def demo(
    data: Annotated[Path, "Folder for the database and the logs."] = Path("demo-data"),
    rounds: Annotated[int, option("Games of each pair.", 1, MAX_UINT32)] = 2,
    time: Annotated[str, typer.Option("--time", "-t", help="Time control.")] = "0.5/move",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    web: Annotated[
        str | None,
        option(
            f"Host and port of pages for browsers, or off. \\[{DEFAULT_WEB} if it is free]",
            envvar=WEB_VARIABLE,
            show_envvar=False,
        ),
    ] = None,
    stay: Annotated[bool, "Keep serving at the end, until Ctrl-C."] = False,
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
    with needed_parts():
        from meijin.cli.demo.folder import make_room  # noqa: PLC0415 - not in the bare install
    request_id = make_room(data, BOTS)
    notes = PlainConsole(stderr=True)
    notes.print("starting a server and three bots, each a process of its own ...")
    options = TournamentOptions(
        list(BOTS), rounds=rounds, time=time, conditions=Conditions(seed=1), name="Demo"
    )
    wanted = options.settings()
    with local_arena(data, BOTS, print_note, web=web or _free_address()) as connection:
        listening, url = addresses(data / SERVER_LOG_FILE)
        if url:
            notes.print(f"look at {url} meanwhile", soft_wrap=True)
        for bot in BOTS:  # take on anybody, so that one may play against them in a browser
            request = pb.UpdateBotRequest(name=bot, challenges=pb.CHALLENGE_POLICY_ANYONE)
            connection.ask(connection.bots.UpdateBot, request)
        made = make_tournament(connection, wanted, request_id)
        finished = follow(connection, made, NEW_VIEW)
        standings = current_standings(connection, made.ladder)
        if as_json:
            from meijin.wire.json import json_object  # noqa: PLC0415 - as in `output`

            print_json({"tournament": json_object(finished), "ladder": json_object(standings)})
        else:
            tables = (crosstable(finished), ladder_table(standings, console.width))
            console.print("", tables[0], "", tables[1], sep="\n")
        if stay:
            pages = f", pages for browsers at {url}" if url else ""
            notes.print(f"serving bots at {listening}{pages}; Ctrl-C stops it", soft_wrap=True)
            with suppress(KeyboardInterrupt):
                signal.pause()
    if not as_json:
        console.print("", f"kept: {data / DATABASE_FILE}", "What to try next:", sep="\n")
        for command, what in NEXT:
            console.print(f"  {command.format(data=data):<48}  {what}", soft_wrap=True)


def _free_address() -> str:
    """Where pages are looked for, unless somebody else has the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((DEFAULT_HOST, int(DEFAULT_WEB.rpartition(":")[2])))
        except OSError:
            return f"{DEFAULT_HOST}:0"
    return DEFAULT_WEB
