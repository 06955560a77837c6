"""The parts of a server, put together."""

from collections.abc import Coroutine
from random import Random

from meijin.programs.depot import Depot, open_depot
from meijin.server.access.challenges import ChallengeControl
from meijin.server.access.last_seen import LastSeen
from meijin.server.access.last_uses import LastUses
from meijin.server.access.open_calls import OpenCalls
from meijin.server.access.people import People
from meijin.server.hosting.admissions import AdmissionWatch
from meijin.server.hosting.retention import ProgramRetention
from meijin.server.job_sender import JobSender, open_admission_queue
from meijin.server.match.actions import ActionHandler
from meijin.server.match.feed import Feed
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.deadlines import Deadlines
from meijin.server.match.live.listeners import Listeners
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.lobby import Lobby
from meijin.server.match.observers import GameLog, GameRate, GameSpans
from meijin.server.match.presence.incidents import Incidents
from meijin.server.match.presence.lost_moves import LostMoves
from meijin.server.match.presence.silence import SilenceWatch
from meijin.server.match.presence.watchdog import Watchdog
from meijin.server.match.stalls import StallWatch
from meijin.server.settings import Admission, Reading, Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.server.tournaments.creation import Creator
from meijin.server.tournaments.pauses import Pauses
from meijin.server.tournaments.planner import Planner
from meijin.server.tournaments.program_watch import ProgramWatch
from meijin.server.tournaments.recovery import LastIds
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.server.tournaments.scheduler import Scheduler
from meijin.server.tournaments.workers import Workers
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.store import Writer
from meijin.store.fence import Fence
from meijin.store.move_log.log import MoveLog
from meijin.store.schema import ProgramId
from meijin.wire.contract import PROGRAM_FOLDER


class Parts:
    """Everything in a server but its services, each part made with those that it needs.

    Args:
        last: The ids given so far.
        move_log: Takes the moves; without one the database does.
    """

    def __init__(
        self,
        settings: Settings,
        writer: Writer,
        fence: Fence,
        storage: Storage,
        *,
        redis_url: str,
        last: LastIds,
        move_log: MoveLog | None = None,
        tracer: Tracer = NO_TRACER,
    ) -> None:
        self.writer, self.storage, self.tracer = writer, storage, tracer
        self.watch = watch = StallWatch()
        self.listeners = listeners = Listeners()
        self.feed = feed = Feed()
        self.store_watch = store_watch = StoreWatch(watch)
        self.refreshes = RefreshSender(redis_url)
        self.depot = _open_depot(settings) if settings.hosting else None
        self.admissions = AdmissionWatch(storage)
        self.examinations = JobSender[ProgramId](redis_url, open_admission_queue)
        self.journal = journal = Journal(
            writer,
            fence,
            store_watch,
            last_entry=last.entry,
            last_end=last.end,
            kept=last.kept,
            move_log=move_log,
            tracer=tracer,
        )
        deadlines = Deadlines()
        self.lobby = lobby = Lobby(
            watch,
            listeners,
            deadlines=deadlines,
            grace=settings.grace,
            max_notices=settings.max_notices,
            needs_doctor=settings.admission is Admission.DOCTOR,
            last_game=last.game,
        )
        self.games = games = Games(
            lobby,
            journal,
            listeners,
            watch,
            store_watch,
            deadlines=deadlines,
            grace=settings.grace,
            margin=settings.margin,
            last_game=last.game,
        )
        self.incidents = Incidents(games, journal, store_watch)
        silence = SilenceWatch(lobby, listeners, keepalive=settings.keepalive, rng=Random())  # noqa: S311 - a sample is no secret
        self.scheduler = Scheduler(lobby, games, journal, Pauses(settings.max_faults))
        self.workers = Workers(self.scheduler, games)
        self.programs = ProgramWatch(
            storage, self.scheduler.seats, cpu_quota=settings.owner_program_cpu
        )
        self.admissions.listeners.append(lambda _: self.programs.due.set())
        self.game_rate = GameRate(watch)
        # The order in which they hear: a tournament counts a game before anybody looks at it.
        listeners.add(self.scheduler, feed, self.refreshes, GameLog(tracer))
        listeners.add(self.incidents, self.game_rate, LostMoves(games))
        if tracer.is_on:
            listeners.add(GameSpans(tracer))
        self.actions = ActionHandler(games, journal, watch)
        self.watchdog = Watchdog(
            watch, lobby, games, self.incidents, silence, write_timeout=settings.write_timeout
        )
        self.creator = Creator(storage, settings, lobby.able)
        self.planner = Planner(self.scheduler, storage, feed, settings.time_classes)
        self.control = TournamentControl(
            games, journal, self.scheduler, storage, refreshes=self.refreshes, feed=feed
        )
        self.calls = OpenCalls()
        self.uses = LastUses(storage, self.calls)
        self.seen = LastSeen(storage, lobby)
        self.challenges = ChallengeControl(
            storage, lobby, self.scheduler, self.control, settings=settings
        )
        takes_people = settings.people and settings.reading is Reading.ANYONE
        self.people = People(storage, lobby, self.challenges, is_open=takes_people)

    def tasks(self) -> list[Coroutine[None, None, None]]:
        """What runs as long as the server does."""
        games = self.games
        return [
            *self.journal.tasks(games.release, games.running.values()),
            self.store_watch.beat(self.writer, self.journal.log_mark),
            self.watchdog.watch_clocks(),
            self.watchdog.measure_lag(),
            self.watchdog.drop_stalled_streams(),
            self.refreshes.run(),
            self.planner.run(),
            self.creator.run(),
            self.uses.run(),
            self.seen.run(),
            self.people.run(),
            *([] if self.depot is None else self._hosting_tasks(self.depot)),
        ]

    def _hosting_tasks(self, depot: Depot) -> list[Coroutine[None, None, None]]:
        retention = ProgramRetention(depot, self.storage)
        watches = (self.admissions, self.examinations, self.programs, retention)
        return [each.run() for each in watches]


def _open_depot(settings: Settings) -> Depot:
    """Where programs are kept; what has come of an upload stays on this machine until it is whole."""
    return open_depot(settings.depot, incoming=settings.data / PROGRAM_FOLDER / "incoming")
