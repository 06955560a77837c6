"""Faults: what is done to the server, its disk, the streams and the bots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from google.protobuf.message import Message
from tests.simulation.loop import NS_PER_SECOND, Process
from tests.simulation.scene import Scene

from meijin.v1 import game_service_pb2, tournament_service_pb2

MS = 1_000_000
LAST_FAULT_NS = 30 * NS_PER_SECOND
"""From some time before on nothing fails any more, so that what is lost stays lost."""

MOST_OUTAGE_NS = 4000 * MS
"""The longest that a server is stopped or its disk away; it may be dead for longer."""

MOST_STEPS = 40
"""Of the disk, before the power is cut."""

STEPS_OF_START = 12
"""The power is cut once more within this many steps of the next start, now and then."""


class Faults:
    """Has faults strike at random until a random instant."""

    def __init__(self, scene: Scene) -> None:
        self.counts: Counter[str] = Counter()
        """By kind, how many have struck."""
        self._scene = scene
        scene.disk.refused = self._see_outage
        self._end_ns = scene.rng.randrange(NS_PER_SECOND // 2, LAST_FAULT_NS)
        self._kinds: dict[str, Callable[[], None]] = {
            "crash": self._crash,
            "freeze": self._freeze,
            "standstill": self._standstill,
            "disk_fails": self._fail_disk,
            "disk_hangs": self._hang_disk,
            "lost_answers": self._lose_answers,
            "cut": self._cut,
            "half_open": self._half_open,
            "stop": self._stop_bot,
            "kill": self._kill_bot,
            "cancel": self._cancel,
            "void": self._void,
            "power_cut": self._cut_power,
        }

    def strike(self) -> None:
        """Have the next fault strike after a while, until the last."""
        scene = self._scene
        if not scene.is_closing and scene.loop.now_ns <= self._end_ns:
            scene.later(int(scene.rng.expovariate(1) * 400 * MS), self._fault)

    def _fault(self) -> None:
        if self._scene.is_closing:
            return
        kind = self._scene.rng.choice(list(self._kinds))
        self.counts[kind] += 1
        self._kinds[kind]()
        self.strike()

    # -- the server and its disk ------------------------------------------------------------

    def _crash(self) -> None:
        scene = self._scene
        if scene.server is not None:
            process = scene.server.process
            process.crash_at = process.steps + scene.rng.randint(1, 200)

    def _cut_power(self) -> None:
        """What a log that waits for no disk has told may be lost by one: then the server dies alone."""
        disk = self._scene.disk
        if disk.keeps_log and disk.syncs_log:
            disk.calls.cut_at = disk.calls.steps + self._scene.rng.randint(1, MOST_STEPS)
        else:
            self._crash()

    def power_is_back(self) -> None:
        """Have it cut again now and then, while the server starts."""
        scene = self._scene
        if not scene.is_closing and scene.rng.random() < 0.3:
            scene.disk.calls.cut_at = scene.rng.randint(1, STEPS_OF_START)

    def _outage(self, words: str, begin: Callable[[int], None], end: Callable[[], None]) -> None:
        """Have the server or its disk away for a while.

        Now and then a bot is cut off meanwhile: it must not pay for not coming back.
        """
        scene = self._scene
        scene.note(words)
        delay_ns = min(scene.long_ns(), MOST_OUTAGE_NS)
        begin(scene.loop.now_ns + delay_ns)
        self._see_outage()
        scene.later(delay_ns, end)
        if scene.rng.random() < 0.5:
            scene.later(scene.rng.randrange(delay_ns), self._cut)

    def _freeze(self) -> None:
        server = self._scene.server
        if server is not None and not server.process.is_held:
            process = server.process
            self._outage(
                "the server is stopped",
                lambda _: setattr(process, "is_held", True),
                lambda: self._thaw(process),
            )

    def _thaw(self, process: Process) -> None:
        self._scene.note("the server goes on")
        self._scene.loop.release(process)
        self._see_outage()

    def _standstill(self) -> None:
        """The threads that serve streams stand still, and the event loop does not notice."""
        threads = self._scene.threads
        self._outage(
            "the server's threads stand still",
            lambda until_ns: setattr(threads, "stand_until_ns", until_ns),
            self._see_outage,
        )

    def _fail_disk(self) -> None:
        disk = self._scene.disk
        self._outage("the disk fails", lambda _: setattr(disk, "is_failing", True), self.heal)

    def _hang_disk(self) -> None:
        disk = self._scene.disk
        self._outage(
            "the disk hangs",
            lambda until_ns: setattr(disk, "hangs_until_ns", until_ns),
            self._see_outage,
        )

    def _lose_answers(self) -> None:
        scene = self._scene
        scene.note("answers of the disk are lost")
        chances = scene.rng.choice([(0.5, 0), (0.3, 0.3)])
        scene.disk.loses_answers, scene.disk.fails_commits = chances
        scene.later(min(scene.long_ns(), MOST_OUTAGE_NS), self.heal)

    def heal(self) -> None:
        self._scene.note("the disk is well")
        self._scene.disk.well()
        self._see_outage()

    def _see_outage(self) -> None:
        scene = self._scene
        is_held = scene.server is not None and scene.server.process.is_held
        until_ns = max(scene.disk.hangs_until_ns, scene.threads.stand_until_ns)
        if is_held or until_ns > scene.loop.now_ns or scene.disk.is_away:
            scene.oracle.presence.begin_outage()
        else:
            scene.oracle.presence.end_outage()

    # -- streams and bots -------------------------------------------------------------------

    def _cut(self) -> None:
        rng = self._scene.rng
        self._cut_stream("is cut", lambda: rng.randrange(40 * MS), lambda: rng.randrange(40 * MS))

    def _half_open(self) -> None:
        """A bot is back before the server has noticed that it had gone."""
        self._cut_stream(
            "is cut on one side", lambda: min(self._scene.long_ns(), MOST_OUTAGE_NS), lambda: 0
        )

    def _cut_stream(
        self, words: str, server_after_ns: Callable[[], int], client_after_ns: Callable[[], int]
    ) -> None:
        bot = self._scene.rng.choice(self._scene.bots)
        if bot.stream is not None and not bot.stream.is_cut:
            self._scene.note("the stream of", bot.name, words)
            bot.stream.cut(server_after_ns=server_after_ns(), client_after_ns=client_after_ns())

    def _stop_bot(self) -> None:
        scene = self._scene
        bot = scene.rng.choice(scene.bots)
        if not bot.process.is_held and not bot.process.is_dead:
            delay_ns = scene.long_ns()
            scene.note(bot.name, "is stopped")
            bot.process.is_held = True
            for ask in scene.oracle.books.open_asks(bot.stream):
                if ask.answer_ns is not None:
                    ask.answer_ns += delay_ns
            scene.later(delay_ns, scene.loop.release, bot.process)

    def _kill_bot(self) -> None:
        scene = self._scene
        bot = scene.rng.choice(scene.bots)
        scene.note(bot.name, "is killed")
        bot.process.is_dead = True
        for ask in scene.oracle.books.open_asks(bot.stream):
            ask.is_own_end = True
        if bot.stream is not None and not bot.stream.is_cut:
            bot.hang_up()
        bot.restart(scene.long_ns())

    # -- the operator -----------------------------------------------------------------------

    def _cancel(self) -> None:
        running = self._scene.tournaments("running")
        if running:
            request = tournament_service_pb2.UpdateTournamentRequest(
                tournament_id=self._scene.rng.choice(running),
                state=tournament_service_pb2.TOURNAMENT_STATE_CANCELLED,
            )
            self._call("UpdateTournament", request)

    def _void(self) -> None:
        known = list(self._scene.oracle.books.games)[-20:]
        if known:
            game_id = str(self._scene.rng.choice(known))
            request = game_service_pb2.VoidGameRequest(game_id=game_id, reason="drawn by lot")
            self._call("VoidGame", request)

    def _call(self, method: str, request: Message) -> None:
        scene = self._scene
        if scene.server is not None and scene.server.is_up:
            scene.note(method, request)
            scene.server.call(method, request, lambda error: scene.note(method, error))
