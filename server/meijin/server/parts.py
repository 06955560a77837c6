"""The parts of a server, put together."""

from collections.abc import Coroutine
from dataclasses import dataclass
from random import Random

from meijin.server.access.bot_control import BotControl
from meijin.server.access.challenge_budget import Budgets
from meijin.server.access.challenges import ChallengeControl
from meijin.server.access.classes import ClassControl
from meijin.server.access.last_seen import LastSeen
from meijin.server.access.last_uses import LastUses
from meijin.server.access.open_calls import OpenCalls
from meijin.server.access.owners import OwnerControl
from meijin.server.access.people import People
from meijin.server.access.permissions import Policy
from meijin.server.access.token_control import TokenControl
from meijin.server.match.actions import ActionHandler
from meijin.server.match.arbiter.stalls import StallWatch
from meijin.server.match.feed import Feed
from meijin.server.match.games import Games
from meijin.server.match.incidents import Incidents
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.deadlines import Deadlines
from meijin.server.match.live.listeners import Listeners
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.lobby import Lobby
from meijin.server.match.lost_moves import LostMoves
from meijin.server.match.observers.game_log import GameLog
from meijin.server.match.observers.game_rate import GameRate
from meijin.server.match.observers.game_spans import GameSpans
from meijin.server.match.silence import SilenceWatch
from meijin.server.match.watchdog import Watchdog
from meijin.server.process.operator_token import OperatorTokenFile
from meijin.server.settings import Admission, Reading, Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.server.tournaments.creation import Creator
from meijin.server.tournaments.owner_limits import OwnerLimits
from meijin.server.tournaments.pauses import Pauses
from meijin.server.tournaments.planner import Planner
from meijin.server.tournaments.recovery import LastIds
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.server.tournaments.scheduler import Scheduler
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.store import Writer
from meijin.store.fence import Fence
from meijin.store.move_log.log import MoveLog


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything in a server but its services."""

    writer: Writer
    storage: Storage
    watch: StallWatch
    store_watch: StoreWatch
    listeners: Listeners
    lobby: Lobby
    journal: Journal
    games: Games
    actions: ActionHandler
    watchdog: Watchdog
    incidents: Incidents
    feed: Feed
    game_rate: GameRate
    scheduler: Scheduler
    creator: Creator
    planner: Planner
    refreshes: RefreshSender
    control: TournamentControl
    tracer: Tracer

    @classmethod
    def assemble(
        cls,
        settings: Settings,
        writer: Writer,
        fence: Fence,
        storage: Storage,
        *,
        redis_url: str,
        last: LastIds,
        move_log: MoveLog | None = None,
        tracer: Tracer = NO_TRACER,
    ) -> "Parts":
        """Make the parts, each with those that it needs.

        Args:
            last: The ids given so far.
            move_log: Takes the moves; without one the database does.
        """
        watch, listeners, feed = StallWatch(), Listeners(), Feed()
        store_watch = StoreWatch(watch)
        refreshes = RefreshSender(redis_url)
        journal = Journal(
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
        lobby = Lobby(
            watch,
            listeners,
            deadlines=deadlines,
            grace=settings.grace,
            max_notices=settings.max_notices,
            needs_doctor=settings.admission is Admission.DOCTOR,
            last_game=last.game,
        )
        games = Games(
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
        incidents = Incidents(games, journal, store_watch)
        silence = SilenceWatch(lobby, listeners, keepalive=settings.keepalive, rng=Random())  # noqa: S311 - a sample is no secret
        scheduler = Scheduler(lobby, games, journal, Pauses(settings.max_faults))
        game_rate = GameRate(watch)
        # The order in which they hear: a tournament counts a game before anybody looks at it.
        listeners.add(scheduler, feed, refreshes, GameLog(tracer), incidents, game_rate)
        listeners.add(LostMoves(games))
        if tracer.is_on:
            listeners.add(GameSpans(tracer))
        return cls(
            writer=writer,
            storage=storage,
            watch=watch,
            store_watch=store_watch,
            listeners=listeners,
            lobby=lobby,
            journal=journal,
            games=games,
            actions=ActionHandler(games, journal, watch),
            watchdog=Watchdog(
                watch, lobby, games, incidents, silence, write_timeout=settings.write_timeout
            ),
            incidents=incidents,
            feed=feed,
            game_rate=game_rate,
            scheduler=scheduler,
            creator=Creator(storage, OwnerLimits.of(settings), settings.time_classes, lobby.able),
            planner=Planner(scheduler, storage, feed, settings.time_classes),
            refreshes=refreshes,
            control=TournamentControl(
                games, journal, scheduler, storage, refreshes=refreshes, feed=feed
            ),
            tracer=tracer,
        )

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
        ]


@dataclass(frozen=True, slots=True)
class Access:
    """What decides who may do what."""

    policy: Policy
    calls: OpenCalls
    uses: LastUses
    seen: LastSeen
    bots: BotControl
    tokens: TokenControl
    owners: OwnerControl
    classes: ClassControl
    challenges: ChallengeControl
    people: People

    @classmethod
    def of(cls, settings: Settings, parts: Parts) -> "Access":
        """The access to a server's parts."""
        policy, calls = Policy.of(settings), OpenCalls()
        storage, lobby = parts.storage, parts.lobby
        budgets = Budgets.of(settings)
        challenges = ChallengeControl(
            storage, lobby, parts.scheduler, parts.control, feed=parts.feed, budgets=budgets
        )
        takes_people = settings.people and settings.reading is Reading.ANYONE
        return cls(
            policy=policy,
            calls=calls,
            uses=LastUses(storage, calls),
            seen=LastSeen(storage, lobby),
            bots=BotControl(storage, lobby, parts.scheduler, policy),
            tokens=TokenControl(storage, lobby, calls, OperatorTokenFile(settings.data)),
            owners=OwnerControl(storage, policy),
            classes=ClassControl(storage),
            challenges=challenges,
            people=People(storage, lobby, challenges, is_open=takes_people),
        )
