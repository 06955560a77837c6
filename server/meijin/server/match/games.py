"""The running games: how they start, end, and are told of once that is committed."""

import asyncio
import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import structlog

from meijin.game import (
    Adjudicator,
    Board,
    Choose,
    Clock,
    Ending,
    IllegalActionError,
    IllegalMoveError,
    Party,
    Seat,
    decode_moves,
)
from meijin.game.arbiter.arbiter import Arbiter
from meijin.game.arbiter.moment import Moment, nanoseconds
from meijin.server.errors import InvalidRequestError
from meijin.server.match.journal.group_commit import Batch
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.commands import PlayedGame
from meijin.server.match.live.deadlines import Deadlines
from meijin.server.match.live.listeners import Listener, Listeners
from meijin.server.match.live.live_game import Contest, LiveGame, Participant
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.live.witnesses import Witnesses
from meijin.server.match.lobby import Lobby, Player
from meijin.server.match.stalls import StallWatch
from meijin.store.schema import BotVersionId, GameId
from meijin.store.tournaments import PendingPairing

ENDED_BY_MOVE = frozenset(
    {Ending.FIVE, Ending.DRAW, Ending.ILLEGAL, Ending.FORBIDDEN, Ending.ADJUDICATION}
)
"""Endings after which no answer can be on its way; a forfeit or a stop crosses one."""

CLAIMS = frozenset({Ending.TIME, Ending.ILLEGAL, Ending.FORBIDDEN, Ending.CRASH, Ending.RESIGN})
"""Endings that the moves of a game don't tell: whoever has judged it says so, of the side to act."""

VOIDS_AT_ONCE = 64
"""Games that are stopped together in one turn of the loop: each takes 50 us, and its line in the
log as much once it is committed."""

log = structlog.get_logger()


