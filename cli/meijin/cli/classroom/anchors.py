"""Anchors: the built-in bots that a class is graded against, run for as long as a command runs."""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc
import typer

from meijin.cli.classroom.handout import read_token, token_file
from meijin.cli.classroom.private_files import make_folder, write_private
from meijin.cli.connection import PAGE, Connection, Server, pages
from meijin.cli.errors import CommandError
from meijin.cli.output import printable
from meijin.server.process.die_with_parent import die_with_parent
from meijin.v1 import bot_service_pb2 as pb
from meijin.wire.contract import TOKEN_VARIABLE

STOP_TIMEOUT = timedelta(seconds=20)
"""An anchor has this time to end before it is killed."""

NOTICE_INTERVAL = timedelta(seconds=15)
"""After it, and then again, is told which anchors are waited for."""

START_TIMEOUT = timedelta(minutes=10)
"""For all to connect; at the first start a search is compiled, which takes a minute or two."""

POLL_INTERVAL = timedelta(milliseconds=100)
"""Between two looks whether they are there."""

PREFIX = "MEIJIN_"
"""Of the variables that an anchor is not to have from this command's own."""


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
    children: dict[str, subprocess.Popen[str]] = {}
    try:
        for anchor in anchors:
            if anchor.handle not in there:
                token = _token(connection, anchor.handle, folder)
                children[anchor.handle] = _start(anchor, server, token, folder)
        _wait(connection, children, folder)
        yield
    finally:
        _stop(children.values())


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
        rotate = pb.RotateTokenRequest(name=handle)
        token = connection.ask_with_token(connection.bots.RotateToken, rotate).token
    write_private(token_file(folder, handle), f"{token}\n", is_new=False)
    return token


def _start(anchor: Anchor, server: Server, token: str, folder: Path) -> "subprocess.Popen[str]":
    """A process of its own, which Ctrl-C does not reach: this command stops it in order."""
    words = ["bot", "run", anchor.spec, f"--name={anchor.handle}", f"--server={server.address}"]
    words += [f"--option={option}" for option in anchor.options]
    words += _security_options(server)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(PREFIX)}
    with _log(folder, anchor.handle).open("w") as log:
        return subprocess.Popen(
            die_with_parent([sys.executable, "-m", "meijin", *words]),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            text=True,
            env={**kept, TOKEN_VARIABLE: token},
            start_new_session=True,
        )


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


def _log(folder: Path, handle: str) -> Path:
    return folder / f"{handle}.log"


def _wait(
    connection: Connection, children: "Mapping[str, subprocess.Popen[str]]", folder: Path
) -> None:
    """Return when all are connected."""
    start = time.monotonic()
    notice = start + NOTICE_INTERVAL.total_seconds()
    while missing := sorted(children.keys() - connected_bots(connection)):
        for handle in missing:
            _check(handle, children[handle], folder)
        now = time.monotonic()
        if now > start + START_TIMEOUT.total_seconds():
            raise CommandError(f"{missing[0]} did not connect; see {_log(folder, missing[0])}")
        if now > notice:
            notice = now + NOTICE_INTERVAL.total_seconds()
            said = _last_line(folder, missing[0]) or "it said nothing yet"
            typer.echo(f"waiting for {', '.join(missing)}: {said}", err=True)
        time.sleep(POLL_INTERVAL.total_seconds())


def _check(handle: str, process: "subprocess.Popen[str]", folder: Path) -> None:
    """See that an anchor runs."""
    if process.poll() is not None:
        last = _last_line(folder, handle) or "it said nothing"
        raise CommandError(f"{handle} ended, exit status {process.returncode}: {last}")


def _last_line(folder: Path, handle: str) -> str:
    """What an anchor said last; empty when it said nothing."""
    lines = _log(folder, handle).read_text(errors="replace").splitlines() or [""]
    return printable(lines[-1].removeprefix("meijin: "))


def _stop(processes: "Iterable[subprocess.Popen[str]]") -> None:
    """End processes: all are told, and then waited for."""
    running = list(processes)
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(STOP_TIMEOUT.total_seconds())
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
