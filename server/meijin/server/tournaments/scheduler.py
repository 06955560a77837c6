"""Starts the planned games of running tournaments as soon as their bots are free."""

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import structlog

from meijin.game import Ending, Party, TimeControl, Variant
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.listeners import Listener
from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.server.match.live.session import Session
from meijin.server.match.lobby import Lobby, Player
from meijin.server.tournaments.formats.base import BotCapacity, Capacity
from meijin.server.tournaments.leases import Leases, Worker, WorkerSide
from meijin.server.tournaments.pauses import Pause, Pauses
from meijin.server.tournaments.run import RunState, TournamentRun, run_of
from meijin.server.tournaments.seats import HostedProgram, Seats
from meijin.store.schema import (
    BotId,
    BotVersionId,
    Fault,
    FaultKind,
    FaultParty,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments import PendingPairing, TournamentEnd

log = structlog.get_logger()

MAX_AT_ONCE = 2**31 - 1
"""The most games at once that a tournament may ask for."""

MOST_TOLD = 20
"""Bots that are named among those that a tournament waits for."""

LONGEST_TURN_US = 4000
"""How long a look may take of one turn of the loop, by what its steps are known to take."""

START_US = 120
"""A game that is taken and started, or a try to take one."""

OFFER_US = 3
"""A look whether a bot is free for a tournament, to whose pairings it is offered then."""

MOST_UNCOMMITTED = 256
"""Games whose starts wait for a commit; once it is there, one turn tells of all, 20 us each."""

SEATS_AT_ONCE = 1000
"""Bots whose room is looked at in one turn of the loop: 4 ms."""

PAUSE_IS_OVER = timedelta(milliseconds=1)
"""After a pause its bot is looked at: no timer may be so early that it is paused still."""


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a challenge stands among those that wait for the same bot."""

    before: int
    """How many begin before it."""
    at_once: int
    """How many challenges the bot plays at once."""
    playing: int
    """How many it plays now."""


class Scheduler(Listener):
    """Looks for games to start whenever a bot joins, a game ends or a tournament comes.

    A look is at what has changed: the bots that came or whose games have ended, and those that are
    newly needed. One that starts many games goes on in the next turns of the loop; what
    changes meanwhile waits for the next look.
    """

    def __init__(self, lobby: Lobby, games: Games, journal: Journal, pauses: Pauses) -> None:
        self.leases = Leases()
        """What workers play."""
        self.runs: dict[TournamentId, TournamentRun] = {}
        """The tournaments being played, oldest first; one that replaces another has its place."""
        self.planning_due = asyncio.Event()
        """Set when tournaments may need games."""
        self._lobby = lobby
        self._games = games
        self._journal = journal
        self.pauses = pauses
        """Of bots that forfeit game after game."""
        self.seats = Seats(
            is_here=self.is_here,
            playing_by=self.playing_by,
            changed=lambda bots: self.bot_changed(*bots),
            clock=time.monotonic_ns,
        )
        """What hosts run."""
        self._is_due = False
        self._is_called = False
        """The loop is asked to go on with the look, or to begin one."""
        self.uncommitted = 0
        """How many games have begun whose starts are not committed."""
        self._steps: Iterator[int] | None = None
        """The look under way, if one is: the microseconds that each of its steps takes."""
        self._changed: set[BotId] = set()
        """Bots that may be free since the last look began."""
        self._turn_of_others: set[BotId] = set()
        """Bots whose last game to begin was a challenge's: a tournament's goes before the next."""

    # -- tournaments ------------------------------------------------------------------

    def add(self, run: TournamentRun, place_of: TournamentId | None = None) -> None:
        """Play a tournament; of one that the store has as over the running games are void.

        Args:
            place_of: Another, before which it comes.
        """
        if not run.is_playing:
            self._void_rest(run)
            return
        self.runs[run.id] = run
        if place_of in self.runs:
            others = list(self.runs)[:-1]
            for each in others[others.index(place_of) :]:
                self.runs[each] = self.runs.pop(each)
        self.planning_due.set()
        self.wake()

    def plan(self, run: TournamentRun, pairings: Iterable[PendingPairing]) -> None:
        """Play more games of a tournament, unless it was stopped or decided meanwhile."""
        if run.is_playing:
            for pairing in pairings:
                run.pending.add(pairing)
            self.wake()

    def leave(self, run: TournamentRun) -> None:
        if self.runs.pop(run.id, None) is not None:
            log.info("tournament finished", tournament=run.id)

    def finish(self, run: TournamentRun) -> None:
        """End a tournament, once; its running games are stopped, and those planned are dropped."""
        if not run.is_playing:
            return
        run.state = RunState.FINISHED
        run.pending.clear()
        self.leases.withdraw(run)
        self.seats.withdraw(run)
        self._journal.add_tournament_end(
            TournamentEnd(run.id, datetime.now(UTC), run.format.verdict)
        )
        self._void_undecided(run)

    def _void_undecided(self, run: TournamentRun) -> None:
        """Void the games that ran when their tournament was decided: none has a result any more."""
        self._games.stop_all(run.games.values(), Party.NOBODY, "the tournament was decided")

    async def capacity(self, run: TournamentRun) -> Capacity:
        """What a tournament could play now, for the bots that its format plans by.

        With many bots it takes several turns of the loop, in which games may begin and end.
        """
        limit = run.row.max_games or MAX_AT_ONCE
        reserved = self._reserved(run)
        seats = {}
        leased = Counter(
            bot_id
            for lease in self.leases.of_run(run)
            for bot_id in (lease.pairing.black_id, lease.pairing.white_id)
        )
        for count, bot_id in enumerate(self._candidates(run), start=1):
            room, place = self._room(bot_id, run), self._place(bot_id, run)
            if room is not None and place is not None and bot_id not in reserved:
                player = self._lobby.players.get(bot_id)
                games = () if player is None else player.games.values()
                playing = leased[bot_id] + sum(game.run is run for game in games)
                free = max(0, min(room, limit - run.running))
                altogether = min(room + leased[bot_id] + len(games), limit)
                least = place.capabilities.min_move_time
                seats[bot_id] = BotCapacity(free, altogether, playing, least)
            if count % SEATS_AT_ONCE == 0:
                await asyncio.sleep(0)
        held = run.pending.held(seats)
        return Capacity(seats, waiting=len(run.pending), held=held, room=limit - run.running)

    def _candidates(self, run: TournamentRun) -> Sequence[BotId]:
        """The bots that a tournament's format plans by, as far as they may be here."""
        wanted = run.format.candidates
        return list({**self._lobby.players, **self.seats.programs} if wanted is None else wanted)

    def _reserved(self, run: TournamentRun) -> set[BotId]:
        """Bots that an open tournament leaves to those that settle its ladder."""
        if not run.format.is_open:
            return set()
        others = (each for each in self.runs.values() if each.row.ladder_id == run.row.ladder_id)
        return {bot_id for each in others for bot_id in each.format.reserved}

    def suspend(self, tournament_id: TournamentId) -> TournamentRun | None:
        """Take a tournament out whose games go on: none of it starts, and nothing ends it."""
        run = self.runs.pop(tournament_id, None)
        if run is not None:
            run.state = RunState.SUSPENDED
            run.pending.clear()
            self.leases.withdraw(run)
            self.seats.withdraw(run)
        return run

    def cancel(
        self,
        run: TournamentRun,
        party: Party = Party.OPERATOR,
        detail: str = "the tournament was cancelled",
    ) -> None:
        """Stop a tournament; its running games become void, through a party's doing."""
        run.state = RunState.CANCELLED
        self.leases.withdraw(run)
        self.seats.withdraw(run)
        self.runs.pop(run.id, None)
        self._games.void_all(run.games.values(), party, detail)

    def take_back(self, run: TournamentRun) -> None:
        """Stop a challenge; its running game becomes void, which is nobody's fault."""
        self.cancel(run, Party.NOBODY, "the challenge was taken back")

    def _void_rest(self, run: TournamentRun) -> None:
        if run.state is RunState.FINISHED:
            self._void_undecided(run)
        elif run.format.IS_CASUAL:
            self.take_back(run)
        else:
            self.cancel(run, Party.NOBODY if run.row.verdict else Party.OPERATOR)

    def lift_pauses(self, bot_id: BotId, versions: Iterable[BotVersionId]) -> None:
        """Have versions of a bot play again that were paused."""
        self.pauses.lift(versions)
        self.bot_changed(bot_id)

    async def settled(self) -> None:
        """Wait until everything that has happened is committed."""
        await self._games.all_voided.wait()
        await self._journal.drained()

    def waiting_for(self, tournament_id: TournamentId, names: dict[BotId, str]) -> str:
        """What keeps a tournament from going on; empty when nothing does."""
        run = self.runs.get(tournament_id)
        if run is None:
            return ""
        needed = run.pending.needed
        if not needed and not run.running:
            needed = dict.fromkeys(names, (None,))
        reasons = {
            bot: reason
            for bot, controls in needed.items()
            if bot in names  # others were planned after these were read
            for control in controls
            if (
                reason := self.objection(
                    bot, run.row.variant, control or run.row.control_of(bot), run
                )
                or self._unreadiness(bot, run)
            )
        }
        told = [f"{names[bot]} {reasons[bot]}" for bot in sorted(reasons)[:MOST_TOLD]]
        if len(reasons) > len(told):
            told.append(f"and {len(reasons) - len(told)} others")
        return "; ".join(told)

    def queue_place(self, challenge_id: TournamentId, bot_id: BotId) -> QueuePlace | None:
        """Where a challenge waits for a place of a bot; ``None`` where it waits for none."""
        run = self.runs.get(challenge_id)
        player = self._lobby.players.get(bot_id)
        if run is None or player is None or self._room(bot_id, run) != 0:
            return None
        before = 0
        for each in self.runs.values():
            if not (each.format.IS_CASUAL and each.has_place and bot_id in each.pending.needed):
                continue
            if each is run:
                return QueuePlace(before, _casual_places(player), _casual_games(player))
            others = each.pending.needed.keys() - {bot_id}
            before += all(self._room(other, each) for other in others)
        return None

    def free_like(self, challenge_id: TournamentId, bot_id: BotId) -> Collection[BotId]:
        """Bots that would begin a challenge at once in the place of one of its two."""
        run = self.runs.get(challenge_id)
        if run is None:
            return ()
        row = run.row
        control = row.control_of(bot_id)
        return {
            player.bot_id
            for player in self._lobby.players.values()
            if not player.is_person
            and player.bot_id not in run.pending.needed
            and self.objection(player.bot_id, row.variant, control) is None
            and self._casual_room(player) > 0
        }

    def objection(
        self,
        bot_id: BotId,
        variant: Variant,
        time_control: TimeControl,
        run: TournamentRun | None = None,
    ) -> str | None:
        """Why a bot can't play now, whatever it plays besides; ``None`` if it can.

        Args:
            run: What it is to play; ``None`` for an unrated game.
        """
        place = self._place(bot_id, run)
        if place is None:
            return self.seats.absence(bot_id)
        if self.pauses.is_paused(place.version_id):
            return "is paused, since it forfeited game after game"
        if run is not None and run.row.ladder_id is not None and not place.may_be_rated:
            return "has not passed the doctor, which rated games here ask for"
        objection = place.capabilities.objection(variant, time_control)
        return objection or self.seats.objection(bot_id, time_control)

    def _unreadiness(self, bot_id: BotId, run: TournamentRun) -> str:
        """Why a bot gets no game though it plays none, where it keeps its places itself."""
        place = self._place(bot_id, run)
        if isinstance(place, Session) and place.unready and not place.games and place.room <= 0:
            return "has not said that it is ready for another game"
        return ""

    def _place(
        self, bot_id: BotId, run: TournamentRun | None
    ) -> Session | WorkerSide | HostedProgram | None:
        """Where a bot plays: at a worker that has all bots of the run, on its stream, or on a host."""
        if run is not None and self.leases.able(run):
            return self.leases.side(run, bot_id)
        player = self._lobby.players.get(bot_id)
        session = None if player is None else player.session
        return session or self.seats.program(bot_id)

    # -- what happens in the match ------------------------------------------------------

    def player_joined(self, player: Participant) -> None:
        """A bot may take games now; those that have waited for it begin."""
        self.seats.opened(player.bot_id)
        for call in self.seats.take_ready():
            if call.run.is_playing:
                self._begin(call.run, call.pairing)
        self.bot_changed(player.bot_id)

    def worker_changed(self, worker: Worker) -> None:
        """A worker has come, or has room again."""
        self._changed.update(worker.sides)
        self.wake()

    def bot_changed(self, *bots: BotId) -> None:
        """Bots may take games now, or others than before."""
        self._changed.update(bots)
        self.wake()

    def player_ready(self, player: Participant) -> None:
        self.bot_changed(player.bot_id)

    def game_over(self, game: LiveGame) -> None:
        """Count the result; the one that decides a tournament ends it in the same commit."""
        run, outcome = run_of(game), game.arbiter.outcome
        assert outcome is not None
        self._changed.update((game.first.bot_id, game.second.bot_id))
        pause = self.pauses.count(game)
        if pause is not None:
            self._pause(game, pause)
        if outcome.ending is Ending.VOID:
            return
        run.count(game, outcome.result)
        verdict = run.count_fault(game)
        if run.format.is_decided:
            self.finish(run)
        elif verdict:
            self._give_up(run, verdict)

    def _give_up(self, run: TournamentRun, verdict: str) -> None:
        """Cancel a tournament in which a bot fails too often, in the commit of its last fault."""
        if not run.is_playing:
            return
        log.warning("tournament cancelled", tournament=run.id, verdict=verdict)
        self._journal.add_tournament_end(
            TournamentEnd(run.id, datetime.now(UTC), verdict, TournamentState.CANCELLED)
        )
        self.cancel(run, Party.NOBODY)

    def _pause(self, game: LiveGame, pause: Pause) -> None:
        """Have a bot get no new games for a while; it and the ledger are told why."""
        assert game.culprit is not None
        player = game.player(game.culprit)
        log.warning("bot paused", bot=player.name, faults=pause.faults)
        self._journal.add_incident(
            Fault(
                kind=FaultKind.PAUSE,
                party=FaultParty.BOT,
                detail=pause.reason,
                create_time=datetime.now(UTC),
                evidence={"faults": pause.faults},
                version_id=pause.version_id,
            )
        )
        here = self._lobby.players.get(player.bot_id)
        session = None if here is None else here.session
        if session is not None and session.version_id == pause.version_id:
            session.announce_pause(pause.reason, pause.remaining)
        loop = asyncio.get_running_loop()
        after = (pause.remaining + PAUSE_IS_OVER).total_seconds()
        loop.call_later(after, self.bot_changed, player.bot_id)

    def game_started(self, game: LiveGame) -> None:  # noqa: ARG002 - which one is no matter
        """Others may begin."""
        self.uncommitted -= 1
        self._go_on()

    def game_ended(self, game: LiveGame) -> None:
        """Two bots are free; a void game is planned again, a finished tournament is left."""
        run = run_of(game)
        outcome = game.arbiter.outcome
        assert outcome is not None
        if outcome.ending is Ending.VOID and run.is_playing:
            run.pending.add(game.pairing)
        if run.state is RunState.FINISHED:
            self.leave(run)
        self.wake()

    # -- scheduling ---------------------------------------------------------------------

    def wake(self) -> None:
        """Look for games to start, once for everything that happens in this turn of the loop."""
        self._is_due = True
        self._go_on()

    def _go_on(self) -> None:
        """Have the loop look, unless what it has started is to be committed first."""
        is_wanted = self._is_due or self._steps is not None
        if is_wanted and not self._is_called and self.uncommitted < MOST_UNCOMMITTED:
            self._is_called = True
            asyncio.get_running_loop().call_soon(self._schedule)

    def _schedule(self) -> None:
        """Look, or go on with the look under way, as far as one turn of the loop allows."""
        self._is_called = False
        steps, self._steps = self._steps, None
        if steps is None:
            self._is_due = False
            steps = self._look()
        try:
            self._steps = None if _is_through(steps) else steps
        except Exception:
            self._changed.update(self._lobby.players)  # nobody knows how far the look came
            raise
        finally:
            self._go_on()

    def _look(self) -> Iterator[int]:
        """Start games, those of challenges before others' for bots whose turn it is."""
        if self._lobby.is_draining:
            return
        changed, self._changed = self._changed, set()
        runs, resting = list(self.runs.values()), frozenset(self._turn_of_others)
        casual = [run for run in runs if run.format.IS_CASUAL]
        for run in casual:
            yield from self._fill(run, changed, resting)
        for run in runs:
            if not run.format.IS_CASUAL:
                yield from self._fill(run, changed)
            if not run.format.IS_SCHEDULED:
                self.planning_due.set()
        if casual:  # who is free still was wanted by no tournament
            self._turn_of_others = {key for key in self._turn_of_others if self._is_full(key)}
            rested = resting - self._turn_of_others
            for run in casual:
                yield from self._fill(run, rested)

    def _fill(
        self,
        run: TournamentRun,
        changed: Collection[BotId],
        resting: Collection[BotId] = frozenset(),
    ) -> Iterator[int]:
        """Start what can be started, in the order of the schedule.

        Args:
            changed: Bots that may be free, and have not been offered since.
            resting: Bots that get no game now.
        """
        pending = run.pending
        pending.note_free(changed)
        if not self._has_place(run) or not (pending.has_unoffered or pending.has_ready):
            return
        is_free = partial(self._is_free, run, resting)
        for bot_id in pending.take_unoffered():
            yield OFFER_US
            place = self._place(bot_id, run) if is_free(bot_id) else None
            if place is not None:
                yield pending.offer(bot_id, place.id)
        while pending.has_ready and self._has_place(run) and not self._lobby.is_draining:
            if self.uncommitted >= MOST_UNCOMMITTED:
                yield LONGEST_TURN_US
                continue
            pairing = pending.take(is_free, partial(self._can_play, run))
            if pairing is not None:
                self._start(run, pairing)
            yield START_US

    def _has_place(self, run: TournamentRun) -> bool:
        """Whether another game of a run may begin now, as far as it doesn't depend on its bots."""
        is_full = self.leases.able(run) and not self.leases.free(run)
        return run.has_place and not is_full

    def _start(self, run: TournamentRun, pairing: PendingPairing) -> None:
        if self.leases.able(run):
            self.leases.lease(run, pairing)
        elif all(map(self.is_here, (pairing.black_id, pairing.white_id))):
            self._begin(run, pairing)
        else:
            self.seats.call(run, pairing)

    def is_here(self, bot_id: BotId) -> bool:
        """Whether a stream of a bot is open."""
        player = self._lobby.players.get(bot_id)
        return player is not None and player.session is not None

    def playing_by(self, bot_id: BotId) -> TimeControl | None:
        """What a bot has on its clock in a game that it plays; ``None`` while it plays none."""
        player = self._lobby.players.get(bot_id)
        if player is None:
            return None
        return next((game.own_control(player) for game in player.games.values()), None)

    def _begin(self, run: TournamentRun, pairing: PendingPairing) -> None:
        black, white = (self._lobby.players[key] for key in (pairing.black_id, pairing.white_id))
        self._games.start(run, pairing, black, white)
        self.uncommitted += 1
        if run.format.IS_CASUAL:
            self._turn_of_others.update(
                each.bot_id for each in (black, white) if not each.is_person
            )
        else:
            self._turn_of_others -= {pairing.black_id, pairing.white_id}

    def _is_free(self, run: TournamentRun, resting: Collection[BotId], bot_id: BotId) -> bool:
        """Whether a bot takes a game more of a tournament."""
        return bot_id not in resting and (self._room(bot_id, run) or 0) > 0

    def _is_full(self, bot_id: BotId) -> bool:
        """Whether a bot is here and has no place for another game."""
        player = self._lobby.players.get(bot_id)
        if player is None or player.session is None:
            return False
        return player.session.room <= 0

    def _can_play(self, run: TournamentRun, bot_id: BotId, time_control: TimeControl) -> bool:
        return not self.objection(bot_id, run.row.variant, time_control, run)

    def _room(self, bot_id: BotId, run: TournamentRun) -> int | None:
        """How many more games a bot can take in a tournament; ``None`` when it can't play it."""
        if self.objection(bot_id, run.row.variant, run.row.control_of(bot_id), run):
            return None
        if self.leases.able(run):
            return self.leases.free(run)
        player, reserved = self._lobby.players.get(bot_id), self.seats.reserved(bot_id)
        if player is None or player.session is None:
            return self.seats.room(bot_id, run.row.control_of(bot_id))
        if not run.format.IS_CASUAL:
            return None if player.is_person else max(0, player.session.room - reserved)
        return max(0, self._casual_room(player) - reserved)

    def _casual_room(self, player: Player) -> int:
        """How many more games of challenges a bot or person that is here can take."""
        assert player.session is not None
        places = _casual_places(player) - _casual_games(player)
        return max(0, min(player.session.room, places))


def _casual_games(player: Player) -> int:
    return sum(run_of(game).format.IS_CASUAL for game in player.games.values())


def _casual_places(player: Player) -> int:
    """Half of a bot's places may be taken by challenges, and all of a person's."""
    assert player.session is not None
    most = player.session.capabilities.max_games
    return most if player.is_person else (most + 1) // 2


def _is_through(steps: Iterator[int]) -> bool:
    """Take the steps of a look that one turn of the loop has time for; whether that is all."""
    spent_us = 0
    for step_us in steps:
        spent_us += step_us
        if spent_us >= LONGEST_TURN_US:
            return False
    return True
