"""The arena as processes: servers, workers and bots that a test starts, stops and kills."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from sqlalchemy import Connection as Sql
from sqlalchemy import select, text

from meijin.cli.connection import Connection, connect
from meijin.game import Board, Ending, Outcome, Result, TimeControl, Variant, decode_moves
from meijin.ladder import bradley_terry, elo
from meijin.store import Database, ladders
from meijin.store.tables import (
    Game,
    GameState,
    Pairing,
    Tournament,
    TournamentState,
)
from meijin.v1 import bot_service_pb2, ladder_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import time_control_to_proto, variant_to_proto

MEIJIN = (sys.executable, "-m", "meijin.cli.main")
JOURNAL_BOT = Path(__file__).parent / "journal_bot.py"
PATIENCE = 60.0
"""Seconds that anything may take before a test gives up; two busy cores need some."""
POLL = 0.02
PORTS = range(20_000, 32_000)
"""Below those the kernel deals out, so that nobody takes a port while its server is away."""
ON_THE_BOARD = {Ending.FIVE, Ending.DRAW}


def eventually(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    """Wait until a condition holds; a server that is away makes it fail for now."""
    deadline = time.monotonic() + patience
    while not _holds(condition):
        assert time.monotonic() < deadline, f"it did not come to pass in {patience:g} s"
        time.sleep(POLL)


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
    """A `meijin` command in the background; what it says goes to a log."""

    def __init__(self, folder: Path, name: str, words: Sequence[str], env: Mapping[str, str]):
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("ab") as log:
            self._start = log.tell()
            self._process = subprocess.Popen(
                [*MEIJIN, *words],
                cwd=folder,
                env=environment(env),
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
        victims = children_of(self.pid) if with_children and self.is_running else []
        self._process.kill()
        for pid in victims:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait(PATIENCE)


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without settings of servers and tokens."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MEIJIN_")}
    return {**kept, "COLUMNS": "200", "NO_COLOR": "1", **extra}


class Processes:
    """Starts processes in a folder, and kills at the end what still runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[Process] = []

    def start(self, name: str, *words: str, **env: str) -> Process:
        """Start a `meijin` command."""
        process = Process(self.folder, name, words, env)
        self._started.append(process)
        return process

    def start_bot(self, name: str, address: str, *, delay: float = 0.01, **env: str) -> Process:
        """Start a bot that keeps a journal."""
        options = {"journal": self.journal(name), "delay": delay, "seed": len(name)}
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
            env=environment(env),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def kill_all(self) -> None:
        """Leave nothing behind."""
        for process in reversed(self._started):
            process.kill(with_children=True)