class Games:
    """Every running game, in one event loop.

    What happens to a game goes straight to its arbiter; what follows is collected by the
    journal and told to the players once it is committed.
    """

    def __init__(
        self,
        lobby: Lobby,
        journal: Journal,
        listeners: Listeners,
        watch: StallWatch,
        store_watch: StoreWatch,
        *,
        deadlines: Deadlines,
        grace: timedelta,
        margin: timedelta,
        last_game: GameId,
    ) -> None:
        self.running: dict[GameId, LiveGame] = {}
        """The running games."""
        self._ending: dict[GameId, LiveGame] = {}
        """The games whose end is not committed yet."""
        self.all_ended = asyncio.Event()
        """Set while no game runs."""
        self.all_ended.set()
        self._to_void: deque[tuple[LiveGame, Party, str]] = deque()
        self.all_voided = asyncio.Event()
        """Set while no game waits to be stopped."""
        self.all_voided.set()
        self._away_until_ns = 0
        """When the store was last away: no flag's patience has begun before, for its bot may have
        waited at the door on a new stream."""
        self._absent: dict[GameId, LiveGame] = {}
        """Those of which a player was away at their last look."""
        self._lobby = lobby
        self._deadlines = deadlines
        self._journal = journal
        self._listeners = listeners
        self._watch = watch
        self._store_watch = store_watch
        self._grace_ns = nanoseconds(grace)
        self._margin_ns = nanoseconds(margin)
        self._ids = itertools.count(last_game + 1)
        self._numbers = itertools.count(1)

    # -- beginnings -----------------------------------------------------------------------

    def start(
        self, run: Contest, pairing: PendingPairing, first: Player, second: Player
    ) -> LiveGame:
        assert first.session is not None
        assert second.session is not None
        game = self.new_live_game(
            run,
            pairing,
            game_id=GameId(next(self._ids)),
            players=(first, second),
            versions=(first.session.version_id, second.session.version_id),
            start_time=datetime.now(UTC),
        )
        game.outboxes[Seat.FIRST :] = [first.session, second.session]
        self._enter(game)
        self._journal.add_start(game)
        return game

    def restore(self, game: LiveGame, moves: Sequence[tuple[int, int, int]]) -> ValueError | None:
        """Take up a game of an earlier server: code, raw and charged nanoseconds of each move.

        Tells why one of them does not follow those before it; the game stands there.
        """
        moment, misfit = self._watch.moment(), None
        try:
            _replay(game, moves)
        except (IllegalActionError, IllegalMoveError) as error:
            misfit = error
        for seat in Seat:
            game.arbiter.leave(seat, moment, excused=True)
        game.is_announced = True
        game.witnesses = Witnesses()
        self._enter(game)
        self._absent[game.id] = game
        self._journal.add_restored(game)
        return misfit

    def referee(
        self,
        run: Contest,
        pairing: PendingPairing,
        played: PlayedGame,
        *,
        players: tuple[Participant, Participant],
        versions: tuple[BotVersionId, BotVersionId],
    ) -> LiveGame:
        """Judge a game by the rules that was judged elsewhere; `keep` has it stored.

        Raises:
            InvalidRequestError: the rules contradict it.
        """
        game = self.new_live_game(
            run,
            pairing,
            game_id=GameId(next(self._ids)),
            players=players,
            versions=versions,
            start_time=played.start_time,
        )
        game.analysis = {str(ply): found for ply, found in played.analyses.items()} or None
        game.end_time = played.end_time
        arbiter, told = game.arbiter, played.outcome
        try:
            _replay(game, played.actions)
        except (IllegalActionError, IllegalMoveError) as error:
            raise InvalidRequestError(f"no such game can be played: {error}") from None
        if arbiter.position.is_partway:
            raise InvalidRequestError("the game breaks off in the middle of an action")
        for ply in played.analyses:
            if not game.opening_plies <= ply <= arbiter.board.ply:
                raise InvalidRequestError(f"analyses: nothing was played at ply {ply}")
        if arbiter.outcome is None:
            color = arbiter.position.color_of(arbiter.seat_to_act)
            fault = Party.NOBODY if told.ending is Ending.RESIGN else Party.of(color)
            if told.ending in CLAIMS and (told.winner, told.at_fault) == (color.other, fault):
                arbiter.outcome, arbiter.evidence = told, played.evidence
        if arbiter.outcome != told:
            raise InvalidRequestError(f"the outcome is {arbiter.outcome or 'open'}, and not {told}")
        return game

    def keep(self, game: LiveGame) -> None:
        """Have the start and the end of a game committed that has been played elsewhere."""
        game.take_fingerprint()
        self._ending[game.id] = game
        self._journal.add_start(game)
        self._journal.add_end(game)
        self._listeners.tell(Listener.game_over, game)

    def new_live_game(
        self,
        run: Contest,
        pairing: PendingPairing,
        *,
        game_id: GameId,
        players: tuple[Participant, Participant],
        versions: tuple[BotVersionId, BotVersionId],
        start_time: datetime,
    ) -> LiveGame:
        """A game at its opening: one that starts, or one of an earlier server to be restored."""
        board = Board.from_moves(decode_moves(pairing.opening), run.row.variant)
        controls = [pairing.time_control or run.row.control_of(player.bot_id) for player in players]
        rules = run.row.adjudication
        return LiveGame(
            number=next(self._numbers),
            id=game_id,
            run=run,
            pairing=pairing,
            arbiter=Arbiter(
                board,
                Clock.of(*controls),
                grace_ns=self._grace_ns,
                margin_ns=self._margin_ns,
            ),
            first=players[0],
            second=players[1],
            first_version=versions[0],
            second_version=versions[1],
            start_time=start_time,
            opening_plies=len(pairing.opening) // 2,
            adjudicator=None if rules is None else Adjudicator(rules),
        )

    def _enter(self, game: LiveGame) -> None:
        self.running[game.id] = game
        self._lobby.enter(game)
        game.run.games[game.number] = game
        self.all_ended.clear()
        self._deadlines.file(game, self._watch.moment())

    # -- while they run -------------------------------------------------------------------

    def hand_over(self, old: Contest, new: Contest) -> None:
        """Have the running games of a contest belong to another one of the same tournament."""
        for game in old.games.values():
            game.run = new
        new.games.update(old.games)
        old.games.clear()

    def live_game(self, game_id: GameId) -> LiveGame | None:
        """A game that runs as far as anybody may know, or ``None``."""
        return self.running.get(game_id) or self._ending.get(game_id)

    def hasten(self, games: Iterable[LiveGame]) -> None:
        for game in games:
            self._deadlines.hasten(game)

    def expire(self, moment: Moment) -> bool:
        """Flag fall: end the games in which a clock or a grace has run out.

        Tells whether a flag has been up since an earlier look.
        """
        self._store_watch.look(moment)
        judged_ns = self._store_watch.judged_ns(moment)
        self._lobby.judged_ns = max(self._lobby.judged_ns, judged_ns)
        due = self._deadlines.take_due(moment, self.running)
        if self._store_watch.is_away:  # and lets nobody in
            self._excuse(due, moment)
            self._away_until_ns = moment.served_ns
        is_flag_up = False
        for game in due:
            is_flag_up |= self._look(game, moment, judged_ns)
        return is_flag_up

    def _excuse(self, due: Iterable[LiveGame], moment: Moment) -> None:
        """Excuse whoever is away: in games that are due, as those are that were just left, too."""
        for game in {**self._absent, **{each.id: each for each in due}}.values():
            game.arbiter.excuse(moment)

    def _look(self, game: LiveGame, moment: Moment, judged_ns: int) -> bool:
        """Look at one game; whether a flag has been up in it since an earlier look."""
        is_flag_up = False
        arbiter = game.arbiter
        arbiter.expire_absences(judged_ns)
        outbox = game.outboxes[arbiter.seat_to_act]
        if outbox is not None and outbox.silent_since_ns is None:
            carried_ns = self._watch.carried_ns
            if arbiter.expire(moment, outbox.lag_ns, self._away_until_ns, carried_ns=carried_ns):
                outbox.probe(game)
            elif arbiter.is_flag_up:
                is_flag_up = True
        if arbiter.outcome is not None:
            self.end(game)
            return is_flag_up
        self._deadlines.file(game, moment)
        if arbiter.is_anyone_away:
            self._absent[game.id] = game
        else:
            self._absent.pop(game.id, None)
        return is_flag_up

    # -- ends -----------------------------------------------------------------------------

    def void(self, game: LiveGame, party: Party, detail: str) -> None:
        """Stop a game through no fault of its bots."""
        game.arbiter.void(party, detail)
        self.end(game)

    def void_all(self, games: Iterable[LiveGame], party: Party, detail: str) -> None:
        """Stop games through no fault of their bots, some in each commit.

        The others go on until it is their turn.
        """
        self._to_void.extend((game, party, detail) for game in games)
        if self._to_void and self.all_voided.is_set():
            self.all_voided.clear()
            self._void_some()

    def stop_all(self, games: Iterable[LiveGame], party: Party, detail: str) -> None:
        """The same for games that take no action from now on, and so have no result."""
        stopped = list(games)
        for game in stopped:
            game.arbiter.void(party, detail)
            game.excuse_actions()
        self.void_all(stopped, party, detail)

    def _void_some(self) -> None:
        """Stop as many games as are told of together; others follow once these are committed."""
        count = 0
        while self._to_void and count < VOIDS_AT_ONCE:
            game, party, detail = self._to_void.popleft()
            if game.id not in self.running:
                continue
            try:
                self.void(game, party, detail)
            except Exception:  # one game's trouble must not keep all the others
                log.exception("can't void a game", game=game.id)
            else:
                count += 1
        if not self._to_void:
            self.all_voided.set()

    def end(self, game: LiveGame) -> None:
        """Take an ended game out and have its end committed."""
        if self.running.pop(game.id, None) is None:
            return
        self._absent.pop(game.id, None)
        if not self.running:
            self.all_ended.set()
        del game.run.games[game.number]
        self._lobby.remove(game)
        self._ending[game.id] = game
        game.end_time = datetime.now(UTC)
        game.add_evidence(self._watch.moment())
        game.take_fingerprint()
        self._journal.add_end(game)
        if game.final_outcome.ending not in ENDED_BY_MOVE:
            game.excuse_actions()
        self._listeners.tell(Listener.game_over, game)

    def announce_room(self, player: Participant) -> None:
        """A bot is ready for another game."""
        self._listeners.tell(Listener.player_ready, player)

    # -- after the commit -----------------------------------------------------------------

    def release(self, batch: Batch) -> None:
        """Tell the players, and then the listeners, what has been committed."""
        has_ended = False
        for game in batch.moved:
            game.is_uncommitted = False
            arbiter = game.arbiter
            if arbiter.outcome is None:
                outbox = game.outboxes[arbiter.turns[len(arbiter.board.moves) & 1]]
                if outbox is not None:
                    outbox.add_turn(game)
            else:
                has_ended = True
        for game in batch.opened:
            has_ended |= game.arbiter.outcome is not None
            self._release_opening(game)
        for game in batch.ended:
            game.is_uncommitted = False
            del self._ending[game.id]
            game.announce_end()
        for game in batch.started:
            game.announce_start()
        moved = [*batch.moved, *batch.opened] if batch.opened else batch.moved
        if has_ended:  # by something else, whose commit may have been the faster one
            moved = [game for game in moved if self.live_game(game.id) is game]
        self._listeners.committed(batch.started, moved, batch.ended)
        if self._to_void:
            asyncio.get_running_loop().call_soon(self._void_some)

    def _release_opening(self, game: LiveGame) -> None:
        """Tell the players of what an opening has come to, and who is asked next."""
        decisions = game.arbiter.position.decisions
        is_choice = not game.uncommitted_stones and isinstance(decisions[-1].action, Choose)
        game.is_uncommitted, game.uncommitted_stones = False, 1
        if game.arbiter.outcome is not None:
            return
        if is_choice:
            game.announce_choice()
        game.announce_turn()


def _replay(game: LiveGame, moves: Iterable[tuple[int, int, int]]) -> None:
    for code, raw_ns, charged_ns in moves:
        seat, ply = game.arbiter.seat_to_act, game.arbiter.board.ply
        game.arbiter.replay(code, raw_ns, charged_ns)
        game.arbiter.look_for_end()
        is_open = game.arbiter.outcome is None
        if game.adjudicator is not None and is_open and game.arbiter.board.ply > ply:
            game.adjudicate(seat, ply, (game.analysis or {}).get(str(ply)))
