"""Trials: one life of a server after another, each ended by a power cut or by ``kill -9``."""

import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace

from tests.processes import Process, Processes, eventually
from tests.system.books import Books, compare, read_journal, unsent
from tests.system.power import server as module
from tests.system.server import NO_LADDER, Server

from meijin.game import encode_moves
from meijin.store.schema import GameState
from meijin.store.verification import verify

ROOT = Path(__file__).parents[3]

BOTS = ("ada", "blaise", "charles", "dijkstra")
THOUGHT = 0.05
"""Seconds that a bot takes for a move."""

LONGEST_LIFE_S = 6.0
"""Of a server that is killed, after its bots are back or after its start."""

PATIENCE_S = 60.0
"""In this many seconds a server comes to the step of its disk before which the power is cut."""

STEPS_OF_START = 40
STEPS_OF_LIFE = 3000
"""Before one of this many steps the power is cut, in some lives and in the others."""

STARTS = 0.3
"""The share of lives that end while they begin."""

ROUNDS_PER_LIFE = 60
"""Of six games each: more than are played."""


@dataclass(frozen=True, slots=True)
class Life:
    """How a server's life has ended, and what it has left."""

    end: str
    seconds: float
    told: int
    """Positions that its bots were told by then, all in all."""
    running: int
    finished: int
    breaches: list[str]
    """What is not as it must be: what was told is stored, and once."""


class ForgetfulServer(Server):
    """A server whose disk forgets what was not synced; its first life is ended by nobody."""

    program = (sys.executable, "-m", "tests.system.power.server")

    def __init__(self, processes: Processes) -> None:
        self.left = processes.folder / "left"
        data = processes.folder / "data"
        data.mkdir(mode=0o700)
        places = {module.DATA: str(data), module.LEFT: str(self.left)}
        life = {module.STEP: "0", module.SEED: "", "PYTHONPATH": str(ROOT)}
        super().__init__(processes, "--open", NO_LADDER, **places, **life)

    def live(self, step: int, seed: int) -> Process:
        """Start it, to live until a step of its disk; 0 for as long as it may."""
        self.settings |= {module.STEP: str(step), module.SEED: str(seed)}
        return self.begin()

    def take_what_is_left(self) -> None:
        shutil.rmtree(self.data)
        self.left.rename(self.data)


class Trial:
    """Hundreds of games on one server, whose lives end one after another."""

    def __init__(self, folder: Path, *, seed: int, lives: int, games: int) -> None:
        self._processes = Processes(folder)
        self._rng = Random(seed)
        self._server = ForgetfulServer(self._processes)
        for name in BOTS:
            self._server.start_bot(name, delay=THOUGHT, games=2 * games // len(BOTS))
        eventually(self._has_its_bots)
        self._tournament = self._server.create_tournament(
            *BOTS, rounds=ROUNDS_PER_LIFE * (lives + games // 60), time="20+1", variant="9x9"
        )

    def _has_its_bots(self) -> bool:
        return self._server.connected_bots() >= set(BOTS)

    def close(self) -> None:
        self._processes.kill_all()

    def kill(self) -> Life:
        """Let the server live for a while, and kill it; now and then before its bots are back."""
        if self._rng.random() >= STARTS:
            eventually(self._has_its_bots)
        return self._end(self._server.process, self._rng.uniform(0, LONGEST_LIFE_S))

    def cut_power(self) -> Life:
        is_start = self._rng.random() < STARTS
        step = self._rng.randint(1, STEPS_OF_START if is_start else STEPS_OF_LIFE)
        self._server.process.kill()
        process = self._server.live(step, self._rng.randrange(2**32))
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
        life = self._look(end, time.monotonic() - begin)
        self._server.live(0, 0)
        return life

    def _look(self, end: str, seconds: float) -> Life:
        books = Books(self._server.database_url)
        with closing(books.database):
            verification = verify(books.database)
            games = books.games()
        running = {} if verification.running is None else verification.running.moves
        stored = {}
        for game in games:
            moves = encode_moves([code for code, _, _ in running.get(game.id, ())])
            stored[str(game.id)] = SimpleNamespace(**game._asdict() | {"moves": game.moves + moves})
        journals = {bot: read_journal(self._server.journal(bot)) for bot in BOTS}
        breaches = list(verification.failures)
        for bot, journal in journals.items():
            for key, told in journal.items():
                found = [f"game {key} is lost"]
                if key in stored:
                    found = list(compare(bot, stored[key], told))
                breaches += [f"{bot}, game {key}: {breach}" for breach in found]
        counted = [game for game in games if game.state is not GameState.VOID]
        pairings = Counter(game.pairing_id for game in counted)
        breaches += [f"pairing {key} counts twice" for key, count in pairings.items() if count > 1]
        states = Counter(game.state for game in counted)
        told_turns = sum(len(told.turns) for each in journals.values() for told in each.values())
        return Life(
            end,
            seconds,
            told_turns,
            running=states[GameState.RUNNING],
            finished=states[GameState.FINISHED],
            breaches=breaches,
        )

    def finish(self) -> list[str]:
        server = self._server
        server.process.wait_for("is listening on")
        eventually(self._has_its_bots)
        server.cancel(self._tournament)
        eventually(lambda: not server.books.running())
        status = server.process.stop()
        failures = [f"the server ended with status {status}"] if status else []
        log = (server.folder / "server.log").read_text()
        failures += ["the server's log has a traceback"] if "Traceback" in log else []
        return [*failures, *self._breaches()]

    def _breaches(self) -> Iterator[str]:
        """What the journals say of the finished games that the records do not, or the reverse."""
        for bot in BOTS:
            journal = read_journal(self._server.journal(bot))
            for game in self._server.books.games(GameState.FINISHED):
                told = journal.get(str(game.id))
                if told is not None:
                    for breach in (*compare(bot, game, told), *unsent(bot, game, told)):
                        yield f"game {game.id}, {bot}: {breach}"
