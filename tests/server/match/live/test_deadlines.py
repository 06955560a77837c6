"""Deadlines in buckets: what they decide is what looking at every game each time decides."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from tests.server.match.hall import MS, SECOND, Bot, Hall

from meijin.game import Party
from meijin.game.arbiter.moment import Moment
from meijin.server.match.live.deadlines import BUCKET_NS, BUCKETS, Deadlines
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.lobby import Player
from meijin.server.match.stalls import TICK_INTERVAL_NS
from meijin.store.schema import BotId, GameId

CONTROLS = ("0.3/move", "1+0.1", "0.5+0.2,0.3/move", "2", "60+1", "5/move")
STEPS = 120
GAMES = 6


class EveryGame(Deadlines):
    """Has every game looked at each time, and knows of no buckets."""

    def take_due(self, _: Moment, running: Mapping[GameId, LiveGame]) -> Sequence[LiveGame]:
        return tuple(running.values())


class History:
    """What happens in one hall: the same in each that has the same seed and decides alike."""

    def __init__(self, seed: int, deadlines: type[Deadlines]) -> None:
        self.rng = random.Random(seed)
        self.hall = Hall(2 * GAMES, self.rng.choice(CONTROLS), deadlines=deadlines)
        self._outage = ExitStack()
        self._waiting: dict[int, int] = {}
        """Bots at the door by their places, with the instant of their arrival."""
        for place in range(GAMES):
            self.hall.play(place, place + GAMES)

    def step(self) -> None:
        """Let one thing happen, and then some time pass."""
        chances = [self._leave, self._arrive, self._enter, self._replace, *[self._move] * 8]
        chances += [self._cut, self._hear, self._delay, self._fail_store, self._stall]
        self.rng.choice(chances)()
        spent = self.rng.choice((1, 3, 10, 40)) * TICK_INTERVAL_NS
        if self.rng.random() < 0.02:
            spent = self.rng.choice((5, 31)) * SECOND
        self.hall.pass_time(spent)

    def _bot(self) -> tuple[int, Bot, Player | None]:
        """Any bot, by its place; no player where it is gone and plays no game."""
        place = self.rng.randrange(len(self.hall.bots))
        return place, self.hall.bots[place], self.hall.lobby.players.get(BotId(place + 1))

    def _move(self) -> None:
        game = self.rng.choice(self.hall.live)
        arbiter = game.arbiter
        player = game.player(arbiter.seat_to_act)
        bot = self.hall.bots[player.bot_id - 1]
        assert isinstance(player, Player)
        if arbiter.outcome is not None or arbiter.asked_at_ns < 0 or player.session is None:
            return
        cell = arbiter.board.ply if self.rng.random() < 0.99 else 0
        thinking_us = self.rng.choice((0, 0, 100))
        if bot.is_cut:
            return
        self.hall.say(bot, (game.number, arbiter.board.ply, cell, None, thinking_us))
        outbox = game.outboxes[arbiter.seat_to_act]
        is_waited_for = arbiter.asked_at_ns >= 0 or arbiter.is_flag_up
        if arbiter.outcome is None and not is_waited_for and outbox is not None:
            outbox.add_turn(game)

    def _leave(self) -> None:
        self.hall.close(self._bot()[1])

    def _arrive(self) -> None:
        """A bot that is away has opened a stream, and waits for the store."""
        place, bot, player = self._bot()
        if player is not None and player.session is None and place not in self._waiting:
            self._waiting[place] = self.hall.stalls.moment().served_ns
            bot.arrival = self.hall.store_watch.arrival(self._waiting[place])
            bot.arrival.__enter__()

    def _enter(self) -> None:
        if not self._waiting:
            return
        place, since_ns = self._waiting.popitem()
        bot = self.hall.bots[place]
        bot.arrival.__exit__(None, None, None)
        if BotId(place + 1) in self.hall.lobby.players and not self.hall.store_watch.is_away:
            bot.session = self.hall.join(place, since=Moment(since_ns, 0))
            bot.is_cut = False

    def _replace(self) -> None:
        place, bot, player = self._bot()
        if player is not None and player.session is not None:
            bot.session = self.hall.join(place, player.session.id)

    def _cut(self) -> None:
        count = self.rng.choice((1, len(self.hall.bots)))
        self.hall.cut(*self.rng.sample(self.hall.bots, count))

    def _hear(self) -> None:
        self.hall.hear(*self.hall.bots)

    def _delay(self) -> None:
        self._bot()[1].pong_after_ns = self.rng.choice((20, 300, 900, 1500)) * MS

    def _fail_store(self) -> None:
        if self.hall.store_watch._requests:
            self._outage.close()
        else:
            self._outage.enter_context(self.hall.store_watch.write())

    def _stall(self) -> None:
        self.hall.now_ns += self.rng.choice((30, 700, 3000)) * MS

    def told(self) -> list[object]:
        return [_told(game) for game in self.hall.live]


def _told(game: LiveGame) -> object:
    arbiter, presence = game.arbiter, game.arbiter._presence
    return (
        *(arbiter.outcome, arbiter.evidence, arbiter.asked_at_ns, arbiter._used_ns),
        *([*arbiter.board.moves], [*arbiter.raw_ns], [*arbiter.charged_ns], arbiter.is_flag_up),
        arbiter.credits if arbiter.outcome is None and not presence.count else None,
        (presence.count, presence._away_since_ns, presence._excused, presence._grace_ns),
        arbiter.clock.left_ns(arbiter.seat_to_act),
    )


@pytest.mark.parametrize("seed", range(20))
async def test_the_buckets_decide_as_looking_at_every_game_does(seed: int) -> None:
    """After every look, through absences, silences, outages, stalls and held moves."""
    one, other = History(seed, Deadlines), History(seed, EveryGame)
    for step in range(STEPS):
        one.step()
        other.step()
        assert one.told() == other.told(), f"step {step}"
        assert one.hall.pings == other.hall.pings


async def test_who_waits_at_the_door_for_long_is_away_on_its_clock() -> None:
    """As far as absences were judged meanwhile, though it comes in as of its arrival.

    A tenth of the time control is free, and what follows is not.
    """
    told = []
    for deadlines in (Deadlines, EveryGame):
        hall = Hall(2, "60+0", deadlines=deadlines)
        game = hall.play(0, 1)
        hall.close(hall.bots[0])
        hall.pass_time(SECOND)
        since = hall.stalls.moment()
        with hall.store_watch.arrival(since.served_ns):
            hall.pass_time(10 * SECOND)
        hall.join(0, since=since)
        told.append((game.arbiter.credits[1].absence_ns, game.arbiter._used_ns))
    assert told[0] == told[1]
    absence_ns, used_ns = told[0]
    assert absence_ns == 6 * SECOND
    assert 2 * SECOND < used_ns < 5 * SECOND


async def test_no_flag_falls_for_want_of_a_ping_while_the_store_is_away() -> None:
    """The bot may wait at the door on a new stream; what the store takes is on nobody's clock."""
    hall = Hall(2, "0.3/move")
    game = hall.play(0, 1)
    hall.cut(hall.bots[0])
    with hall.store_watch.write() as request:
        hall.store_watch.fail(request, "disk full")
        hall.pass_time(5 * SECOND)
        assert game.arbiter.is_flag_up
    hall.pass_time(SECOND // 2)
    assert game.arbiter.outcome is None
    hall.pass_time(SECOND)
    assert game.arbiter.outcome is not None


async def test_games_that_wait_are_looked_at_rarely_and_never_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though all of them have begun together, and are asked the same."""
    hall = Hall(2, "1000/move")
    looks: list[int] = []
    look = hall.games._look

    def count(game: LiveGame, *rest: Any) -> bool:
        looks[-1] += 1
        return look(game, *rest)

    monkeypatch.setattr(hall.games, "_look", count)
    games = 2000
    for _ in range(games):
        hall.play(0, 1)
    for _ in range(3 * BUCKETS):
        looks.append(0)
        hall.pass_time(BUCKET_NS)
    assert max(looks) < games / BUCKETS * 4
    assert 3 * games <= sum(looks) <= 6 * games


async def test_nothing_is_kept_of_a_game_that_ended_but_its_id() -> None:
    """A bucket may not come for a long time, and many games end meanwhile."""
    hall = Hall(2, "1000/move")
    game = hall.play(0, 1)
    filed = [each for bucket in hall.deadlines._buckets for each in bucket]
    assert filed == [game.id]
    hall.games.void(game, Party.OPERATOR, "")
    hall.pass_time(2 * BUCKETS * BUCKET_NS)
    assert not any(hall.deadlines._buckets)


async def test_time_that_steps_back_loses_no_game() -> None:
    """The server's time served may go back by a timer's resolution."""
    hall = Hall(2, "1/move")
    game, deadlines = hall.play(0, 1), Deadlines()
    running = {game.id: game}
    moment = Moment(1000 * BUCKET_NS, 0)
    assert deadlines.take_due(moment, running) == ()
    game.arbiter.ask(Moment(moment.now_ns - 10 * SECOND, 0))
    deadlines.file(game, Moment(moment.now_ns - 1, 0))
    assert deadlines.take_due(moment, running) == (game,)
