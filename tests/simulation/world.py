"""A world: a server, its disk, bots and faults, all drawn from one seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from tests.simulation.bot import SimulatedBot
from tests.simulation.counts import check_counts, check_rest, unfinished
from tests.simulation.disk import Disk
from tests.simulation.draws import FREE_VARIANTS, VARIANTS, draw_link, draw_temper, draw_tournament
from tests.simulation.error_log import ErrorLog
from tests.simulation.faults import MOST_OUTAGE_NS, Faults
from tests.simulation.hostile import DOCUMENTED, HOSTILE, HostileBot
from tests.simulation.loop import NS_PER_SECOND, Process
from tests.simulation.network import Link, Stream
from tests.simulation.operations import Operator
from tests.simulation.oracle.violation import Violation
from tests.simulation.scene import Scene
from tests.simulation.server import SimulatedServer, simulated_surroundings

from meijin.server.settings import Settings
from meijin.v1 import play_service_pb2

MS = 1_000_000
LIMIT_NS = 200 * NS_PER_SECOND
"""In this time every world is done; one that is not hangs."""

REST_NS = 3 * NS_PER_SECOND + MOST_OUTAGE_NS
"""After the last game, for what is under way to end: the disk may have been hanging."""

LOOK_EVERY = 64
"""Callbacks between two looks at the whole state of the server."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a world."""

    seed: int
    games: int
    endings: Counter[str]
    faults: Counter[str]
    streams: Counter[str]
    """How those of hostile bots ended: by the reason, `OK`, or `cut`."""
    violation: str
    """Empty when everything was as it must be."""
    trace: tuple[str, ...]
    """The last events before the violation."""
    digest: int
    """Of the instants of all events."""


