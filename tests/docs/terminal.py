"""A terminal that the commands of the pages are typed into."""

import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import grpc
from tests.docs.pages import ROOT, Command
from tests.processes import PATIENCE, Process, eventually

from meijin.v1.status_service_pb2 import GetActivityRequest
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.wire.contract import DEFAULT_SERVER, SERVER_VARIABLE

BIN = Path(sys.executable).parent
COMPILATION = 600.0
"""Seconds that one which compiles may take until it is up."""

_SERVER = re.compile(r"(?:\w+=\S+ )*meijin serve\b")
_READY = "meijin is listening on |connected as |worker started"
_ADDRESS = re.compile(r"listening on (\S+)")


class Lasting(Process):
    """A command that runs until it is stopped."""

    def __init__(self, command: Command, folder: Path, number: int, env: dict[str, str]) -> None:
        super().__init__(
            folder, f"terminal-{number}", ["bash", "-c", command.text], env, is_group=True
        )
        self.command = command

    @property
    def is_server(self) -> bool:
        return _SERVER.match(self.command.text) is not None

    @property
    def address(self) -> str | None:
        found = _ADDRESS.search(self.words)
        return found and found[1]

    def wait_until_ready(self) -> None:
        """Wait for what the page says that it prints, or for a sign that it is up."""
        signs = list(map(masked, self.command.output)) or [_READY]
        eventually(self._shows, signs, patience=COMPILATION)
        assert self.is_running, f"{self.command.place} ended: {self.words}"

    def _shows(self, signs: list[str]) -> bool:
        return not self.is_running or all(re.search(sign, self.words) for sign in signs)

    def assert_ended(self) -> None:
        try:
            status = self.wait()
        finally:
            self.send(signal.SIGKILL)
        assert status in {0, -signal.SIGTERM}, f"{self.command.place}: {status}: {self.words}"


def wait_for_ladders(address: str) -> None:
    """Wait until a server's ladders have all games, as whoever types the next command would find.

    Where the server asks for a token, or for TLS, nothing is waited for.
    """
    with grpc.insecure_channel(address) as channel, suppress(grpc.RpcError):
        service, request = StatusServiceStub(channel), GetActivityRequest()
        service.GetActivity(request, timeout=PATIENCE)
        eventually(
            lambda: not any(each.games_behind for each in service.GetActivity(request).ladders)
        )


class Terminal:
    """Types the commands of a page, in a folder of its own.

    Servers listen on free ports, and every later command is told the address of the
    newest one that runs: the pages' 7464 may be taken on this machine.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.substitutes: dict[str, str] = {}
        """What stands in for the hosts of the pages' examples."""
        self.printed = ""
        """What the commands that ended have printed."""
        self._lasting: list[Lasting] = []
        self._starting: list[Lasting] = []
        self._count = 0
        (folder / "proto").symlink_to(ROOT / "proto")

    def type(self, command: Command) -> None:
        """Carry a command out, and compare what it prints with what the page says."""
        for name, substitute in self.substitutes.items():
            command.text = command.text.replace(name, shlex.quote(substitute))
        if command.text == "^C":
            self._interrupt()
        elif command.is_lasting:
            self._start(command)
        else:
            self._run(command)

    def wait_until_ready(self) -> None:
        """Wait for everything that was started; bots come up beside each other."""
        while self._starting:
            self._starting.pop(0).wait_until_ready()

    def _run(self, command: Command) -> None:
        self.wait_until_ready()
        environment = self.environment()
        address = environment.get(SERVER_VARIABLE, DEFAULT_SERVER)
        text = command.text.replace(f"--server {DEFAULT_SERVER}", f"--server {address}")
        if " ladder " in text and SERVER_VARIABLE in environment:
            wait_for_ladders(address)
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"{command.place}: {command.text}\n{done.stdout}"
        for line in command.output:
            said = re.search(masked(line), done.stdout)
            assert said, f'{command.place}: no "{line}" in\n{done.stdout}'
        self.printed += done.stdout

    def _start(self, command: Command) -> None:
        self._count += 1
        started = Lasting(command, self.folder, self._count, self.environment())
        self._lasting.append(started)
        self._starting.append(started)
        if started.is_server:
            self.wait_until_ready()

    def _interrupt(self) -> None:
        self.wait_until_ready()
        server = next(found for found in reversed(self._lasting) if found.is_server)
        self._lasting.remove(server)
        server.send(signal.SIGINT)
        server.assert_ended()

    def environment(self) -> dict[str, str]:
        """What a command is started with: no settings of this machine, the newest server."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("MEIJIN_")}
        kept |= {"PATH": f"{BIN}:{kept['PATH']}", "COLUMNS": "120"}
        kept |= {"MEIJIN_LISTEN": "127.0.0.1:0", "MEIJIN_WEB": "127.0.0.1:0"}
        kept |= {"XDG_CONFIG_HOME": str(self.folder / "settings")}
        addresses = [found.address for found in self._lasting if found.address]
        return kept | ({"MEIJIN_SERVER": addresses[-1]} if addresses else {})

    def close(self) -> None:
        """Stop everything that still runs: all bots at once, and then their servers."""
        lasting, self._lasting, self._starting = self._lasting, [], []
        with ExitStack() as stack:  # which calls what is last first, whatever fails
            for server in (found for found in lasting if found.is_server):
                stack.callback(server.assert_ended)
                stack.callback(server.send, signal.SIGTERM)
            bots = [found for found in lasting if not found.is_server]
            for bot in bots:
                stack.callback(bot.assert_ended)
            for bot in bots:
                stack.callback(bot.send, signal.SIGTERM)


def masked(line: str) -> str:
    """A pattern for a line in which the numbers may be others."""
    return re.sub(r"\d+", r"\\d+", re.escape(line))