class Server:
    """A `meijin serve` that can be killed and started again on its port and data."""

    def __init__(self, processes: Processes, *options: str, **env: str) -> None:
        self.data = processes.folder / "data"
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.processes = processes
        self._words = ("serve", f"--listen={self.address}", f"--data={self.data}", *options)
        self._env = env
        self.process = self.start()

    def start(self) -> Process:
        """Start it, and return once bots may connect."""
        self.process = process = self.processes.start("server", *self._words, **self._env)
        eventually(lambda: "is listening on" in process.words or not process.is_running)
        assert process.is_running, process.words
        return process

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Talk to it as its operator."""
        token = self.data / "operator.token"
        with connect(self.address, token.read_text().strip()) as connection:
            yield connection

    def connected_bots(self) -> set[str]:
        """The names of the bots that are there."""
        request = bot_service_pb2.ListBotsRequest(connected=True)
        with self.connect() as connection:
            return {bot.name for bot in connection.ask(connection.bots.ListBots, request).bots}

    def create_tournament(
        self, *bots: str, rounds: int, time: str = "10+0.2", variant: str = "7x7"
    ) -> str:
        """Make a rated round robin, and return its number."""
        wanted = pb.TournamentSettings(
            bots=bots,
            rounds=rounds,
            seed=1,
            variant=variant_to_proto(Variant.parse(variant)),
            time_control=time_control_to_proto(TimeControl.parse(time)),
        )
        with self.connect() as connection:
            request = pb.CreateTournamentRequest(settings=wanted)
            made = connection.ask_as_operator(connection.tournaments.CreateTournament, request)
        return made.tournament.tournament_id

    def tournament(self, key: str) -> pb.GetTournamentResponse:
        """A tournament and its crosstable."""
        request = pb.GetTournamentRequest(tournament_id=key)
        with self.connect() as connection:
            return connection.ask(connection.tournaments.GetTournament, request)

    def has_current_ladder(self) -> bool:
        """Whether every finished game is in the published ladder."""
        request = ladder_service_pb2.GetStandingsRequest()
        with self.connect() as connection:
            return connection.ask(connection.ladders.GetStandings, request).ladder.current


class Books:
    """What stands in a server's database, read behind its back."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)

    def games(self, state: GameState | None = None) -> Sequence[Any]:
        """The games, or those in a state, each with its pairing and its tournament."""
        query = (
            select(Game.__table__, Pairing.opening, Tournament.variant)
            .join(Pairing, Pairing.id == Game.pairing_id)
            .join(Tournament, Tournament.id == Game.tournament_id)
            .order_by(Game.end_sequence)
        )
        if state is not None:
            query = query.where(Game.state == state)
        return self.database.read(lambda sql: sql.execute(query).all())

    def finished(self) -> int:
        """How many games have a result."""
        return len(self.games(GameState.FINISHED))

    def running(self) -> set[str]:
        """The games that run."""
        return {str(game.id) for game in self.games(GameState.RUNNING)}

    def tournaments_running(self) -> int:
        """How many tournaments are being played."""
        query = select(Tournament.id).where(Tournament.state == TournamentState.RUNNING)
        return len(self.database.read(lambda sql: sql.execute(query).all()))

    def assert_each_planned_game_was_played_once(self, planned: int) -> None:
        """Every pairing has one game; each was decided on the board and replays to its result."""
        games = self.games()
        pairings = self.database.read(lambda sql: sql.scalars(select(Pairing.id)).all())
        assert len(pairings) == planned
        assert Counter(game.pairing_id for game in games) == Counter(pairings)
        assert [game.end_sequence for game in games] == list(range(1, planned + 1))
        for game in games:
            _assert_replays(game)
        if self.database.is_sqlite:
            check = text("PRAGMA integrity_check")
            assert self.database.read(lambda sql: sql.execute(check).scalar()) == "ok"

    def assert_holds(self, journal: Path) -> None:
        """Every move and every result that a bot was told of is stored."""
        games = {str(game.id): game for game in self.games()}
        lines = journal.read_text().splitlines()
        assert lines
        for line in lines:
            what, game_id, told = line.split(" ", 2)
            game = games[game_id]
            if what == "told":
                assert game.moves.hex().startswith(told), f"game {game_id} lost a move"
            else:
                assert f"{game.result.value} {game.ending.value}" == told

    def assert_ladder_is_what_the_games_give(self) -> None:
        """The published ladder equals one computed here, game by game."""
        games = self.games(GameState.FINISHED)
        points = {Result.BLACK_WINS: 1.0, Result.DRAW: 0.5, Result.WHITE_WINS: 0.0}
        results = [(game.black_id, game.white_id, points[game.result]) for game in games]
        columns = np.array(
            [(b, w, p == 1, p == 0.5, p == 0) for b, w, p in results], dtype=np.int64
        ).T
        fit = bradley_terry.fit(bradley_terry.PairCounts(*columns))
        strengths = dict(zip(fit.players.tolist(), fit.elo.tolist(), strict=True))
        classic = elo.replay(results)
        score: Counter[int] = Counter()
        for black, white, won in results:
            score[black] += round(2 * won)
            score[white] += round(2 - 2 * won)
        lines = self.database.read(_standings)
        assert {line.version_id for line in lines} == set(strengths)
        for line in lines:
            key = line.version_id
            assert line.elo == round(1500 + strengths[key], 4)
            assert line.classic_elo == round(classic[key], 4)
            assert 2 * line.wins + line.draws == score[key]
        assert sum(line.games for line in lines) == 2 * len(games)


def _standings(sql: Sql) -> Sequence[ladders.Standing]:
    table = ladders.standings(sql, ladders.ladder_named(sql, None).id)
    assert table.ladder.is_current
    return table.standings


def _assert_replays(game: Any) -> None:
    assert game.state is GameState.FINISHED
    assert game.ending in ON_THE_BOARD, f"game {game.id}: {game.detail}"
    assert game.moves.startswith(game.opening)
    board = Board.from_moves(decode_moves(game.moves), Variant.parse(game.variant))
    expected = Result.DRAW if board.winner is None else Result.won_by(board.winner)
    assert Outcome(game.result, game.ending) == Outcome(
        expected, Ending.DRAW if board.winner is None else Ending.FIVE
    )
    assert board.winner is not None or board.is_full
    assert len(game.times) == 16 * (len(board.moves) - game.opening_plies)


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Starts processes in the test's own folder; all are gone at the end."""
    processes = Processes(tmp_path)
    yield processes
    processes.kill_all()


@pytest.fixture
def serve(processes: Processes) -> Callable[..., Server]:
    """Start a server with options; keywords are its environment."""
    return partial(Server, processes)


@pytest.fixture(scope="module")
def guarded_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that asks for tokens, for all tests of a module."""
    processes = Processes(tmp_path_factory.mktemp("arena"))
    yield Server(processes)
    processes.kill_all()


@pytest.fixture
def open_books() -> Iterator[Callable[[str], Books]]:
    """Look into the database of an URL."""
    with ExitStack() as stack:

        def open_books(url: str) -> Books:
            books = Books(url)
            stack.callback(books.database.close)
            return books

        yield open_books


@pytest.fixture(name="processes_of")
def _processes_of() -> Callable[[Path], set[int]]:
    """The living processes whose command line or environment names a folder."""
    return processes_of


@pytest.fixture(name="eventually", scope="session")
def _eventually() -> Callable[..., None]:
    """Wait until a condition holds."""
    return eventually
