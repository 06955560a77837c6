"""Mutants: the product with one guard taken away, each of which the simulation has to catch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from tests.power.mutants import LOG_MUTANTS

from meijin.game import Color, Ending, Result, Seat
from meijin.server.api.loopback import Loopback
from meijin.server.match import wire
from meijin.server.match.arbiter import stalls
from meijin.server.match.arbiter.arbiter import Arbiter
from meijin.server.match.arbiter.presence import Presence
from meijin.server.match.arbiter.stalls import Moment, StallWatch
from meijin.server.match.games import Games
from meijin.server.match.journal import store_commit
from meijin.server.match.journal.compaction import Compaction
from meijin.server.match.journal.group_commit import Batch
from meijin.server.match.journal.log_commit import LogCommit
from meijin.server.match.live.live_game import LiveGame, Outbox, Participant
from meijin.server.match.live.session import Session
from meijin.server.match.live.witnesses import Witnesses
from meijin.server.match.lobby import Lobby
from meijin.server.tournaments.pending import PendingPairings
from meijin.server.tournaments.run import run_of
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.move_log.entry import LogEntry
from meijin.store.running_games import RunningMoves
from meijin.store.schema import GameId
from meijin.v1 import play_service_pb2 as pb

Mutant = Callable[[], AbstractContextManager[Any]]

MUTANTS: dict[str, Mutant] = {
    name: LOG_MUTANTS[name]
    for name in ("syncs-no-entry", "syncs-no-new-segments-name", "syncs-no-new-folders-name")
}
"""By name. The other guards of the log need rarer cuts: its own tests find those sooner."""


def _mutant(mutant: Mutant) -> Mutant:
    MUTANTS[mutant.__name__.replace("_", "-")] = mutant
    return mutant


@_mutant
def tells_before_the_commit() -> AbstractContextManager[Any]:
    """The journal does not wait for its commit."""

    async def commit(self: LogCommit, entry: JournalEntry, *_: object) -> None:
        logged = LogEntry(entry.id, entry.moves, entry.analysis)
        asyncio.get_running_loop().call_later(0.001, self._log.append, logged)

    return patch.object(LogCommit, "commit", commit)


@_mutant
def forgets_that_it_tries_again() -> AbstractContextManager[Any]:
    """A commit whose answer was lost is not looked for."""

    def commit(connection: Any, entry: JournalEntry, **_: object) -> None:
        commit_entry(connection, entry)

    return patch.object(store_commit, "commit_entry", commit)


@_mutant
def credits_no_stall() -> AbstractContextManager[Any]:
    """Standstills of the server are charged."""

    def moment(self: StallWatch) -> Moment:
        return Moment(self._clock(), 0)

    return patch.object(StallWatch, "moment", moment)


@_mutant
def probes_nothing() -> AbstractContextManager[Any]:
    """Standstills that the event loop does not notice are charged."""

    async def run(_: Loopback) -> None:
        await asyncio.get_running_loop().create_future()

    return patch.object(Loopback, "run", run)


@_mutant
def does_not_ask_again() -> AbstractContextManager[Any]:
    """Who comes back is not asked for its move."""
    connect = LiveGame.connect

    def connect_only(self: LiveGame, player: Participant, outbox: Outbox, moment: Moment) -> None:
        before, self.is_uncommitted = self.is_uncommitted, True
        connect(self, player, outbox, moment)
        self.is_uncommitted = before

    return patch.object(LiveGame, "connect", connect_only)


@_mutant
def asks_before_the_commit() -> AbstractContextManager[Any]:
    """Who comes back is asked though the opponent's move is not committed."""
    connect = LiveGame.connect

    def connect_only(self: LiveGame, player: Participant, outbox: Outbox, moment: Moment) -> None:
        before, self.is_uncommitted = self.is_uncommitted, False
        connect(self, player, outbox, moment)
        self.is_uncommitted = before

    return patch.object(LiveGame, "connect", connect_only)


@_mutant
def shows_what_is_not_committed() -> AbstractContextManager[Any]:
    """Who comes back is told all moves."""
    return patch.object(
        LiveGame, "committed_moves", property(lambda self: self.arbiter.board.moves)
    )


@_mutant
def forgets_a_choice() -> AbstractContextManager[Any]:
    """Who comes back after a choice of side and before the next stone is told the old sides."""
    color, started = LiveGame.color, wire.game_started_to_proto

    def color_before(self: LiveGame, seat: Seat) -> Color:
        choice = self.committed_choice
        if choice is None or choice.ply < self.arbiter.board.ply:
            return color(self, seat)
        return Color.BLACK if seat is Seat.FIRST else Color.WHITE

    def start(game: LiveGame, player: Participant) -> pb.GameStarted:
        with patch.object(LiveGame, "color", color_before):
            return started(game, player)

    return patch.object(wire, "game_started_to_proto", start)


@_mutant
def charges_every_absence() -> AbstractContextManager[Any]:
    """A cut connection costs its bot's clock from the first instant on."""
    return patch.object(Presence, "free_left_ns", lambda *_: 0)


