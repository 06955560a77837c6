"""Anchors: the built-in bots that a class is graded against, run for as long as a command runs."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc

from meijin.arena.child import Child, start_child, stopping
from meijin.cli.classroom.handout import read_token, token_file
from meijin.cli.connection import PAGE, Connection, Server, pages
from meijin.cli.errors import CommandError
from meijin.cli.output import print_note, printable
from meijin.cli.private_files import make_folder, write_private
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.wire.contract import TOKEN_VARIABLE

NOTICE_INTERVAL = timedelta(seconds=15)
"""After it, and then again, is told which anchors are waited for."""

START_TIMEOUT = timedelta(minutes=10)
"""For all to connect; at the first start a search is compiled, which takes a minute or two."""

POLL_INTERVAL = timedelta(milliseconds=100)
"""Between two looks whether they are there."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A built-in bot of known strength."""

    label: str
    """What people call it, such as ``level 3``."""
    spec: str
    """What `meijin bot run` takes."""
    options: tuple[str, ...] = ()
    """Each ``name=value``."""

    @property
    def handle(self) -> str:
        """What it is called on the server."""
        return f"anchor-{self.label.replace(' ', '-')}"


def level(number: int) -> Anchor:
    """Alpha-beta at a level."""
    return Anchor(f"level {number}", "alphabeta", (f"level={number}",))


REFERENCE = Anchor("reference", "reference")
"""The readable search, two plies deep."""


@contextmanager
def running_anchors(
    connection: Connection, server: Server, anchors: Sequence[Anchor], folder: Path
) -> Iterator[None]:
    """Have all anchors connected; those that are there already are left alone.

    The tokens and the logs of those that are started are kept in `folder`.

    Raises:
        CommandError: one does not come up; the message has its last line and names its log.
    """
    make_folder(folder)
    there = connected_bots(connection)
    with stopping() as children:
        for anchor in anchors:
            if anchor.handle not in there:
                token = _token(connection, anchor.handle, folder)
                children[anchor.handle] = _start(anchor, server, token, folder)
        _wait(connection, children)
        yield


def connected_bots(connection: Connection) -> set[str]:
    """The names of the bots that are there, hidden ones too."""
    request = pb.ListBotsRequest(connected=True, page_size=PAGE)
    found = pages(connection.ask_with_token, connection.bots.ListBots, request)
    return {bot.name for page in found for bot in page.bots}


def _token(connection: Connection, handle: str, folder: Path) -> str:
    """The token of an anchor: the one that is kept, or else a new one."""
    if kept := read_token(folder, handle):
        return kept
    register = pb.RegisterBotRequest(name=handle)
    try:
        token = connection.ask_with_token(connection.bots.RegisterBot, register).token
    except grpc.RpcError as error:
        if not isinstance(error, grpc.Call) or error.code() is not grpc.StatusCode.ALREADY_EXISTS:
            raise
        rotate = token_pb.RotateTokenRequest(bot=handle)
        token = connection.ask_with_token(connection.tokens.RotateToken, rotate).secret
    write_private(token_file(folder, handle), f"{token}\n", is_new=False)
    return token


def _start(anchor: Anchor, server: Server, token: str, folder: Path) -> Child:
    """An anchor's process, which is told its token where no list of processes shows it."""
    words = ["bot", "run", anchor.spec, f"--name={anchor.handle}", f"--server={server.address}"]
    words += [f"--option={option}" for option in anchor.options]
    words += _security_options(server)
    log = folder / f"{anchor.handle}.log"
    return start_child(words, log, env={TOKEN_VARIABLE: token})


def _security_options(server: Server) -> list[str]:
    """How the command itself was told to reach the server."""
    security = server.security
    files = {
        "--ca": security.ca,
        "--client-certificate": security.client_certificate,
        "--client-key": security.client_key,
    }
    options = [f"{name}={path}" for name, path in files.items() if path is not None]
    return [*options, "--plaintext"] if security.plaintext else options


def _wait(connection: Connection, children: Mapping[str, Child]) -> None:
    """Return when all are connected."""
    start = time.monotonic()
    notice = start + NOTICE_INTERVAL.total_seconds()
    while missing := sorted(children.keys() - connected_bots(connection)):
        for handle in missing:
            if children[handle].process.poll() is not None:
                raise CommandError(printable(f"{handle} ended, {children[handle].end}"))
        first, now = children[missing[0]], time.monotonic()
        if now > start + START_TIMEOUT.total_seconds():
            raise CommandError(f"{missing[0]} did not connect; see {first.log}")
        if now > notice:
            notice = now + NOTICE_INTERVAL.total_seconds()
            print_note(f"waiting for {', '.join(missing)}: {first.last_words}")
        time.sleep(POLL_INTERVAL.total_seconds())