class World:
    """One run: everything that happens follows from the seed and the product.

    Args:
        is_hostile: Whether some of the bots say anything at all.
    """

    def __init__(self, seed: int, disk: Disk, settings: Settings, *, is_hostile: bool) -> None:
        self.violation = ""
        grace_ns = settings.grace // timedelta(microseconds=1) * 1000
        self._seed = seed
        self._is_hostile = is_hostile
        self._streams: Counter[str] = Counter()
        self._settings = settings
        self._scene = Scene(seed, disk, grace_ns=grace_ns)
        self._faults = Faults(self._scene)
        self._operator = Operator(self._scene)
        self._log = ErrorLog()
        self._links: dict[str, Link] = {}
        self._buried: list[SimulatedServer] = []

    def run(self) -> Report:
        scene = self._scene
        scene.disk.reset(keeps_log=self._seed % 2 == 0, syncs_log=self._seed % 4 == 0)
        state = random.getstate()
        with ExitStack() as stack:
            stack.callback(random.setstate, state)
            random.seed(self._seed)
            stack.enter_context(self._log.listening())
            stack.enter_context(simulated_surroundings(scene.loop, scene.rng, scene.threads))
            stack.enter_context(scene.disk.calls.made())
            stack.enter_context(scene.loop.running())
            try:
                self._play()
            except Violation as violation:
                self.violation = self.violation or str(violation)
            finally:
                self._put_away()
        return Report(
            seed=self._seed,
            games=len(scene.oracle.books.games),
            endings=scene.oracle.endings,
            faults=self._faults.counts,
            streams=self._streams,
            violation=self.violation,
            trace=scene.trace,
            digest=scene.digest,
        )

    def _play(self) -> None:
        scene = self._scene
        scene.loop.executor_delay_ns = self._disk_delay
        scene.loop.on_crash = self._server_died
        oracle = scene.oracle
        scene.disk.writer_committed = partial(self._consult, oracle.committed)
        scene.disk.logged = partial(self._consult, oracle.logged)
        scene.disk.synced = oracle.synced
        scene.disk.log_cut = partial(self._consult, oracle.check_journal)
        scene.disk.calls.on_cut = self._power_cut
        self._draw()
        self._start_server()
        self._operator.operate()
        self._faults.strike()
        self._run_until(self._is_done)
        scene.is_closing = True
        scene.disk.calls.cut_at = 0
        self._faults.heal()
        self._run_until(self._is_settled)
        for bot in scene.bots:
            bot.is_retired = True
            bot.hang_up()
        deadline_ns = scene.loop.now_ns + REST_NS
        self._run_until(lambda: scene.loop.now_ns > deadline_ns)
        scene.oracle.check_played(tournaments=len(self._operator.wanted))
        assert scene.server is not None
        check_rest(scene.server)

    def _run_until(self, is_done: Callable[[], bool]) -> None:
        scene = self._scene
        while True:
            for _ in range(LOOK_EVERY):
                scene.loop.step()
                if self.violation or scene.loop.failures or self._log.events:
                    self._fail()
            if scene.server is not None:
                check_counts(scene.server)
            if is_done():
                return
            if scene.loop.now_ns > LIMIT_NS:
                left, made = unfinished(scene.disk), self._operator.made
                raise Violation(f"it hangs: {left}; {made} made")

    def _fail(self) -> None:
        if not self.violation:
            self.violation = "; ".join([*self._scene.loop.failures, *self._log.events])
        raise Violation(self.violation)

    def _put_away(self) -> None:
        scene = self._scene
        scene.disk.writer_committed = scene.disk.synced = scene.disk.log_cut = _nothing
        scene.disk.calls.on_cut = _nothing
        scene.disk.logged = lambda _: None
        scene.disk.abandon()
        for server in [*self._buried, *filter(None, [scene.server])]:
            scene.loop.bury(server.process)

    def _draw(self) -> None:
        """Draw the bots, their ways to the server, and the tournaments."""
        scene, rng = self._scene, self._scene.rng
        for number in range(rng.randint(2, 6)):
            bot = SimulatedBot(f"bot{number}", scene.loop, rng, self, draw_temper(rng))
            scene.bots.append(bot)
        if self._is_hostile:
            scene.bots += [HostileBot(place, scene.loop, rng, self) for place in range(HOSTILE)]
        names = [bot.name for bot in scene.bots]
        self._links = {name: draw_link(rng) for name in names}
        variants = FREE_VARIANTS if self._is_hostile else VARIANTS
        for _ in range(rng.randint(1, 3)):
            self._operator.wanted.append(draw_tournament(rng, names, variants))

    def _is_done(self) -> bool:
        if len(self._operator.made) < len(self._operator.wanted):
            return False
        (left,) = self._scene.disk.reader.execute(
            "SELECT count(*) FROM tournament WHERE state <> 'finished'"
        ).fetchone()
        return not left

    def _is_settled(self) -> bool:
        """Whether what is decided has been released, after the last faults."""
        server = self._scene.server
        if server is None or not server.is_up or server.process.is_held:
            return False
        parts = server.parts
        assert parts is not None
        return self._is_done() and not parts.scheduler.runs and not parts.games.running

    # -- the server -----------------------------------------------------------------------

    def _start_server(self) -> None:
        scene = self._scene
        scene.note("the server starts")
        scene.server = SimulatedServer(
            scene.loop, scene.disk, self._settings, exited=self._server_died
        )

    def _server_died(self, process: Process) -> None:
        scene = self._scene
        assert scene.server is not None
        if process is not scene.server.process:
            return
        scene.note("the server dies after step", process.steps)
        scene.disk.abandon()
        scene.oracle.server_died()
        self._server_is_gone(process)

    def _power_cut(self) -> None:
        """Before a step of its disk the server dies: what it is in the middle of is given up."""
        scene = self._scene
        assert scene.server is not None
        scene.note("the power is cut before step", scene.disk.calls.steps, "of the disk")
        scene.server.process.is_dead = True
        scene.later(0, self._power_is_back, scene.server.process)

    def _power_is_back(self, process: Process) -> None:
        scene = self._scene
        scene.disk.cut_power(scene.rng)
        self._consult(scene.oracle.power_cut)
        self._server_is_gone(process)
        self._faults.power_is_back()

    def _server_is_gone(self, process: Process) -> None:
        scene = self._scene
        assert scene.server is not None
        self._buried.append(scene.server)
        scene.server = None
        for bot in scene.bots:
            stream = bot.stream
            if stream is not None and stream.server is process:
                stream.is_over_for_server = True
                stream.cut(server_after_ns=0, client_after_ns=scene.rng.randrange(50 * MS))
        scene.later(scene.long_ns(), self._start_server)

    def _disk_delay(self) -> int:
        scene = self._scene
        delay_ns = scene.rng.randrange(MS // 10, 2 * MS)
        return max(delay_ns, scene.disk.hangs_until_ns - scene.loop.now_ns)

    # -- what the bots and the streams tell ------------------------------------------------

    def connect(self, bot: SimulatedBot) -> Stream | None:
        scene, server = self._scene, self._scene.server
        if server is None or not server.is_up:
            return None
        stream = Stream(
            scene.loop, scene.rng, self._links[bot.name], bot, self, threads=scene.threads
        )
        server.open(stream)
        return stream

    def written(
        self, stream: Stream, message: play_service_pb2.PlayResponse, delivered_ns: int
    ) -> None:
        """The server has handed a message to the transport."""
        self._scene.note(stream.client.name, "<-", message)
        self._consult(self._scene.oracle.written, stream, message, delivered_ns)

    def arrived(self, stream: Stream, message: play_service_pb2.PlayRequest) -> None:
        """A bot's message has come to the server's machine."""
        self._scene.note(stream.client.name, "->", message)
        self._consult(self._scene.oracle.arrived, stream, message)

    def left(self, stream: Stream) -> None:
        self._scene.note(stream.client.name, "left")
        assert stream.server is not None
        if stream.client.is_hostile and not stream.server.is_dead:
            end = "cut" if stream.is_cut else stream.reason or "OK"
            self._streams[end] += 1
            if end not in DOCUMENTED:
                self.violation = self.violation or f"a stream ended by {end}"
        self._consult(self._scene.oracle.left, stream)

    def _consult(self, judge: Callable[..., None], *facts: object) -> None:
        """Have the oracle judge, without disturbing the product in its middle."""
        try:
            judge(*facts)
        except Violation as violation:
            self.violation = self.violation or str(violation)

    def turn_read(self, stream: Stream, game: int, ply: int, answer_ns: int) -> None:
        ask = self._scene.oracle.books.ask(stream, game, ply)
        if ask is not None:
            ask.answer_ns = answer_ns

    def stopped_thinking(self, stream: Stream) -> None:
        for ask in self._scene.oracle.books.open_asks(stream):
            if ask.answer_ns is not None:
                ask.answer_ns = min(ask.answer_ns, self._scene.loop.now_ns)


def _nothing() -> None:
    pass
