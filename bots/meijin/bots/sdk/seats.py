"""The bot's running games, over however many streams."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.events import Ended, Events, Started, Turn
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.searcher import Searcher
from meijin.bots.sdk.seat import Seat
from meijin.game import Outcome

logger = logging.getLogger("meijin.bots")


class Table:
    """Keeps a seat for each running game, and tells the bot what happens there.

    A game has one id for good and a number on each stream, so every stream starts with no
    seats: the games that still run come again, and the others ended while the bot was away.
    """

    def __init__(self, bot: Bot, searcher: Searcher) -> None:
        self._bot = bot
        self._searcher = searcher
        self._outbox = Outbox()
        self._seats: dict[int, Seat] = {}  # by the number on this stream
        self._known: dict[str, Seat] = {}  # by game id; the last seat of each game
        self._returning = 0  # games that this stream has yet to bring back
        self._hears_start = type(bot).game_started is not Bot.game_started
        self._hears_end = type(bot).game_ended is not Bot.game_ended

    @property
    def running_games(self) -> int:
        """How many games wait for the bot or its opponents, as far as it knows."""
        return max(len(self._known), len(self._seats) + self._returning)

    def open(self, outbox: Outbox, *, returning: int) -> None:
        """Begin a stream; answers go to `outbox`, and `returning` games come back first."""
        self._outbox = outbox
        self._returning = returning
        self._drop_missing()

    def close(self) -> None:
        """End a stream: what the bot is thinking about is no longer waited for."""
        seats = list(self._seats.values())
        self._seats.clear()
        self._returning = 0
        for seat in seats:
            seat.running = False
        self._searcher.forget(seats)

    def apply(self, events: Events) -> None:
        """Take in a batch of events.

        Raises:
            ValueError: the server tells of an impossible game.
        """
        for ended in events.ended:
            self._end(ended)
        for started in events.started:
            self._start(started)
        seats = self._ask(events.turns)
        for notice in events.notices:
            logger.warning("refused at ply %d: %s", notice.ply, notice.detail)
        if seats:
            self._searcher.think(seats)

    def _ask(self, turns: Sequence[Turn]) -> list[Seat]:
        seats = self._seats
        asked = []
        for turn in turns:
            seat = seats.get(turn.number)
            if seat is None:
                logger.warning("no game has the number %d", turn.number)
            elif seat.ask(turn):
                asked.append(seat)
        return asked

    def _start(self, started: Started) -> None:
        if started.number in self._seats:
            raise ValueError(f"the number {started.number} has a game already")
        seat = self._seats[started.number] = Seat(started, self._outbox)
        position = seat.position
        returned = position.game_id in self._known
        self._known[position.game_id] = seat
        verb = "goes on" if returned else "started"
        logger.info("game %s against %s %s", position.game_id, position.opponent, verb)
        if self._hears_start and not returned:
            self._searcher.tell(seat, partial(self._bot.game_started, position))
        if self._returning:
            self._returning -= 1
            self._drop_missing()

    def _end(self, ended: Ended) -> None:
        seat = self._seats.pop(ended.number, None)
        if seat is None:
            logger.warning("no game has the number %d", ended.number)
            return
        self._leave(seat, ended.outcome)

    def _drop_missing(self) -> None:
        """Once every game has come back, give up those that haven't."""
        if self._returning:
            return
        for seat in list(self._known.values()):
            if not seat.running:
                self._leave(seat, None)

    def _leave(self, seat: Seat, outcome: Outcome | None) -> None:
        seat.running = False
        game_id = seat.position.game_id
        self._known.pop(game_id, None)
        self._searcher.forget([seat])
        text = "ended while the bot was away" if outcome is None else f"ended: {outcome}"
        detail = f" ({outcome.detail})" if outcome is not None and outcome.detail else ""
        logger.info("game %s against %s %s%s", game_id, seat.position.opponent, text, detail)
        if self._hears_end:
            self._searcher.tell(seat, partial(self._bot.game_ended, game_id, outcome))