@_mutant
def takes_any_ply() -> AbstractContextManager[Any]:
    """An action's ply is not looked at."""
    play = Arbiter.play

    def play_now(self: Arbiter, color: Any, _ply: int, *rest: Any, **more: Any) -> Any:
        return play(self, color, len(self.board.moves), *rest, **more)

    return patch.object(Arbiter, "play", play_now)


@_mutant
def truncates_running_games() -> AbstractContextManager[Any]:
    """Entries of running games are deleted."""

    def truncate(_: Compaction, entry: JournalEntry, _running: object) -> None:
        if entry.moves:
            entry.truncate_before = entry.key

    return patch.object(Compaction, "advance", truncate)


@_mutant
def forgets_clocks() -> AbstractContextManager[Any]:
    """Clocks begin anew with the server."""
    replay = Arbiter.replay

    def replay_free(self: Arbiter, cell: int, raw_ns: int, charged_ns: int) -> None:
        replay(self, cell, raw_ns, 0)
        self.charged_ns[-1] = charged_ns

    return patch.object(Arbiter, "replay", replay_free)


@_mutant
def forgets_a_move() -> AbstractContextManager[Any]:
    """Recovery leaves out the last move of every game."""
    short = RunningMoves.short

    def forget_one(self: RunningMoves, problem: Any) -> set[GameId]:
        for moves in self.of_game.values():
            del moves[-1:]
        return short(self, problem)

    return patch.object(RunningMoves, "short", forget_one)


@_mutant
def forgets_what_it_told() -> AbstractContextManager[Any]:
    """Whoever comes back after a restart finds that its last move is gone."""
    hear = Witnesses.hear

    def hear_less(self: Witnesses, seat: Seat, known: Any, moves: Any) -> None:
        hear(self, seat, known, moves[:-1])

    return patch.object(Witnesses, "hear", hear_less)


@_mutant
def counts_void_games() -> AbstractContextManager[Any]:
    """A void game counts as a draw."""
    game_over = Scheduler.game_over

    def count(self: Scheduler, game: LiveGame) -> None:
        outcome = game.arbiter.outcome
        if outcome is not None and outcome.ending is Ending.VOID:
            run_of(game).count(game.pairing, Result.DRAW)
        game_over(self, game)

    return patch.object(Scheduler, "game_over", count)


@_mutant
def loses_void_games() -> AbstractContextManager[Any]:
    """A void game is not planned again."""
    game_ended = Scheduler.game_ended

    def end(self: Scheduler, game: LiveGame) -> None:
        with patch.object(PendingPairings, "add"):
            game_ended(self, game)

    return patch.object(Scheduler, "game_ended", end)


@_mutant
def asks_twice() -> AbstractContextManager[Any]:
    """A turn is requested twice."""
    add_turn = Session.add_turn

    def add(self: Session, game: LiveGame) -> None:
        add_turn(self, game)
        add_turn(self, game)

    return patch.object(Session, "add_turn", add)


@_mutant
def ends_games_twice() -> AbstractContextManager[Any]:
    """The end of a game is stored again when its loser is looked at again."""
    expire = Games.expire

    def expire_again(self: Games, moment: Moment) -> bool:
        is_flag_up = expire(self, moment)
        for game in list(self._ending.values()):
            game.arbiter.evidence = {"again": True}
            self._journal.add_end(game)
        return is_flag_up

    return patch.object(Games, "expire", expire_again)


@_mutant
def excuses_no_restart() -> AbstractContextManager[Any]:
    """After a restart bots that are away pay for it."""
    leave = Arbiter.leave

    def leave_unexcused(self: Arbiter, color: Any, moment: Moment, **_: Any) -> None:
        leave(self, color, moment)

    return patch.object(Arbiter, "leave", leave_unexcused)


@_mutant
def excuses_no_outage() -> AbstractContextManager[Any]:
    """While the store is away bots that are away pay for it."""
    return patch.object(Arbiter, "excuse", lambda *_: None)


@_mutant
def ends_the_newer_stream() -> AbstractContextManager[Any]:
    """The late end of an old stream ends the presence of the new one."""
    leave = Lobby.leave

    def leave_any(self: Lobby, session: Session) -> None:
        player = self.players.get(session.player.bot_id)
        leave(self, session if player is None or player.session is None else player.session)

    return patch.object(Lobby, "leave", leave_any)


@_mutant
def forgets_a_release() -> AbstractContextManager[Any]:
    """Now and then nobody is told of a commit."""
    release = Games.release

    def release_most(self: Games, batch: Batch) -> None:
        if batch.entry.id % 16:
            release(self, batch)

    return patch.object(Games, "release", release_most)


@_mutant
def counts_stalls_late() -> AbstractContextManager[Any]:
    """Only standstills of a second and more are credited."""
    return patch.object(stalls, "TIMER_RESOLUTION_NS", 1_000_000_000)
