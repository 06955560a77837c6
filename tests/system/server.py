"""A `meijin serve` as a process, with bots at it and its books open."""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from urllib.request import urlopen

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from tests.processes import MEIJIN, PATIENCE, Commands, Process, Processes, eventually, free_port
from tests.system.books import Books

from meijin.game import TimeControl, Variant
from meijin.local.connection import Connection, connect, make_tournament
from meijin.local.connection import Server as ServerAt
from meijin.testing.server import NO_REDIS
from meijin.v1 import bot_service_pb2, ladder_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.values import time_control_to_proto, variant_to_proto

JOURNAL_BOT = Path(__file__).parent / "journal_bot.py"
NO_LADDER = f"--redis={NO_REDIS}"
"""For a server whose ladder nobody looks at: it starts neither Valkey nor a worker."""
BOTS = ("ada", "grace", "edsger")
"""Names for three bots."""


class Server(Commands):
    """A `meijin serve` that can be killed and started again on its port and data.

    Commands are run on its operator's machine: they find the server and the token.
    """

    program: Sequence[str] = MEIJIN

    def __init__(self, processes: Processes, *options: str, **env: str) -> None:
        self.data = processes.folder / "data"
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        super().__init__(processes.folder, MEIJIN_SERVER=self.address, MEIJIN_DATA=str(self.data))
        self.processes = processes
        urls = [option for option in options if option.startswith("--database=")]
        default = f"sqlite:///{self.data / 'meijin.db'}"
        self.database_url = urls[0].partition("=")[2] if urls else default
        self.words = ("serve", f"--listen={self.address}", f"--data={self.data}", *options)
        self.settings = env
        self._journals: dict[str, Path] = {}
        self.process = self.start()

    def start(self) -> Process:
        self.begin()
        self.process.wait_for("is listening on")
        return self.process

    def begin(self) -> Process:
        self.process = self.processes.start_command(
            "server", *self.program, *self.words, **self.settings
        )
        return self.process

    @property
    def token(self) -> str:
        return (self.data / "operator.token").read_text().strip()

    @cached_property
    def connection(self) -> Connection:
        """Talks to it until the end, whenever it is there."""
        return self.processes.at_end.enter_context(connect(ServerAt(self.address), self.token))

    @cached_property
    def books(self) -> Books:
        books = Books(self.database_url)
        self.processes.at_end.callback(books.database.close)
        return books

    def assert_all_is_played(self, games: int) -> None:
        """Wait for the ends of all tournaments: each game was played once, as its bots were told."""
        eventually(lambda: not self.books.tournaments_running())
        self.books.assert_each_planned_game_was_played_once(games)
        for journal in self._journals.values():
            assert journal.read_text()
            assert list(self.books.breaches_of(journal)) == []

    def metrics(self) -> list[Metric]:
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

    # -- bots -----------------------------------------------------------------------------

    def start_bot(
        self, name: str, address: str = "", *, delay: float = 0.01, games: int = 4, **env: str
    ) -> Process:
        self._journals[name] = self.journal(name)
        options = {"journal": self.journal(name), "delay": delay, "seed": len(name), "games": games}
        words = [f"--option={key}={value}" for key, value in options.items()]
        where = (f"--name={name}", f"--server={address or self.address}")
        return self.processes.start(name, "bot", "run", str(JOURNAL_BOT), *words, *where, **env)

    def start_bots(self, *names: str, delay: float = 0.01) -> list[Process]:
        """Start bots that keep a journal, and return once all are connected."""
        bots = [self.start_bot(name, delay=delay) for name in names]
        eventually(lambda: self.connected_bots() >= set(names))
        return bots

    def run_bots(self, **specs: str) -> list[Process]:
        """Have `meijin bot run` bring bots by their names, and return once all are connected."""
        bots = [
            self.processes.start(
                name, "bot", "run", spec, f"--name={name}", f"--server={self.address}"
            )
            for name, spec in specs.items()
        ]
        eventually(lambda: self.connected_bots() >= set(specs))
        return bots

    def journal(self, name: str) -> Path:
        return self.folder / f"{name}.journal"

    def connected_bots(self) -> set[str]:
        request = bot_service_pb2.ListBotsRequest(connected=True)
        response = self.connection.ask(self.connection.bots.ListBots, request)
        return {bot.name for bot in response.bots}

    # -- tournaments and ladders ----------------------------------------------------------

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
        return make_tournament(self.connection, wanted, request_id).tournament_id

    def tournament(self, key: str) -> pb.GetTournamentResponse:
        request = pb.GetTournamentRequest(tournament_id=key)
        return self.connection.ask(self.connection.tournaments.GetTournament, request)

    def cancel(self, key: str) -> None:
        request = pb.UpdateTournamentRequest(tournament_id=key, state=pb.TOURNAMENT_STATE_CANCELLED)
        self.connection.ask(self.connection.tournaments.UpdateTournament, request)

    def ladder(self, name: str = "") -> ladder_service_pb2.GetStandingsResponse:
        """The published standings' first row, with their ladder and their run."""
        request = ladder_service_pb2.GetStandingsRequest(ladder=name, page_size=1)
        return self.connection.ask(self.connection.ladders.GetStandings, request)

    def has_current_ladder(self) -> bool:
        """Whether every finished game is in the published ladder."""
        return self.ladder().ladder.current
