"""A world: a server, its disk, bots and faults, all drawn from one seed."""

from __future__ import annotations

import logging
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

import structlog
from tests.simulation import bot as bots
from tests.simulation.bot import SimulatedBot, Temper
from tests.simulation.disk import Disk
from tests.simulation.loop import NS_PER_SECOND, Process, SimulatedLoop
from tests.simulation.network import Link, Stream
from tests.simulation.oracle import Oracle, Violation, require
from tests.simulation.server import SimulatedServer, simulated_surroundings

from meijin.game import TimeControl, Variant
from meijin.server.settings import Settings
from meijin.v1 import game_service_pb2, play_service_pb2, tournament_service_pb2
from meijin.wire import time_control_to_proto, variant_to_proto

MS = 1_000_000
LAST_FAULT_NS = 30 * NS_PER_SECOND
"""From some time before on nothing fails any more, so that what is lost stays lost."""

LIMIT_NS = 200 * NS_PER_SECOND
"""In this time every world is done; one that is not hangs."""

MOST_OUTAGE_NS = 4000 * MS
"""The longest that a server is stopped or its disk away; it may be dead for longer."""

TRACED = 80
"""Events that are kept, the last so many."""

LOOK_EVERY = 64
"""Callbacks between two looks at the whole state of the server."""

FORMATS = tournament_service_pb2.TournamentFormat
VARIANTS = [
    Variant(width=3, height=3, line=3),
    Variant(width=4, height=4, line=3),
    Variant(width=4, height=3, line=4),
    Variant(width=5, height=5),
]
CONTROLS = ["0.4+0.05", "1+0.1", "0.3/move", "1+0.1,0.4/move"]


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a world."""

    seed: int
    games: int
    endings: Counter[str]
    faults: Counter[str]
    violation: str
    """Empty when everything was as it must be."""
    trace: tuple[str, ...]
    """The last events before the violation."""
    digest: int
    """Of the instants of all events."""


class Failures:
    """What the product logs as an error that none may be."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def __call__(self, _logger: Any, _name: str, event: MutableMapping[str, Any]) -> str:
        """Keep an event; nothing is printed."""
        if event["event"] not in EXPECTED_ERRORS:
            error = event.get("exc_info")
            self.events.append(f"{event['event']}: {event!r} {error!r}")
        raise structlog.DropEvent


EXPECTED_ERRORS = {"the database fails; games wait"}


