"""Faults: what is done to the server, its disk, the streams and the bots."""

from __future__ import annotations

from collections import Counter

from tests.simulation.loop import NS_PER_SECOND, Process
from tests.simulation.scene import Scene

from meijin.v1 import game_service_pb2, tournament_service_pb2

MS = 1_000_000
LAST_FAULT_NS = 30 * NS_PER_SECOND
"""From some time before on nothing fails any more, so that what is lost stays lost."""

MOST_OUTAGE_NS = 4000 * MS
"""The longest that a server is stopped or its disk away; it may be dead for longer."""

FAULTS = [
    "crash",
    "freeze",
    "standstill",
    "disk_fails",
    "disk_hangs",
    "lost_answers",
    "cut",
    "half_open",
    "stop",
    "kill",
    "cancel",
    "void",
    "power_cut",
]

MOST_STEPS = 40
"""Of the disk, before the power is cut."""

STEPS_OF_START = 12
"""The power is cut once more within so many steps of the next start, now and then."""


class Faults:
    """Has faults strike at random until a random instant."""

    def __init__(self, scene: Scene) -> None:
        self.counts: Counter[str] = Counter()
        """By kind, how many have struck."""
        self._scene = scene
        scene.disk.refused = self._see_outage
        self._end_ns = scene.rng.randrange(NS_PER_SECOND // 2, LAST_FAULT_NS)

    def _short_ns(self) -> int:
        """How long the server or its disk is away."""
        return min(self._scene.long_ns(), MOST_OUTAGE_NS)

    def strike(self) -> None:
        """Have the next fault strike after a while, until the last."""
        scene = self._scene
        if scene.is_closing or scene.loop.now_ns > self._end_ns:
            return
        delay_ns = int(scene.rng.expovariate(1) * 400 * MS)
        scene.later(delay_ns, self._fault)

    def _fault(self) -> None:
        if self._scene.is_closing:
            return
        kind = self._scene.rng.choice(FAULTS)
        self.counts[kind] += 1
        getattr(self, f"_fault_{kind}")()
        self.strike()

    def _strike_again(self, within_ns: int) -> None:
        """Have a bot cut off in an outage now and then: it must not pay for not coming back."""
        scene = self._scene
        if scene.rng.random() < 0.5:
            scene.later(scene.rng.randrange(within_ns), self._fault_cut)

    def _fault_crash(self) -> None:
        scene = self._scene
        if scene.server is not None:
            process = scene.server.process
            process.crash_at = process.steps + scene.rng.randint(1, 200)

    def _fault_power_cut(self) -> None:
        """What a log that waits for no disk has told may be lost by one: then the server dies alone."""
        disk = self._scene.disk
        if disk.keeps_log and disk.syncs_log:
            disk.calls.cut_at = disk.calls.steps + self._scene.rng.randint(1, MOST_STEPS)
        else:
            self._fault_crash()

    def power_is_back(self) -> None:
        """Have it cut again now and then, while the server starts."""
        scene = self._scene
        if not scene.is_closing and scene.rng.random() < 0.3:
            scene.disk.calls.cut_at = scene.rng.randint(1, STEPS_OF_START)

    def _fault_freeze(self) -> None:
        scene = self._scene
        server = scene.server
        if server is not None and not server.process.is_held:
            scene.note("the server is stopped")
            server.process.is_held = True
            self._see_outage()
            delay_ns = self._short_ns()
            scene.later(delay_ns, self._thaw, server.process)
            self._strike_again(delay_ns)

    def _fault_standstill(self) -> None:
        """The threads that serve streams stand still, and the event loop does not notice."""
        scene = self._scene
        scene.note("the server's threads stand still")
        scene.threads.stand_until_ns = scene.loop.now_ns + self._short_ns()
        self._see_outage()
        delay_ns = scene.threads.stand_until_ns - scene.loop.now_ns
        scene.later(delay_ns, self._see_outage)
        self._strike_again(delay_ns)

    def _thaw(self, process: Process) -> None:
        self._scene.note("the server goes on")
        self._scene.loop.release(process)
        self._see_outage()

    def _fault_disk_fails(self) -> None:
        scene = self._scene
        scene.note("the disk fails")
        scene.disk.is_failing = True
        self._see_outage()
        delay_ns = self._short_ns()
        scene.later(delay_ns, self.heal)
        self._strike_again(delay_ns)

    def _fault_disk_hangs(self) -> None:
        scene = self._scene
        scene.note("the disk hangs")
        scene.disk.hangs_until_ns = scene.loop.now_ns + self._short_ns()
        self._see_outage()
        delay_ns = scene.disk.hangs_until_ns - scene.loop.now_ns
        scene.later(delay_ns, self._see_outage)
        self._strike_again(delay_ns)

    def _fault_lost_answers(self) -> None:
        scene = self._scene
        scene.note("answers of the disk are lost")
        scene.disk.loses_answers, scene.disk.fails_commits = scene.rng.choice(
            [(0.5, 0), (0.3, 0.3)]
        )
        scene.later(self._short_ns(), self.heal)

    def heal(self) -> None:
        """Have the disk do what it is asked again."""
        scene = self._scene
        scene.note("the disk is well")
        scene.disk.well()
        self._see_outage()

    def _see_outage(self) -> None:
        scene = self._scene
        server = scene.server
        is_held = server is not None and server.process.is_held
        is_hanging = (
            max(scene.disk.hangs_until_ns, scene.threads.stand_until_ns) > scene.loop.now_ns
        )
        if is_held or is_hanging or scene.disk.is_away:
            scene.oracle.presence.begin_outage()
        else:
            scene.oracle.presence.end_outage()

    def _fault_cut(self) -> None:
        scene = self._scene
        bot = scene.rng.choice(scene.bots)
        if bot.stream is not None and not bot.stream.is_cut:
            scene.note("the stream of", bot.name, "is cut")
            bot.stream.cut(
                server_after_ns=scene.rng.randrange(40 * MS),
                client_after_ns=scene.rng.randrange(40 * MS),
            )

    def _fault_half_open(self) -> None:
        """A bot is back before the server has noticed that it had gone."""
        scene = self._scene
        bot = scene.rng.choice(scene.bots)
        if bot.stream is not None and not bot.stream.is_cut:
            scene.note("the stream of", bot.name, "is cut on one side")
            bot.stream.cut(server_after_ns=self._short_ns(), client_after_ns=0)

    def _fault_stop(self) -> None:
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

    def _fault_kill(self) -> None:
        scene = self._scene
        bot = scene.rng.choice(scene.bots)
        scene.note(bot.name, "is killed")
        bot.process.is_dead = True
        for ask in scene.oracle.books.open_asks(bot.stream):
            ask.is_own_end = True
        if bot.stream is not None and not bot.stream.is_cut:
            bot.hang_up()
        bot.restart(scene.long_ns())

    def _fault_cancel(self) -> None:
        scene = self._scene
        running = scene.tournaments("running")
        if running and scene.server is not None and scene.server.is_up:
            tournament = scene.rng.choice(running)
            scene.note("tournament", tournament, "is cancelled")
            request = tournament_service_pb2.UpdateTournamentRequest(
                tournament_id=tournament, state=tournament_service_pb2.TOURNAMENT_STATE_CANCELLED
            )
            scene.server.call(
                "UpdateTournament", request, lambda error: scene.note("cancelled", error)
            )

    def _fault_void(self) -> None:
        scene = self._scene
        known = list(scene.oracle.books.games)[-20:]
        if known and scene.server is not None and scene.server.is_up:
            game = scene.rng.choice(known)
            scene.note("game", game, "is to be void")
            request = game_service_pb2.VoidGameRequest(game_id=str(game), reason="drawn by lot")
            scene.server.call("VoidGame", request, lambda error: scene.note("voided", error))
