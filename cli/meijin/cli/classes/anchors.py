"""Anchors: the built-in bots that a class is graded against, run for as long as a command runs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc

from meijin.cli.classes.roster import token_file
from meijin.cli.files import make_folder, read_private, write_private
from meijin.cli.output import print_note
from meijin.local.bots import wait_for_bots
from meijin.local.child import Child, start_child, stopping
from meijin.local.connection import Connection, Server, list_bots
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.wire.contract import TOKEN_VARIABLE

START_TIMEOUT = timedelta(minutes=10)
"""For all to connect; at the first start a search is compiled, which takes a minute or two."""


@dataclass(frozen=True, slots=True)
class AnchorBot:
    """A built-in bot of known strength."""

    label: str
    """What people call it, such as ``level 3``."""
    spec: str
    """What `meijin bot run` takes."""
    options: tuple[str, ...] = ()
    """Each ``name=value``."""

    @property
    def handle(self) -> str:
        return f"anchor-{self.label.replace(' ', '-')}"


def level(number: int) -> AnchorBot:
    return AnchorBot(f"level {number}", "alphabeta", (f"level={number}",))


REFERENCE = AnchorBot("reference", "reference")
"""The readable search, two plies deep."""


@contextmanager
def running_anchors(
    connection: Connection, server: Server, anchors: Sequence[AnchorBot], folder: Path
) -> Iterator[None]:
    """Have all anchors connected; those that are there already are left alone.

    The tokens and the logs of those that are started are kept in `folder`.
    """
    make_folder(folder)
    there = {bot.name for bot in list_bots(connection, connected=True, hidden=True)}
    with stopping() as children:
        for anchor in anchors:
            if anchor.handle not in there:
                token = _token(connection, anchor.handle, folder)
                children[anchor.handle] = _start(anchor, server, token, folder)
        wait_for_bots(connection, children, print_note, START_TIMEOUT)
        yield


def _token(connection: Connection, handle: str, folder: Path) -> str:
    """The token of an anchor: the one that is kept, or else a new one."""
    if kept := read_private(token_file(folder, handle)):
        return kept
    token = ""
    with unless_taken():
        register = pb.RegisterBotRequest(name=handle)
        token = connection.ask_with_token(connection.bots.RegisterBot, register).token
    if not token:
        rotate = token_pb.RotateTokenRequest(bot=handle)
        token = connection.ask_with_token(connection.tokens.RotateToken, rotate).secret
    write_private(token_file(folder, handle), f"{token}\n", is_new=False)
    return token


@contextmanager
def unless_taken() -> Iterator[None]:
    """Pass over the refusal of a call since there is something of that name."""
    try:
        yield
    except grpc.RpcError as error:
        if not isinstance(error, grpc.Call) or error.code() is not grpc.StatusCode.ALREADY_EXISTS:
            raise


def _start(anchor: AnchorBot, server: Server, token: str, folder: Path) -> Child:
    """An anchor's process, which is told its token where no list of processes shows it."""
    words = ["bot", "run", anchor.spec, f"--name={anchor.handle}", f"--server={server.address}"]
    words += [f"--option={option}" for option in anchor.options]
    security = server.security  # as the command itself was told to reach the server
    files = {
        "--ca": security.ca,
        "--client-certificate": security.client_certificate,
        "--client-key": security.client_key,
    }
    words += [f"{name}={path}" for name, path in files.items() if path is not None]
    words += ["--plaintext"] * security.plaintext
    log = folder / f"{anchor.handle}.log"
    return start_child(words, log, env={TOKEN_VARIABLE: token})
