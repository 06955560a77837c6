"""The bare transport: what grpc.aio alone does with the messages of a run."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot_processes import processes
from processor_time import process_seconds
from tally import Tally

SERVER = Path(__file__).with_name("echo_server.py")
CLIENT = Path(__file__).with_name("echo_client.py")
WARM_UP = 0.5
"""Seconds before anything is counted."""
STARTED = 10
"""Messages of each stream before that."""


@dataclass(frozen=True, slots=True)
class EchoServer:
    """A running one."""

    pid: int
    address: str

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all its threads."""
        return process_seconds(self.pid)


@contextmanager
def echo_server() -> Iterator[EchoServer]:
    """A bare server in a process of its own."""
    process = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True)
    with process:
        try:
            assert process.stdout is not None
            yield EchoServer(process.pid, process.stdout.readline().split()[-1])
        finally:
            process.terminate()


@dataclass(frozen=True, slots=True)
class Batch:
    """A message of some moves, and the answer to it."""

    moves: float
    sent_bytes: int
    received_bytes: int

    @classmethod
    def of(cls, tally: Tally) -> "Batch":
        """The mean message of bots; of too few that any was sized, an empty one."""
        sampled = max(tally.sampled, 1)
        return cls(
            tally.moves / max(tally.messages, 1),
            round(tally.sent_bytes / sampled),
            round(tally.received_bytes / sampled),
        )


@dataclass(frozen=True, slots=True)
class Echoed:
    """What the bare transport has reached."""

    moves_per_second: float
    cpu_us_per_move: float
    """Processor time of the bare server."""


def echo(batch: Batch, *, streams: int, seconds: float) -> Echoed:
    """Exchange messages of a size on streams of two clients at most, one under way on each."""
    clients = min(streams, 2)
    with echo_server() as server:
        sizes = (str(batch.sent_bytes), str(batch.received_bytes))
        counts = [len(range(first, streams, clients)) for first in range(clients)]
        commands = [
            [sys.executable, str(CLIENT), server.address, str(count), *sizes] for count in counts
        ]
        with processes(commands) as exchanging:
            while exchanging.tally.messages < STARTED * streams:
                time.sleep(0.05)
            time.sleep(WARM_UP)
            before, cpu, start = exchanging.tally, server.cpu_seconds, time.monotonic()
            time.sleep(seconds)
            moves = batch.moves * max((exchanging.tally - before).messages, 1)
            spent = server.cpu_seconds - cpu
            return Echoed(moves / (time.monotonic() - start), spent / moves * 1e6)
