"""`meijin bot upload`: hand a program over, and follow its admission."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated

import grpc
import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from meijin.cli.bot.program.admission import follow
from meijin.cli.bot.program.packing import Package, pack
from meijin.cli.bot.program.tables import is_played
from meijin.cli.bot.program.transfer import Transfer
from meijin.cli.command import Output
from meijin.cli.completion import registered
from meijin.cli.output import PlainConsole, print_note
from meijin.local.connection import Connection
from meijin.local.errors import ArenaError
from meijin.v1 import bot_service_pb2 as bot_pb2
from meijin.v1 import hosting_service_pb2 as pb
from meijin.wire.enums import value_of, word_of


class Kind(str, Enum):
    """What a program is."""

    ARCHIVE = "archive"
    WHEEL = "wheel"
    SCRIPT = "script"
    ENGINE = "engine"
    IMAGE = "image"


def upload(
    connection: Connection,
    path: Annotated[
        Path,
        typer.Argument(
            help="A folder with bot.py or meijin.toml, a zip archive or wheel, a Python file, or a "
            "Linux program that speaks the protocol of Gomocup, Yixin's, or GTP."
        ),
    ],
    bot: Annotated[
        str,
        typer.Option(
            "--as", help="The bot; its own with a bot's token.", autocompletion=registered
        ),
    ] = "",
    label: Annotated[str, "What people call this version; at most 40 characters."] = "",
    kind: Annotated[Kind | None, "What it is; found out when left out."] = None,
    no_wait: Annotated[bool, "Do not wait until it is examined."] = False,
) -> Output:
    """Hand a program over: the arena examines it and plays it in a sandbox.

    A bot that there is none of is registered. What is found is told as it is found. The exit status is 0 when the program is admitted, and 1
    when it is not. A folder is packed without .git, .venv, __pycache__ and the like. An upload that
    is cut goes on where it was; the same program twice is one.
    """
    package = pack(path)
    print_note(package.summary)
    if bot:
        _register(connection, bot)
    header = pb.ProgramHeader(
        bot=bot,
        digest=package.digest,
        size=len(package.data),
        file_name=package.file_name,
        kind=pb.PROGRAM_KIND_UNSPECIFIED if kind is None else value_of(pb.ProgramKind, kind),
        label=label,
    )
    program = _send(connection, header, package)
    if no_wait:
        said = f"program {program.program_id} waits to be examined"
        if program.state != pb.PROGRAM_STATE_UPLOADED:
            said = f"program {program.program_id} is {word_of(pb.ProgramState, program.state)}"
        return Output(program, [said])
    return _result(follow(connection, program.program_id))


def _register(connection: Connection, name: str) -> None:
    """Register a bot that there is none of; nobody needs its token, with which it could connect."""
    try:
        connection.ask_with_token(connection.bots.GetBot, bot_pb2.GetBotRequest(name=name))
    except grpc.RpcError as error:
        if not isinstance(error, grpc.Call) or error.code() is not grpc.StatusCode.NOT_FOUND:
            raise
        request = bot_pb2.RegisterBotRequest(name=name)
        connection.ask_with_token(connection.bots.RegisterBot, request)
        print_note(f"registered {name}")


def _send(connection: Connection, header: pb.ProgramHeader, package: Package) -> pb.Program:
    with _progress(len(package.data)) as (sent, lost):
        answer = Transfer(connection, header, package.data, sent=sent, lost=lost).run()
    program = answer.program
    if answer.already_there:
        print_note(f"{program.bot} had it already: program {program.program_id}")
    return program


@contextmanager
def _progress(size: int) -> Iterator[tuple[Callable[[int], None], Callable[[], None]]]:
    """A bar where somebody sees it: what is told of bytes that are there, and of a lost server."""
    console = PlainConsole(stderr=True)
    is_unseen = not console.is_terminal or not sys.stderr.isatty()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, disable=is_unseen, transient=True) as progress:
        task = progress.add_task("upload", total=size)

        def sent(received: int) -> None:
            progress.update(task, completed=received, description="upload")

        def lost() -> None:
            progress.update(task, description="the server is away; upload goes on later")

        yield sent, lost


def _result(program: pb.Program) -> Output:
    """How an admission has ended: what the command prints, and its exit status."""
    key, bot = program.program_id, program.bot
    if program.state == pb.PROGRAM_STATE_ADMITTED:
        plays = f"{bot} plays with it from its next game on"
        if not is_played(program):
            plays = (
                f"{bot} plays with another one; `meijin bot program rollback {key}` changes that"
            )
        return Output(program, [f"program {key} is admitted; {plays}"])
    state = word_of(pb.ProgramState, program.state)
    why = f": {program.reason}" if program.reason else ""
    return Output(program, error=ArenaError(f"program {key} is {state}{why}"))
