"""The bot's running games, over however many streams."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from functools import partial
from inspect import iscoroutinefunction

from meijin.bots.sdk.bot import Bot, overrides
from meijin.bots.sdk.running_game import LatencyMonitor, RunningGame
from meijin.bots.sdk.searcher import Searcher, end_game
from meijin.bots.sdk.stream import StreamOutbox
from meijin.bots.sdk.turn import turn_from_proto
from meijin.bots.sdk.wire import ReturningGame
from meijin.game import Outcome
from meijin.v1.play_service_pb2 import Events, GameEnded, GameStarted, TurnRequested
from meijin.wire.values import color_from_proto, outcome_from_proto

logger = logging.getLogger("meijin.bots")


class RunningGames:
    """Keeps the running games, and tells the bot what happens in them.

    A game has one id for good and a number on each stream, so every stream starts with no
    games: those that still run come again, and the others ended while the bot was away.
    """

    def __init__(self, bot: Bot, searcher: Searcher) -> None:
        self._bot = bot
        self._searcher = searcher
        self._outbox = StreamOutbox()
        self._running: dict[int, RunningGame] = {}  # by the number on this stream
        self._known: dict[str, RunningGame] = {}  # by game id, over all streams
        self._latency = LatencyMonitor()
        self._returning = 0  # games that this stream has yet to bring back
        self._has_start_hook = overrides(bot, "game_started")
        self._has_end_hook = overrides(bot, "game_ended")
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def count(self) -> int:
        """How many games wait for the bot or its opponents, as far as it knows."""
        return max(len(self._known), len(self._running) + self._returning)

    def known(self) -> list[ReturningGame]:
        """What the bot knows of the games that wait, for the server that it returns to."""
        return [game.known for game in self._known.values()]

    def open(self, outbox: StreamOutbox, *, returning: int) -> None:
        """Begin a stream; answers go to `outbox`, and `returning` games come back first."""
        self._outbox = outbox
        self._returning = returning
        self._drop_missing()

    def close(self) -> None:
        """End a stream: what the bot is thinking about is no longer waited for."""
        games = list(self._running.values())
        self._running.clear()
        self._returning = 0
        for game in games:
            game.running = False
        self._searcher.cancel(games)

    def apply(self, events: Events, *, read_at: float) -> None:
        """Apply a batch of events that came off the stream at a second of a monotonic clock.

        Raises:
            ValueError: the server tells of an impossible game.
        """
        for ended in events.ended:
            self._end(ended)
        for started in events.started:
            self._start(started)
        for chosen in events.choices:
            if (game := self._running.get(chosen.game)) is not None:
                game.color = color_from_proto(chosen.color)
        games = self._begin_turns(events.turns, read_at)
        for notice in events.notices:
            logger.warning("refused at ply %d: %s", notice.ply, notice.detail)
        if games:
            self._searcher.search(games)

    def _begin_turns(self, turns: Iterable[TurnRequested], read_at: float) -> list[RunningGame]:
        games = self._running
        asked = []
        for turn in turns:
            game = games.get(turn.game)
            if game is None:
                logger.warning("no game has the number %d", turn.game)
            elif game.begin_turn(turn_from_proto(turn, read_at=read_at)):
                asked.append(game)
        return asked

    def _start(self, started: GameStarted) -> None:
        if started.game in self._running:
            raise ValueError(f"the number {started.game} has a game already")
        earlier = self._known.get(started.game_id)
        game = RunningGame(started, self._outbox, latency=self._latency, earlier=earlier)
        self._running[started.game] = game
        position, returned = game.position, earlier is not None
        self._known[position.game_id] = game
        verb = "goes on" if returned else "started"
        logger.info("game %s against %s %s", position.game_id, position.opponent, verb)
        if self._has_start_hook and not returned:
            self._searcher.call_hook(game, partial(self._bot.game_started, position))
        if self._returning:
            self._returning -= 1
            self._drop_missing()

    def _end(self, ended: GameEnded) -> None:
        game = self._running.pop(ended.game, None)
        if game is None:
            logger.warning("no game has the number %d", ended.game)
        else:
            self._leave(game, outcome_from_proto(ended.outcome))

    def _drop_missing(self) -> None:
        if self._returning:
            return
        for game in list(self._known.values()):
            if not game.running:
                self._leave(game, None)

    def _leave(self, game: RunningGame, outcome: Outcome | None) -> None:
        game.running = False
        game_id = game.position.game_id
        self._known.pop(game_id, None)
        self._latency.forget(game_id)
        self._searcher.cancel([game])
        text = "ended while the bot was away" if outcome is None else f"ended: {outcome}"
        detail = f" ({outcome.detail})" if outcome is not None and outcome.detail else ""
        logger.info("game %s against %s %s%s", game_id, game.position.opponent, text, detail)
        if iscoroutinefunction(self._bot.game_ended):
            task = asyncio.create_task(self._get_ready(game_id, outcome))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif self._has_end_hook:
            self._searcher.call_hook(game, partial(self._tell_end, game_id, outcome))

    def _tell_end(self, game_id: str, outcome: Outcome | None) -> None:
        self._bot.game_ended(game_id, outcome)

    async def _get_ready(self, game_id: str, outcome: Outcome | None) -> None:
        """Let the bot do what it does between games, and say that it is ready for another."""
        await end_game(self._bot, game_id, outcome)
        self._outbox.add_ready()
