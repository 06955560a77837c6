"""The arena as processes: servers, workers and bots that a test starts, stops and kills."""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.request import urlopen

import grpc
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from meijin.arena.connection import Connection, connect
from meijin.arena.connection import Server as ServerAt
from meijin.arena.tournaments import make_tournament
from meijin.game import TimeControl, Variant
from meijin.testing.server import NO_REDIS
from meijin.v1 import bot_service_pb2, ladder_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import time_control_to_proto, variant_to_proto

MEIJIN = (sys.executable, "-m", "meijin")
JOURNAL_BOT = Path(__file__).parent / "journal_bot.py"
COMPACTING_SERVER = Path(__file__).parent / "compacting_server.py"
NO_LADDER = f"--redis={NO_REDIS}"
"""For a server whose ladder nobody looks at: it starts neither Valkey nor a worker."""
BOTS = ("ada", "grace", "edsger")
"""Names for three bots."""
PATIENCE = 120.0
"""Seconds that anything may take before a test gives up; a whole demo on busy cores needs some."""
POLL_INTERVAL = 0.1
"""Seconds between two looks, each of which takes time from what it waits for."""
PORTS = range(20_000, 32_000)
"""Below those the kernel deals out, so that nobody takes a port while its server is away."""


def eventually(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    """Wait until a condition holds; a server that is away makes it fail for now."""
    deadline = time.monotonic() + patience
    while not _holds(condition):
        assert time.monotonic() < deadline, f"it did not come to pass in {patience:g} s"
        time.sleep(POLL_INTERVAL)


def _holds(condition: Callable[[], object]) -> bool:
    try:
        return bool(condition())
    except grpc.RpcError:
        return False


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def processes_of(folder: Path) -> set[int]:
    """The living processes whose command line or environment names a folder."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            if os.fsencode(folder) in words:
                found.add(int(process.name))
    return found - {os.getpid()}


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                found.append(int(stat.parent.name))
    return found


class Process:
    """A command in the background; what it says goes to a log."""

    def __init__(
        self, folder: Path, name: str, command: Sequence[str], env: Mapping[str, str]
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("ab") as log:
            self._start = log.tell()
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment(folder, env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def words(self) -> str:
        """What it has said since it was started."""
        return self.log.read_bytes()[self._start :].decode()

    def has_said(self, words: str, times: int = 1) -> bool:
        """Whether it has said something, since it was started and so many times."""
        return self.words.count(words) >= times

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; return its exit status."""
        self._process.send_signal(number)
        return self._process.wait(PATIENCE)

    def wait(self) -> int:
        """Wait for its end; return its exit status."""
        return self._process.wait(PATIENCE)

    def kill(self, *, with_children: bool = False) -> None:
        """``kill -9``, if it runs."""
        victims = children_of(self.pid) if with_children else []
        self._process.kill()
        _kill(victims)
        self._process.wait(PATIENCE)

    def kill_children(self) -> int:
        """``kill -9`` to all that it has started; return how many those were."""
        victims = children_of(self.pid)
        _kill(victims)
        return len(victims)


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def environment(folder: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """This process's own without Meijin's settings; the mark is handed on to all descendants.

    Servers have no pages unless they are told to: their ports would be the same.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MEIJIN_")}
    mark = {"TEST_FOLDER": str(folder), "MEIJIN_WEB": "off", "XDG_CONFIG_HOME": str(folder)}
    return {**kept, **mark, "COLUMNS": "200", "NO_COLOR": "1", **extra}


class Processes:
    """Starts processes in a folder, and kills at the end what still runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[Process] = []
        self._connections = ExitStack()

    def start(self, name: str, *words: str, **env: str) -> Process:
        """Start a `meijin` command."""
        return self.start_command(name, *MEIJIN, *words, **env)

    def start_command(self, name: str, *command: str, **env: str) -> Process:
        """Start any command."""
        process = Process(self.folder, name, command, env)
        self._started.append(process)
        return process

    def start_bot(
        self, name: str, address: str, *, delay: float = 0.01, games: int = 4, **env: str
    ) -> Process:
        """Start a bot that keeps a journal."""
        journal, seed = self.journal(name), len(name)
        options = {"journal": journal, "delay": delay, "seed": seed, "games": games}
        words = [f"--option={key}={value}" for key, value in options.items()]
        where = (f"--name={name}", f"--server={address}")
        return self.start(name, "bot", "run", str(JOURNAL_BOT), *words, *where, **env)

    def journal(self, name: str) -> Path:
        """Where a bot writes down what it is told."""
        return self.folder / f"{name}.journal"

    def run(self, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
        """Run a `meijin` command to its end."""
        return subprocess.run(
            [*MEIJIN, *words],
            cwd=self.folder,
            env=environment(self.folder, env),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def connect(self, address: str, token: str) -> Connection:
        """Talk to a server until the end, whenever it is there."""
        return self._connections.enter_context(connect(ServerAt(address), token))

    def kill_all(self) -> None:
        """Leave nothing behind."""
        self._connections.close()
        for process in reversed(self._started):
            process.kill(with_children=True)


class Server:
    """A `meijin serve` that can be killed and started again on its port and data."""

    command: Sequence[str] = MEIJIN

    def __init__(self, processes: Processes, *options: str, **env: str) -> None:
        self.data = processes.folder / "data"
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.processes = processes
        self._words = ("serve", f"--listen={self.address}", f"--data={self.data}", *options)
        self._env = env
        self.process = self.start()
        token = (self.data / "operator.token").read_text().strip()
        self._connection = processes.connect(self.address, token)

    def start(self) -> Process:
        """Start it, and return once bots may connect."""
        self.process = process = self.processes.start_command(
            "server", *self.command, *self._words, **self._env
        )
        eventually(lambda: "is listening on" in process.words or not process.is_running)
        assert process.is_running, process.words
        return process

    @property
    def database_url(self) -> str:
        """Its database, unless an option says another."""
        return f"sqlite:///{self.data / 'meijin.db'}"

    def metrics(self) -> list[Metric]:
        """Its metrics, where an option has it serve them."""
        (address,) = set(re.findall(r'"address": "(\S+?)"', self.process.words))
        with urlopen(f"http://{address}/metrics", timeout=PATIENCE) as response:
            return list(text_string_to_metric_families(response.read().decode()))

    def scrape(self) -> dict[str, float]:
        """Every sample of its metrics without its labels, summed up."""
        sums: dict[str, float] = {}
        for family in self.metrics():
            assert family.documentation, family.name
            for sample in family.samples:
                sums[sample.name] = sums.get(sample.name, 0) + sample.value
        return sums

    def start_bots(self, *names: str, delay: float = 0.01) -> list[Process]:
        """Start bots that keep a journal, and return once all are connected."""
        bots = [self.processes.start_bot(name, self.address, delay=delay) for name in names]
        eventually(lambda: self.connected_bots() >= set(names))
        return bots

    def connected_bots(self) -> set[str]:
        """The names of the bots that are there."""
        request = bot_service_pb2.ListBotsRequest(connected=True)
        response = self._connection.ask(self._connection.bots.ListBots, request)
        return {bot.name for bot in response.bots}

    def create_tournament(
        self,
        *bots: str,
        rounds: int,
        time: str = "10+0.2",
        variant: str = "7x7",
        request_id: str = "",
    ) -> str:
        """Make a rated round robin, and return its number."""
        wanted = pb.TournamentSettings(
            bots=bots,
            rounds=rounds,
            seed=1,
            variant=variant_to_proto(Variant.parse(variant)),
            time_control=time_control_to_proto(TimeControl.parse(time)),
        )
        return make_tournament(self._connection, wanted, request_id).tournament_id

    def tournament(self, key: str) -> pb.GetTournamentResponse:
        """A tournament and its crosstable."""
        request = pb.GetTournamentRequest(tournament_id=key)
        return self._connection.ask(self._connection.tournaments.GetTournament, request)

    def cancel(self, key: str) -> None:
        """Cancel a tournament."""
        request = pb.UpdateTournamentRequest(tournament_id=key, state=pb.TOURNAMENT_STATE_CANCELLED)
        self._connection.ask(self._connection.tournaments.UpdateTournament, request)

    def published_run(self, ladder: str) -> str:
        """The number of a ladder's newest run; empty before the first."""
        request = ladder_service_pb2.GetStandingsRequest(ladder=ladder, page_size=1)
        response = self._connection.ask(self._connection.ladders.GetStandings, request)
        return response.run.run_id

    def has_current_ladder(self) -> bool:
        """Whether every finished game is in the published ladder."""
        request = ladder_service_pb2.GetStandingsRequest()
        response = self._connection.ask(self._connection.ladders.GetStandings, request)
        return response.ladder.current


class CompactingServer(Server):
    """One that writes its running games anew all the time."""

    command = (sys.executable, str(COMPACTING_SERVER))
