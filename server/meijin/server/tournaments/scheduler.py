"""Starts the planned games of running tournaments as soon as their bots are free."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial

import structlog

from meijin.game import Ending, Party, TimeControl, Variant
from meijin.server.match.games import Games
from meijin.server.match.journal import Journal
from meijin.server.match.listeners import Listener
from meijin.server.match.live_game import LiveGame, Participant
from meijin.server.match.lobby import Lobby, Player
from meijin.server.match.session import Session
from meijin.server.tournaments.formats.base import BotCapacity, Capacity
from meijin.server.tournaments.pauses import Pause, Pauses
from meijin.server.tournaments.run import RunState, TournamentRun, run_of
from meijin.store.faults import NewFault
from meijin.store.schema import (
    BotId,
    BotVersionId,
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


class Scheduler(Listener):
    """Looks for games to start whenever a bot joins, a game ends or a tournament comes."""

    def __init__(self, lobby: Lobby, games: Games, journal: Journal, pauses: Pauses) -> None:
        self.runs: dict[TournamentId, TournamentRun] = {}
        """The tournaments being played, oldest first."""
        self.planning_due = asyncio.Event()
        """Set when tournaments may need games."""
        self._lobby = lobby
        self._games = games
        self._journal = journal
        self.pauses = pauses
        """Of bots that forfeit game after game."""
        self._is_due = False
        self._turn_of_others: set[BotId] = set()
        """Bots whose last game to begin was a challenge's: a tournament's goes before the next."""

    # -- tournaments ------------------------------------------------------------------

    def add(self, run: TournamentRun) -> None:
        """Play a tournament."""
        self.runs[run.id] = run
        self.planning_due.set()
        self.wake()

    def plan(self, run: TournamentRun, pairings: Iterable[PendingPairing]) -> None:
        """Play more games of a tournament, unless it was stopped or decided meanwhile."""
        if run.is_playing:
            for pairing in pairings:
                run.pending.add(pairing)
            self.wake()

    def leave(self, run: TournamentRun) -> None:
        """Take a finished tournament out."""
        if self.runs.pop(run.id, None) is not None:
            log.info("tournament finished", tournament=run.id)

    def finish(self, run: TournamentRun) -> None:
        """End a tournament, once; games of it that run are void, and those planned are dropped."""
        if not run.is_playing:
            return
        run.state = RunState.FINISHED
        run.pending.clear()
        self._journal.add_tournament_end(
            TournamentEnd(run.id, datetime.now(UTC), run.format.verdict)
        )
        for game in [game for game in self._games.running.values() if game.run is run]:
            self._games.void(game, Party.NOBODY, "the tournament was decided")

    def capacity(self, run: TournamentRun) -> Capacity:
        """What a tournament could play now."""
        limit = run.max_games or MAX_AT_ONCE
        reserved = self._reserved(run)
        seats = {}
        for bot_id, player in self._lobby.players.items():
            room = self._room(player, run)
            if room is not None and bot_id not in reserved:
                free = max(0, min(room, limit - run.running))
                playing = sum(game.run is run for game in player.games.values())
                altogether = min(room + len(player.games), limit)
                seats[bot_id] = BotCapacity(free, altogether, playing, _least_move_time(player))
        held = run.pending.held(seats)
        return Capacity(seats, waiting=len(run.pending), held=held, room=limit - run.running)

    def _reserved(self, run: TournamentRun) -> set[BotId]:
        """Bots that an open tournament leaves to those that settle its ladder."""
        if not run.format.is_open:
            return set()
        others = (each for each in self.runs.values() if each.ladder_id == run.ladder_id)
        return {bot_id for each in others for bot_id in each.format.reserved}

    def suspend(self, tournament_id: TournamentId) -> TournamentRun | None:
        """Take a tournament out whose games go on: none of it starts, and nothing ends it."""
        run = self.runs.pop(tournament_id, None)
        if run is not None:
            run.state = RunState.SUSPENDED
            run.pending.clear()
        return run

    def cancel(self, run: TournamentRun) -> None:
        """Stop a tournament; its running games become void."""
        run.state = RunState.CANCELLED
        self._stop(run, Party.OPERATOR)

    def take_back(self, run: TournamentRun) -> None:
        """Stop a challenge; its running game becomes void, which is nobody's fault."""
        run.state = RunState.CANCELLED
        self._stop(run, Party.NOBODY, "the challenge was taken back")

    def _stop(
        self, run: TournamentRun, party: Party, detail: str = "the tournament was cancelled"
    ) -> None:
        """Take a cancelled tournament out, and void its running games."""
        self.runs.pop(run.id, None)
        for game in [game for game in self._games.running.values() if game.run is run]:
            self._games.void(game, party, detail)

    def lift_pauses(self, versions: Iterable[BotVersionId]) -> None:
        """Have versions play again that were paused."""
        self.pauses.lift(versions)
        self.wake()

    async def settled(self) -> None:
        """Wait until everything that has happened is committed."""
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
            if (reason := self._objection(run, bot, control or run.control_of(bot)))
        }
        told = [f"{names[bot]} {reasons[bot]}" for bot in sorted(reasons)[:MOST_TOLD]]
        if len(reasons) > len(told):
            told.append(f"and {len(reasons) - len(told)} others")
        return "; ".join(told)

    def _objection(
        self, run: TournamentRun, bot_id: BotId, time_control: TimeControl
    ) -> str | None:
        return self.objection(bot_id, run.variant, time_control, run)

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
        player = self._lobby.players.get(bot_id)
        if player is None or player.session is None:
            return "is not connected"
        if self.pauses.is_paused(player.session.version_id):
            return "is paused, since it forfeited game after game"
        if run is not None and not _may_play(run, player.session):
            return "has not passed the doctor, which rated games here ask for"
        return player.session.capabilities.objection(variant, time_control)

    # -- what happens in the match ------------------------------------------------------

    def player_joined(self, player: Participant) -> None:  # noqa: ARG002 - a listener's signature
        """A bot may take games now."""
        self.wake()

    def game_over(self, game: LiveGame) -> None:
        """Count the result; the one that decides a tournament ends it in the same commit."""
        run, outcome = run_of(game), game.arbiter.outcome
        assert outcome is not None
        pause = self.pauses.count(game)
        if pause is not None:
            self._pause(game, pause)
        if outcome.ending is Ending.VOID:
            return
        is_swapped = game.arbiter.position.is_swapped
        result = outcome.result.mirrored if is_swapped else outcome.result
        run.count(game.pairing, result, game.symmetric_fingerprint)
        verdict = run.faults.count(game)
        if run.format.is_decided:
            self.finish(run)
        elif verdict:
            self._give_up(run, verdict)

    def _give_up(self, run: TournamentRun, verdict: str) -> None:
        """Cancel a tournament in which a bot fails too often, in the commit of its last fault."""
        if not run.is_playing:
            return
        log.warning("tournament cancelled", tournament=run.id, verdict=verdict)
        run.state = RunState.CANCELLED
        self._journal.add_tournament_end(
            TournamentEnd(run.id, datetime.now(UTC), verdict, TournamentState.CANCELLED)
        )
        self._stop(run, Party.NOBODY)

    def _pause(self, game: LiveGame, pause: Pause) -> None:
        """Have a bot get no new games for a while; it and the ledger are told why."""
        assert game.arbiter.outcome is not None
        assert game.culprit is not None
        player = game.player(game.culprit)
        log.warning("bot paused", bot=player.name, faults=pause.faults)
        self._journal.add_incident(
            NewFault(
                kind=FaultKind.PAUSE,
                party=FaultParty.BOT,
                detail=pause.reason,
                time=datetime.now(UTC),
                evidence={"faults": pause.faults},
                version_id=pause.version_id,
            )
        )
        here = self._lobby.players.get(player.bot_id)
        session = None if here is None else here.session
        if session is not None and session.version_id == pause.version_id:
            session.announce_pause(pause.reason, pause.remaining)
        loop = asyncio.get_running_loop()
        loop.call_later(pause.remaining.total_seconds(), self.wake)

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
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._schedule)

    def _schedule(self) -> None:
        self._is_due = False
        if not self._lobby.is_draining:
            here = {
                bot_id: player
                for bot_id, player in self._lobby.players.items()
                if player.session is not None
            }
            casual = [run for run in self.runs.values() if run.format.IS_CASUAL]
            if casual:
                rested = {bot_id: here[bot_id] for bot_id in here.keys() - self._turn_of_others}
                for run in casual:
                    self._fill(run, rested)
            for run in self.runs.values():
                if not run.format.IS_CASUAL:
                    self._fill(run, here)
                if not run.format.IS_SCHEDULED:
                    self.planning_due.set()
            if casual:  # who is free still was wanted by no tournament
                self._turn_of_others &= {key for key, player in here.items() if _is_full(player)}
                for run in casual:
                    self._fill(run, here)

    def _fill(self, run: TournamentRun, here: Mapping[BotId, Player]) -> None:
        """Start what can be started, in the order of the schedule."""
        needed = run.pending.needed
        fewer, more = (here, needed) if len(here) < len(needed) else (needed, here)
        players = {bot_id: here[bot_id] for bot_id in fewer if bot_id in more}
        free = {
            bot_id: room
            for bot_id, player in players.items()
            if (room := self._room(player, run) or 0) > 0
        }
        pairings = run.pending.take(
            free,
            {bot_id: players[bot_id].session for bot_id in free},
            limit=run.max_games - run.running if run.max_games else len(run.pending),
            may_play=partial(self._can_play, run),
        )
        for pairing in pairings:
            self._games.start(run, pairing, players[pairing.black_id], players[pairing.white_id])
            if not run.format.IS_CASUAL:
                self._turn_of_others -= {pairing.black_id, pairing.white_id}
                continue
            both = (players[pairing.black_id], players[pairing.white_id])
            self._turn_of_others.update(each.bot_id for each in both if not each.is_person)

    def _can_play(self, run: TournamentRun, bot_id: BotId, time_control: TimeControl) -> bool:
        return not self._objection(run, bot_id, time_control)

    def _room(self, player: Player, run: TournamentRun) -> int | None:
        """How many more games a player can take in a tournament; ``None`` when it can't play it."""
        session = player.session
        if session is None or self.pauses.is_paused(session.version_id):
            return None
        if not _may_play(run, session):
            return None
        if session.capabilities.objection(run.variant, run.control_of(player.bot_id)):
            return None
        most = session.capabilities.max_games
        room = most - len(player.games)
        if not run.format.IS_CASUAL:
            return None if player.is_person else room
        casual = sum(run_of(game).format.IS_CASUAL for game in player.games.values())
        return min(room, casual_places(player, most) - casual)


def _is_full(player: Player) -> bool:
    """Whether a player has no place for another game."""
    assert player.session is not None
    return len(player.games) >= player.session.capabilities.max_games


def casual_places(player: Player, most: int) -> int:
    """How many of the games that a player takes at once may be of challenges: half of a bot's."""
    return most if player.is_person else (most + 1) // 2


def _may_play(run: TournamentRun, session: Session) -> bool:
    """Whether a bot may play the games of a tournament, which are rated if it has a ladder."""
    return run.ladder_id is None or session.may_be_rated


def _least_move_time(player: Player) -> timedelta:
    assert player.session is not None
    return player.session.capabilities.min_move_time
