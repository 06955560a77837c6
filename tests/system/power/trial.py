"""Trials: one life of a server after another, each ended by a power cut or by ``kill -9``."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.system.conftest import Books
from tests.system.power import server as module
from tests.system.power.crowd import BOTS, Crowd, Findings
from tests.system.processes import NO_LADDER, Process, Processes, Server, eventually

ROOT = Path(__file__).parents[3]

LONGEST_LIFE_S = 6.0
"""Of a server that is killed, after its bots are back or after its start."""

PATIENCE_S = 60.0
"""In so many seconds a server comes to the step of its disk before which the power is cut."""

STEPS_OF_START = 40
STEPS_OF_LIFE = 3000
"""Before one of so many steps the power is cut, in some lives and in the others."""

STARTS = 0.3
"""The share of lives that end while they begin."""

ROUNDS_PER_LIFE = 60
"""Of six games each: more than are played."""


@dataclass(frozen=True, slots=True)
class Life:
    """How a server's life has ended, and what it has left."""

    end: str
    seconds: float
    findings: Findings

    @property
    def breaches(self) -> list[str]:
        """What is not as it must be."""
        found = self.findings
        counts = (("lost", found.lost), ("doubled", found.doubled))
        return [f"{count} are {what}" for what, count in counts if count] + [*found.failures]


class ForgetfulServer(Server):
    """A server whose disk forgets what was not synced; its first life is ended by nobody."""

    command = (sys.executable, "-m", "tests.system.power.server")

    def __init__(self, processes: Processes) -> None:
        self._folder = processes.folder
        self.left = self._folder / "left"
        (self._folder / "data").mkdir(mode=0o700)
        super().__init__(
            processes,
            "--open",
            NO_LADDER,
            PYTHONPATH=str(ROOT),
            **{
                module.DATA: str(self._folder / "data"),
                module.LEFT: str(self.left),
                module.STEP: "0",
                module.SEED: "",
            },
        )

    @property
    def database(self) -> Path:
        """Its file."""
        return self.data / "meijin.db"

    def begin(self, step: int, seed: int) -> Process:
        """Start it, to live until a step of its disk; 0 for as long as it may."""
        self._env |= {module.STEP: str(step), module.SEED: str(seed)}
        self.process = self.processes.start_command(
            "server", *self.command, *self._words, **self._env
        )
        return self.process

    def take_what_is_left(self) -> None:
        """Go on with what a power cut has left."""
        shutil.rmtree(self.data)
        self.left.rename(self.data)


class Trial:
    """Hundreds of games on one server, whose lives end one after another."""

    def __init__(self, folder: Path, *, seed: int, lives: int, games: int) -> None:
        self._processes = Processes(folder)
        self._rng = Random(seed)
        self._server = ForgetfulServer(self._processes)
        self._crowd = Crowd(self._processes, self._server, games)
        eventually(lambda: self._server.connected_bots() >= set(BOTS))
        self._tournament = self._server.create_tournament(
            *BOTS, rounds=ROUNDS_PER_LIFE * (lives + games // 60), time="20+1", variant="9x9"
        )

    def close(self) -> None:
        """End everything."""
        self._processes.kill_all()

    def kill(self) -> Life:
        """Let the server live for a while, and kill it; now and then before its bots are back."""
        if self._rng.random() >= STARTS:
            eventually(lambda: self._server.connected_bots() >= set(BOTS))
        return self._end(self._server.process, self._rng.uniform(0, LONGEST_LIFE_S))

    def cut_power(self) -> Life:
        """Let the server live until a step of its disk."""
        is_start = self._rng.random() < STARTS
        step = self._rng.randint(1, STEPS_OF_START if is_start else STEPS_OF_LIFE)
        self._server.process.kill()
        process = self._server.begin(step, self._rng.randrange(2**32))
        return self._end(process, PATIENCE_S)

    def _end(self, process: Process, seconds: float) -> Life:
        """Kill a server that lives for so long; look at what is left, and begin the next life."""
        begin = time.monotonic()
        while process.is_running and time.monotonic() < begin + seconds:
            time.sleep(0.02)
        process.kill()
        end = "kill -9"
        if self._server.left.exists():
            self._server.take_what_is_left()
            (end,) = (line for line in process.words.splitlines() if line.startswith("the power"))
        lived = time.monotonic() - begin
        findings = self._crowd.look(self._server.database)
        self._server.begin(0, 0)
        return Life(end, lived, findings)

    def finish(self) -> list[str]:
        """Have the games that run end, and look at all."""
        server = self._server
        eventually(lambda: "is listening on" in server.process.words)
        eventually(lambda: server.connected_bots() >= set(BOTS))
        server.cancel(self._tournament)
        books = Books(server.database_url)
        with closing(books.database):
            eventually(lambda: not books.running())
        status = server.process.stop()
        failures = [f"the server ended with status {status}"] if status else []
        log = self._processes.folder / "server.log"
        failures += ["the server's log has a traceback"] if "Traceback" in log.read_text() else []
        return [*failures, *self._crowd.breaches(server.database)]
