"""The watch of the arena: what changes in the running games, told look by look."""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from meijin.game import Color, Rule, Seat, encode_moves
from meijin.game.arbiter.moment import Moment
from meijin.server.api.answers.games import live_decisions, live_game, told_analysis
from meijin.server.api.answers.pages import id_if_any, number
from meijin.server.api.calls.loop_share import LoopShare
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.match.games import Games
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.stalls import StallWatch
from meijin.store.schema import GameId, TournamentId
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.wire.values import (
    analysis_to_proto,
    color_to_proto,
    rule_from_proto,
    time_to_proto,
    variant_to_proto,
)

NS_PER_MS = 1_000_000

USUAL_RATE = 2.0
MIN_RATE, MAX_RATE = 0.1, 10.0
"""Messages a second."""

MAX_GAME_IDS = 64
USUAL_GAMES, MAX_GAMES = 100, 10_000

UPDATES_OF_A_MESSAGE = 200
"""A first one is of 200 bytes and two for each move."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The games that a watcher follows, and how often."""

    interval: timedelta
    """From one look to the next, at least."""
    tournament_id: TournamentId | None
    """``None`` for every one."""
    game_ids: frozenset[GameId]
    """Empty for every one."""
    max_games: int
    rule: Rule | None = None
    """``None`` for any."""
    bot: str = ""
    """Empty for all."""

    @classmethod
    def of(cls, request: pb.WatchArenaRequest) -> Self:
        """What a request asks for.

        Raises:
            InvalidRequestError: a field is out of its range.
        """
        if len(request.game_ids) > MAX_GAME_IDS:
            message = f"game_ids: {len(request.game_ids)} of them; at most {MAX_GAME_IDS} a watch"
            raise InvalidRequestError(message)
        if request.max_games > MAX_GAMES:
            raise InvalidRequestError(f"max_games {request.max_games} is above {MAX_GAMES}")
        return cls(
            interval=timedelta(seconds=1 / _rate(request.max_rate)),
            tournament_id=id_if_any(request, "tournament_id", TournamentId),
            game_ids=frozenset(GameId(number(each, "game_ids")) for each in request.game_ids),
            max_games=request.max_games or USUAL_GAMES,
            rule=_rule(request),
            bot=request.bot,
        )

    def has(self, game: LiveGame) -> bool:
        """Whether a running game is one of them, as far as anybody may know."""
        return (
            (self.tournament_id is None or game.run.id == self.tournament_id)
            and (self.rule is None or game.run.row.variant.rule == self.rule)
            and (not self.bot or self.bot in {game.first.name, game.second.name})
            and game.is_announced
        )


def _rule(request: pb.WatchArenaRequest) -> Rule | None:
    with invalid_request("rule"):
        return rule_from_proto(request.rule) if request.rule else None


def _rate(asked: float) -> float:
    rate = asked or USUAL_RATE
    if math.isnan(rate) or not MIN_RATE <= rate <= MAX_RATE:
        raise InvalidRequestError(f"max_rate {asked:g} is not from {MIN_RATE:g} to {MAX_RATE:g}")
    return rate


class WatchedGame:
    """A running game, and what one watcher has been told of it. Nothing is told uncommitted."""

    __slots__ = ("_decided", "_is_new", "_ply", "_state", "_variant", "game")

    def __init__(self, game: LiveGame) -> None:
        self.game = game
        self._variant = variant_to_proto(game.run.row.variant)
        self._is_new = True
        self._ply = 0
        self._decided = 0
        self._state: tuple[int, int, bool, bool] | None = None

    def update(self, moment: Moment, *, has_ended: bool) -> pb.GameUpdate | None:
        """What has changed since the last update; ``None`` where nothing has.

        Args:
            moment: Now.
            has_ended: Whether the game's end is committed.
        """
        game, arbiter = self.game, self.game.arbiter
        state = (arbiter.turn, arbiter.asked_at_ns, game.is_uncommitted, has_ended)
        if state == self._state:
            return None
        self._state = state
        ply, cells = self._ply, game.committed_moves[self._ply :]
        decided = len(game.committed_decisions)
        is_whole = self._is_new or has_ended or decided != self._decided
        is_settled = has_ended or not (game.is_uncommitted or arbiter.outcome)
        self._is_new, self._decided, self._ply = False, decided, ply + len(cells)
        if not (is_whole or is_settled or cells):
            return None
        update = pb.GameUpdate(
            game_id=str(game.id),
            ply=ply,
            moves=encode_moves(cells),
            game=_told(game, has_ended=has_ended) if is_whole else None,
            clocks=_clocks(game, moment) if is_settled else None,
            variant=self._variant,
        )
        _evaluate(update, game, range(ply, self._ply))
        return update


