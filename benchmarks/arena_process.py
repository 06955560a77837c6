"""A server in a process of its own, as the benchmarks measure it."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from processor_time import ServerTime, process_seconds, server_time

from meijin.local.child import Child
from meijin.local.server import addresses, local_server
from meijin.v1 import bot_service_pb2
from meijin.v1.bot_service_pb2_grpc import BotServiceStub

PAGE = os.sysconf("SC_PAGE_SIZE")
START_TIME = 120.0
NO_SETTINGS: Mapping[str, str] = {}
MANY_BOTS = {"MEIJIN_CONNECTIONS_PER_SECOND": "1000"}
"""For a server that a thousand connect to at once."""
CHECKOUT = Path(__file__).parent.parent
NAMED_THREADS = Path(__file__).with_name("named_threads.py")


@dataclass(frozen=True, slots=True)
class ArenaProcess:
    """A running server."""

    pid: int
    address: str
    data: Path
    pages: str = ""
    """Host and port of its pages; empty where it has none."""

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all its threads."""
        return process_seconds(self.pid)

    @property
    def time(self) -> ServerTime:
        """Processor time by what its threads do."""
        return server_time(self.pid)

    @property
    def resident_bytes(self) -> int:
        """Its memory."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE

    def wait_for_bots(self, count: int) -> None:
        """Return once this many bots are connected."""
        deadline = time.monotonic() + START_TIME
        with grpc.insecure_channel(self.address) as channel:
            stub = BotServiceStub(channel)
            request = bot_service_pb2.ListBotsRequest(connected=True, page_size=1000)
            while len(stub.ListBots(request, timeout=START_TIME).bots) < count:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{count} bots are not connected after {START_TIME:g} s")
                time.sleep(0.05)


@contextmanager
def arena_process(
    durability: str,
    *,
    web: str = "off",
    checkout: Path = CHECKOUT,
    settings: Mapping[str, str] = NO_SETTINGS,
    runner: Sequence[str] = ("-P", str(NAMED_THREADS)),
    prepare: Callable[[Path], object] = lambda _: None,
) -> Iterator[ArenaProcess]:
    """A server with open registration on a free port and a new SQLite file.

    Args:
        web: Where it has pages for browsers.
        checkout: Of whose source it is a server; another than this one has an environment of
            its own in `.venv`.
        settings: Others than usual, by their names in the environment.
        runner: What runs it, such as a script with arguments of its own.
        prepare: Is given the file of the database before the server is started.
    """
    with tempfile.TemporaryDirectory(prefix="meijin-benchmark-") as folder:
        data = Path(folder)
        prepare(data / "meijin.db")
        env_file = data / "meijin.env"
        env_file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        options = (f"--durability={durability}", f"--env-file={env_file}")
        program = (_python(checkout), *runner, "meijin")
        with local_server(data, *options, web=web, program=program) as (address, server):
            pages = "" if web == "off" else _pages(server)
            yield ArenaProcess(server.process.pid, address, data, pages)


def _pages(server: Child) -> str:
    """Host and port of a server's pages, once they are there."""
    while server.process.poll() is None:
        _, pages = addresses(server.log)
        if pages:
            return pages.removeprefix("http://")
        time.sleep(0.02)
    raise RuntimeError(f"the server has ended: {server.last_words}")


def _python(checkout: Path) -> str:
    if checkout.resolve() == CHECKOUT.resolve():
        return sys.executable
    python = checkout / ".venv" / "bin" / "python"
    if not python.exists():
        raise FileNotFoundError(
            f"{python} is missing: install the checkout in an environment there"
        )
    return str(python.absolute())


@contextmanager
def child(command: Sequence[str], output: int | None = None) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that is stopped at the end; no setting of another server reaches it."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MEIJIN_")}
    process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)