class World(bots.World):
    """One run: everything that happens follows from the seed and the product."""

    def __init__(self, seed: int, disk: Disk, settings: Settings) -> None:
        self.rng = Random(seed)
        self.seed = seed
        self.loop = SimulatedLoop(self.rng)  # type: ignore[abstract]  # no files, no sockets
        self.disk = disk
        self.oracle = Oracle(disk, lambda: self.loop.now_ns)
        self.oracle.grace_ns = settings.grace // timedelta(microseconds=1) * 1000
        self.violation = ""
        self.faults: Counter[str] = Counter()
        self.server: SimulatedServer | None = None
        self.bots: list[SimulatedBot] = []
        self.buried: list[SimulatedServer] = []
        self._settings = settings
        self._log = Failures()
        self._events: deque[tuple[int, tuple[object, ...]]] = deque(maxlen=TRACED)
        self._digest = 0
        self._links: dict[str, Link] = {}
        self._wanted: list[tournament_service_pb2.TournamentSettings] = []
        self._made: set[int] = set()
        self._is_closing = False
        self._faults_end_ns = self.rng.randrange(NS_PER_SECOND // 2, LAST_FAULT_NS)

    # -- from the beginning to the end ------------------------------------------------------

    def run(self) -> Report:
        """Play everything that is planned, with faults."""
        self.disk.reset()
        state = random.getstate()
        with ExitStack() as stack:
            stack.callback(random.setstate, state)
            random.seed(self.seed)
            stack.enter_context(_quiet(self._log))
            stack.enter_context(simulated_surroundings(self.loop, self.rng))
            stack.enter_context(self.loop.running())
            try:
                self._play()
            except Violation as violation:
                self.violation = self.violation or str(violation)
            finally:
                self._put_away()
        return Report(
            seed=self.seed,
            games=len(self.oracle.games),
            endings=self.oracle.endings,
            faults=self.faults,
            violation=self.violation,
            trace=tuple(_line(*event) for event in self._events),
            digest=self._digest,
        )

    def _play(self) -> None:
        self.loop.executor_delay_ns = self._disk_delay
        self.loop.on_crash = self._server_died
        self.disk.writer_committed = self._committed
        self._draw()
        self._start_server()
        self._operate()
        self._next_fault()
        self._run_until(self._is_done)
        self._is_closing = True
        self._heal()
        self._run_until(self._is_settled)
        for bot in self.bots:
            bot.is_retired = True
            bot.hang_up()
        deadline_ns = self.loop.now_ns + 3 * NS_PER_SECOND
        self._run_until(lambda: self.loop.now_ns > deadline_ns)
        self.oracle.check_played(tournaments=len(self._wanted))
        self._check_rest()

    def _run_until(self, is_done: Callable[[], bool]) -> None:
        loop, count = self.loop, 0
        while True:
            for _ in range(LOOK_EVERY):
                loop.step()
                if self.violation or loop.failures or self._log.events:
                    self._fail()
            count += 1
            self._look()
            if is_done():
                return
            if loop.now_ns > LIMIT_NS:
                raise Violation(f"it hangs: {self._unfinished()}")

    def _fail(self) -> None:
        if not self.violation:
            self.violation = "; ".join([*self.loop.failures, *self._log.events])
        raise Violation(self.violation)

    def _put_away(self) -> None:
        self.disk.writer_committed = _nothing
        self.disk.abandon()
        for server in [*self.buried, *filter(None, [self.server])]:
            self.loop.bury(server.process)

    def note(self, *words: object) -> None:
        """Add to the trace."""
        now_ns = self.loop.now_ns
        self._events.append((now_ns, words))
        self._digest = hash((self._digest, now_ns, len(words)))

    # -- what is in it --------------------------------------------------------------------

    def _draw(self) -> None:
        """Draw the bots, their ways to the server, and the tournaments."""
        rng = self.rng
        names = [f"bot{number}" for number in range(rng.randint(2, 6))]
        for name in names:
            latency_ns = rng.choice([0, MS // 10, MS, MS, 30 * MS])
            self._links[name] = Link(latency_ns, rng.choice([0, MS // 10, 5 * MS]))
            self.bots.append(SimulatedBot(name, self.loop, rng, self, self._temper()))
        for _ in range(rng.randint(1, 3)):
            self._wanted.append(self._tournament(names))

    def _temper(self) -> Temper:
        rng = self.rng
        rare = 0.02
        often = rng.random() < 0.3
        return Temper(
            think_ms=rng.choice([1, 3, 10]),
            slow=rng.choice([0, 0, 0.05]),
            late=rare if rng.random() < 0.2 else 0,
            illegal=rare if rng.random() < 0.3 else 0,
            fail=rare if rng.random() < 0.2 else 0,
            resign=rare if rng.random() < 0.3 else 0,
            double=0.2 if often else 0,
            stale=0.1 if often else 0,
            mute=rng.choice([0, 0, 0.5]),
            goodbye=0.005 if rng.random() < 0.2 else 0,
            max_games=rng.choice([1, 4, 8, 16]),
        )

    def _tournament(self, names: list[str]) -> tournament_service_pb2.TournamentSettings:
        rng = self.rng
        message = tournament_service_pb2.TournamentSettings(
            name="simulated",
            variant=variant_to_proto(rng.choice(VARIANTS)),
            time_control=time_control_to_proto(TimeControl.parse(rng.choice(CONTROLS))),
            seed=rng.randrange(1000),
            max_games=rng.choice([0, 0, 0, 3]),
            unrated=rng.random() < 0.3,
        )
        forms = ["ROUND_ROBIN", "GAUNTLET", "SPRT"] + ["SWISS", "KNOCKOUT"] * (len(names) > 2)
        form = rng.choice(forms)
        message.format = FORMATS.Value(f"TOURNAMENT_FORMAT_{form}")
        bots = list(names)
        if form == "SPRT":
            bots = names[:2]
            message.sprt.most_games = 2 * rng.randint(4, 16)
            message.sprt.elo1 = 5
        elif form == "SWISS":
            message.rounds = rng.randint(2, 3)
            message.swiss.seeding = tournament_service_pb2.SEEDING_GIVEN
        elif form == "KNOCKOUT":
            message.knockout.seeding = tournament_service_pb2.SEEDING_GIVEN
            message.knockout.pairs = rng.randint(1, 2)
        else:
            message.rounds = rng.randint(1, 6)
        message.bots.extend(bots)
        return message

    # -- the server -----------------------------------------------------------------------

    def _start_server(self) -> None:
        self.note("the server starts")
        self.server = SimulatedServer(
            self.loop, self.disk, self._settings, exited=self._server_died
        )

    def _server_died(self, process: Process) -> None:
        assert self.server is not None
        if process is not self.server.process:
            return
        self.note("the server dies after step", process.steps)
        self.buried.append(self.server)
        self.server = None
        self.disk.abandon()
        self.oracle.server_died()
        for bot in self.bots:
            stream = bot.stream
            if stream is not None and stream.server is process:
                stream.is_over_for_server = True
                stream.cut(server_after_ns=0, client_after_ns=self.rng.randrange(50 * MS))
        self.loop.call_after_ns(self._long(), self._start_server, context=self.loop.network)

    def _long(self) -> int:
        """How long a fault lasts: often next to nothing, sometimes long."""
        return int(self.rng.choice([1, 10, 100, 1000]) * MS * self.rng.uniform(0.5, 4))

    def _short(self) -> int:
        """How long the server or its disk is away."""
        return min(self._long(), MOST_OUTAGE_NS)

    def _disk_delay(self) -> int:
        delay_ns = self.rng.randrange(MS // 10, 2 * MS)
        return max(delay_ns, self.disk.hangs_until_ns - self.loop.now_ns)

    # -- what the bots and the streams tell ------------------------------------------------

    def connect(self, bot: SimulatedBot) -> Stream | None:
        """Open a stream, unless no server is there."""
        server = self.server
        if server is None or not server.is_up:
            return None
        stream = Stream(self.loop, self.rng, self._links[bot.name], bot, self)
        server.open(stream)
        return stream

    def written(
        self, stream: Stream, message: play_service_pb2.PlayResponse, delivered_ns: int
    ) -> None:
        """The server has handed a message to the transport."""
        self.note(stream.client.name, "<-", message)
        self._consult(self.oracle.written, stream, message, delivered_ns)

    def arrived(self, stream: Stream, message: play_service_pb2.PlayRequest) -> None:
        """A bot's message has come to the server's machine."""
        self.note(stream.client.name, "->", message)
        self._consult(self.oracle.arrived, stream, message)

    def left(self, stream: Stream) -> None:
        """The server's end of a stream is over."""
        self.note(stream.client.name, "left")
        self._consult(self.oracle.left, stream)

    def _committed(self) -> None:
        self._consult(self.oracle.committed)

    def _consult(self, judge: Callable[..., None], *facts: object) -> None:
        """Have the oracle judge, without disturbing the product in its middle."""
        try:
            judge(*facts)
        except Violation as violation:
            self.violation = self.violation or str(violation)

    def turn_read(self, stream: Stream, game: int, ply: int, answer_ns: int) -> None:
        """A bot has read a turn."""
        ask = self.oracle.ask(stream, game, ply)
        if ask is not None:
            ask.answer_ns = answer_ns

    def stopped_thinking(self, stream: Stream) -> None:
        """A bot has heard of its stream's end."""
        for ask in self.oracle.open_asks(stream):
            if ask.answer_ns is not None:
                ask.answer_ns = min(ask.answer_ns, self.loop.now_ns)

    # -- the operator -----------------------------------------------------------------------

    def _operate(self) -> None:
        """Have made what is not made yet, and take up what was cancelled, again and again."""
        if not self._is_closing:
            self.loop.call_after_ns(50 * MS, self._operate, context=self.loop.network)
        server = self.server
        if server is None or not server.is_up or server.process.is_held:
            return
        for number, wanted in enumerate(self._wanted):
            if number not in self._made:
                if len(self._known_bots()) < len(self.bots):
                    return
                request = tournament_service_pb2.CreateTournamentRequest(
                    settings=wanted, request_id=str(number)
                )

                def made(error: str, number: int = number) -> None:
                    if not error:
                        self._made.add(number)
                    self.note("tournament", number, "made", error)

                server.call("CreateTournament", request, made)
                return
        for tournament in self._tournaments("cancelled"):
            resume = tournament_service_pb2.ResumeTournamentRequest(tournament_id=tournament)
            server.call("ResumeTournament", resume, lambda error: self.note("resumed", error))

    def _known_bots(self) -> list[str]:
        return [name for (name,) in self.disk.reader.execute("SELECT name FROM bot")]

    def _tournaments(self, state: str) -> list[str]:
        query = "SELECT id FROM tournament WHERE state = ?"
        return [str(number) for (number,) in self.disk.reader.execute(query, (state,))]

    def _is_done(self) -> bool:
        if len(self._made) < len(self._wanted):
            return False
        (left,) = self.disk.reader.execute(
            "SELECT count(*) FROM tournament WHERE state <> 'finished'"
        ).fetchone()
        return not left

    def _is_settled(self) -> bool:
        """Whether what is decided has been released, after the last faults."""
        server = self.server
        if server is None or not server.is_up or server.process.is_held:
            return False
        parts = server.parts
        assert parts is not None
        return self._is_done() and not parts.scheduler.runs and not parts.games.running

    # -- faults -----------------------------------------------------------------------------

    def _next_fault(self) -> None:
        if self._is_closing or self.loop.now_ns > self._faults_end_ns:
            return
        delay_ns = int(self.rng.expovariate(1) * 400 * MS)
        self.loop.call_after_ns(delay_ns, self._fault, context=self.loop.network)

    def _fault(self) -> None:
        if self._is_closing:
            return
        kind = self.rng.choice(FAULTS)
        self.faults[kind] += 1
        getattr(self, f"_fault_{kind}")()
        self._next_fault()

    def _later(self, delay_ns: int, do: Callable[..., None], *args: object) -> None:
        self.loop.call_after_ns(delay_ns, do, *args, context=self.loop.network)

    def _strike_again(self, within_ns: int) -> None:
        """Have a bot cut off in an outage now and then: it must not pay for not coming back."""
        if self.rng.random() < 0.5:
            self._later(self.rng.randrange(within_ns), self._fault_cut)

    def _fault_crash(self) -> None:
        if self.server is not None:
            process = self.server.process
            process.crash_at = process.steps + self.rng.randint(1, 200)

    def _fault_freeze(self) -> None:
        server = self.server
        if server is not None and not server.process.is_held:
            self.note("the server is stopped")
            server.process.is_held = True
            self._see_outage()
            delay_ns = self._short()
            self._later(delay_ns, self._thaw, server.process)
            self._strike_again(delay_ns)

    def _thaw(self, process: Process) -> None:
        self.note("the server goes on")
        self.loop.release(process)
        self._see_outage()

    def _fault_disk_fails(self) -> None:
        self.note("the disk fails")
        self.disk.is_failing = True
        self._see_outage()
        delay_ns = self._short()
        self._later(delay_ns, self._heal)
        self._strike_again(delay_ns)

    def _fault_disk_hangs(self) -> None:
        self.note("the disk hangs")
        self.disk.hangs_until_ns = self.loop.now_ns + self._short()
        self._see_outage()
        delay_ns = self.disk.hangs_until_ns - self.loop.now_ns
        self._later(delay_ns, self._see_outage)
        self._strike_again(delay_ns)

    def _fault_lost_answers(self) -> None:
        self.note("answers of the disk are lost")
        self.disk.loses_answers, self.disk.fails_commits = self.rng.choice([(0.5, 0), (0.3, 0.3)])
        self._see_outage()
        self._later(self._short(), self._heal)

    def _heal(self) -> None:
        self.note("the disk is well")
        self.disk.is_failing = False
        self.disk.loses_answers = self.disk.fails_commits = 0.0
        self._see_outage()

    def _see_outage(self) -> None:
        server = self.server
        is_held = server is not None and server.process.is_held
        is_hanging = self.disk.hangs_until_ns > self.loop.now_ns
        if is_held or is_hanging or self.disk.is_away:
            self.oracle.begin_outage()
        else:
            self.oracle.end_outage()

    def _fault_cut(self) -> None:
        bot = self.rng.choice(self.bots)
        if bot.stream is not None and not bot.stream.is_cut:
            self.note("the stream of", bot.name, "is cut")
            bot.stream.cut(
                server_after_ns=self.rng.randrange(40 * MS),
                client_after_ns=self.rng.randrange(40 * MS),
            )

    def _fault_half_open(self) -> None:
        """A bot is back before the server has noticed that it had gone."""
        bot = self.rng.choice(self.bots)
        if bot.stream is not None and not bot.stream.is_cut:
            self.note("the stream of", bot.name, "is cut on one side")
            bot.stream.cut(server_after_ns=self._short(), client_after_ns=0)

    def _fault_stop(self) -> None:
        bot = self.rng.choice(self.bots)
        if not bot.process.is_held and not bot.process.is_dead:
            delay_ns = self._long()
            self.note(bot.name, "is stopped")
            bot.process.is_held = True
            for ask in self.oracle.open_asks(bot.stream):
                if ask.answer_ns is not None:
                    ask.answer_ns += delay_ns
            self._later(delay_ns, self.loop.release, bot.process)

    def _fault_kill(self) -> None:
        bot = self.rng.choice(self.bots)
        self.note(bot.name, "is killed")
        bot.process.is_dead = True
        for ask in self.oracle.open_asks(bot.stream):
            ask.is_own_end = True
        if bot.stream is not None and not bot.stream.is_cut:
            bot.hang_up()
        bot.restart(self._long())

    def _fault_cancel(self) -> None:
        running = self._tournaments("running")
        if running and self.server is not None and self.server.is_up:
            tournament = self.rng.choice(running)
            self.note("tournament", tournament, "is cancelled")
            request = tournament_service_pb2.CancelTournamentRequest(tournament_id=tournament)
            self.server.call(
                "CancelTournament", request, lambda error: self.note("cancelled", error)
            )

    def _fault_void(self) -> None:
        known = list(self.oracle.games)[-20:]
        if known and self.server is not None and self.server.is_up:
            game = self.rng.choice(known)
            self.note("game", game, "is to be void")
            request = game_service_pb2.VoidGameRequest(game_id=str(game), reason="drawn by lot")
            self.server.call("VoidGame", request, lambda error: self.note("voided", error))

    # -- the whole state --------------------------------------------------------------------

    def _look(self) -> None:
        """Hold what the server counts against what there is."""
        server = self.server
        if server is None:
            return
        require(not server.failures, f"the server has failed: {server.failures}")
        if server.parts is None:
            return
        parts = server.parts
        games = parts.games.running
        for run in parts.scheduler.runs.values():
            count = sum(game.run is run for game in games.values())
            require(run.running == count, f"{run.running} games are counted, {count} run")
        for player in parts.lobby.players.values():
            mine = {game.number for game in games.values() if player in (game.black, game.white)}
            require(set(player.games) == mine, f"{player.name} has {set(player.games)} of {mine}")
            require(player.session or mine, f"{player.name} is known though it is gone")
        for game in games.values():
            require(game.arbiter.outcome is None, f"game {game.id} runs though it is over")

    def _check_rest(self) -> None:
        """Nothing is left of games and bots that are gone."""
        server = self.server
        assert server is not None
        assert server.parts is not None
        parts = server.parts
        require(not parts.lobby.players, f"left in the lobby: {parts.lobby.players}")
        require(not parts.scheduler.runs, f"still played: {parts.scheduler.runs}")
        require(not parts.games.running, f"still running: {parts.games.running}")
        require(not parts.games._ending, f"still ending: {parts.games._ending}")
        tasks = [task for task in server.process.tasks if not task.done()]
        require(len(tasks) == server.lasting, f"left over: {tasks}")

    def _unfinished(self) -> str:
        query = """
            SELECT pairing.id, game.id, game.state FROM pairing
            LEFT JOIN game ON game.pairing_id = pairing.id AND game.state <> 'void'
            WHERE game.state IS NULL OR game.state <> 'finished'
        """
        rows = self.disk.reader.execute(query).fetchall()
        return f"pairing, game and state of {len(rows)}: {rows[:5]}; {self._made} made"


FAULTS = [
    "crash",
    "freeze",
    "disk_fails",
    "disk_hangs",
    "lost_answers",
    "cut",
    "half_open",
    "stop",
    "kill",
    "cancel",
    "void",
]


def _nothing() -> None:
    pass


def _line(now_ns: int, words: tuple[object, ...]) -> str:
    return f"{now_ns / NS_PER_SECOND:.6f} " + " ".join(" ".join(map(str, words)).split())


@contextmanager
def _quiet(failures: Failures) -> Iterator[None]:
    """Have errors that the product logs kept, and nothing printed."""
    before = structlog.get_config()
    structlog.configure(
        processors=[failures],
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.configure(**before)