class ArenaWatch:
    """One watcher of the running games, and what it has been told.

    It looks at the games now and then, so that a move costs nothing more for being watched, and
    takes all games' changes since its last look together.
    """

    def __init__(
        self,
        games: Games,
        stalls: StallWatch,
        share: LoopShare,
        selection: Selection,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._games = games
        self._stalls = stalls
        self._share = share
        self._selection = selection
        self._sleep = sleep
        self._watched: dict[GameId, WatchedGame] = {}

    async def messages(self) -> AsyncGenerator[pb.WatchArenaResponse]:
        """All games first, then what has changed, until none is left of the games asked for."""
        is_due = True  # the first message, and one after which there were said to be more
        while True:
            async for message in self.look():
                if message.games or is_due:
                    is_due = message.more
                    yield message
            if self._selection.game_ids and not self._watched:
                return
            await self._sleep(self._selection.interval.total_seconds())

    async def look(self) -> AsyncIterator[pb.WatchArenaResponse]:
        """Look at all games once, in slices between which they go on; at least one message."""
        visits, updates, is_last = self._visits(), list[pb.GameUpdate](), False
        while not is_last:
            await self._share.turn()
            is_last = self._visit(visits, updates)
            if is_last or len(updates) == UPDATES_OF_A_MESSAGE:
                yield pb.WatchArenaResponse(
                    time=time_to_proto(datetime.now(UTC)),
                    games=updates,
                    more=not is_last,
                    running=len(self._games.running),
                )
                updates = []

    def _visit(self, visits: Iterator[pb.GameUpdate | None], updates: list[pb.GameUpdate]) -> bool:
        """Go on for a slice of time, or until a message is full; whether all games were visited."""
        with self._share.slice() as is_over:
            for update in visits:
                if update is not None:
                    updates.append(update)
                if len(updates) == UPDATES_OF_A_MESSAGE or is_over():
                    return False
        return True

    def _visits(self) -> Iterator[pb.GameUpdate | None]:
        """Each game's change: first of those that were told of, then of others."""
        for watched in list(self._watched.values()):
            yield self._update(watched)
        for game in self._candidates():
            if len(self._watched) >= self._selection.max_games:
                return
            if game.id in self._watched or not self._selection.has(game):
                yield None
            else:
                watched = self._watched[game.id] = WatchedGame(game)
                yield self._update(watched)

    def _candidates(self) -> list[LiveGame]:
        running, game_ids = self._games.running, self._selection.game_ids
        if not game_ids:
            return list(running.values())
        return [running[game_id] for game_id in sorted(game_ids) if game_id in running]

    def _update(self, watched: WatchedGame) -> pb.GameUpdate | None:
        game = watched.game
        has_ended = game.arbiter.outcome is not None and self._games.live_game(game.id) is not game
        if has_ended:
            del self._watched[game.id]
        return watched.update(self._stalls.moment(), has_ended=has_ended)


def _told(game: LiveGame, *, has_ended: bool) -> game_pb2.Game:
    """A game as far as anybody may know: an end that is not committed is left out."""
    message = live_game(game)
    message.decisions.extend(live_decisions(game))
    if not has_ended:
        message.state = game_pb2.GAME_STATE_RUNNING
        for field in ("outcome", "end_time"):
            message.ClearField(field)
    return message


def _clocks(game: LiveGame, moment: Moment) -> pb.Clocks:
    """The clocks of a game as of a moment; none runs once it has ended."""
    arbiter = game.arbiter
    black = Seat.SECOND if game.is_swapped else Seat.FIRST
    clocks = pb.Clocks(
        black_ms=arbiter.left_ns(black, moment) // NS_PER_MS,
        white_ms=arbiter.left_ns(black.other, moment) // NS_PER_MS,
    )
    if arbiter.asked_at_ns >= 0 and arbiter.outcome is None:
        clocks.running = color_to_proto(game.color(arbiter.seat_to_act))
    return clocks


def _evaluate(update: pb.GameUpdate, game: LiveGame, plies: range) -> None:
    if game.analysis is None:
        return
    sides = {Color.BLACK: update.black_evaluation, Color.WHITE: update.white_evaluation}
    for ply in reversed(plies):
        color = Color.BLACK if ply % 2 == 0 else Color.WHITE
        analysis = told_analysis(game.analysis.get(str(ply)), game.run.row.variant)
        if color in sides and analysis is not None:
            said = pb.GameEvaluation(ply=ply, analysis=analysis_to_proto(analysis))
            sides.pop(color).MergeFrom(said)
        if not sides:
            return
