"""Planned games that have not begun, and what is looked at when bots become free."""

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from meijin.game import TimeControl
from meijin.server.tournaments.pending import (
    HEAD_US,
    IDLE_PER_US,
    STALE_HEADS,
    PendingPairings,
)
from meijin.store.schema import BotId, LadderId, PairingId
from meijin.store.tournaments import PendingPairing

FAST = TimeControl.parse("1")
HERE = "session"


def pairing(number: int, black: int, white: int, **more: Any) -> PendingPairing:
    """One planned game."""
    return PendingPairing(PairingId(number), number, BotId(black), BotId(white), b"", **more)


def take(
    pending: PendingPairings,
    free: Mapping[int, int],
    limit: int = 1000,
    *,
    session_id: str = HERE,
    plays_fast: bool = True,
) -> list[int]:
    """The numbers of the games that are taken for bots with so much room each."""
    room = Counter({BotId(bot): games for bot, games in free.items()})
    for bot in room:
        pending.offer(bot, session_id)
    taken: list[int] = []
    while pending.has_ready and len(taken) < limit:
        found = pending.take(lambda bot: room[bot] > 0, lambda _bot, _control: plays_fast)
        if found is not None:
            taken.append(found.number)
            room.subtract((found.black_id, found.white_id))
    return taken


def needed(pending: PendingPairings) -> dict[int, set[TimeControl | None]]:
    """Who is needed, with which clocks."""
    return {bot: set(controls) for bot, controls in pending.needed.items()}


def plain_take(games: list[PendingPairing], free: dict[int, int], limit: int) -> list[int]:
    """The same by a walk through all of them."""
    taken: list[int] = []
    for game in games:
        bots = (game.black_id, game.white_id)
        if len(taken) < limit and all(free.get(bot, 0) for bot in bots):
            taken.append(game.number)
            for bot in bots:
                free[bot] -= 1
    return taken


@pytest.mark.parametrize("seed", range(20))
def test_games_are_taken_as_a_walk_through_all_takes_them(seed: int) -> None:
    """Whoever comes, goes, has room or has not, and whatever is planned meanwhile."""
    rng = random.Random(seed)
    bots = range(1, 7)
    games = [pairing(number, *rng.sample(bots, 2)) for number in range(1, 60)]
    pending = PendingPairings(games)
    for number in range(60, 160):
        free = {bot: rng.randint(1, 2) for bot in bots if rng.random() < 0.5}
        limit = rng.choice([0, 1, 100])
        expected = plain_take(games, dict(free), limit)
        assert take(pending, free, limit) == expected
        games = [game for game in games if game.number not in expected]
        if rng.random() < 0.5:
            games.append(pairing(number, *rng.sample(bots, 2)))
            pending.add(games[-1])
        assert list(pending) == games
        assert len(pending) == len(games)


def test_games_of_bots_that_are_away_are_not_walked_through() -> None:
    """However many are planned, a bot is held against those alone that are free with it."""
    pending = PendingPairings(pairing(number, 1, 2 + number % 50) for number in range(1, 10_000))
    spent_us = [pending.offer(BotId(bot), HERE) for bot in range(2, 52)]
    assert spent_us == [idle // IDLE_PER_US for idle in range(1, 51)]
    assert not pending.has_ready
    assert pending.offer(BotId(2), HERE) == 0
    assert pending.offer(BotId(1), HERE) == 51 // IDLE_PER_US + HEAD_US * 50


def test_who_is_busy_is_offered_anew() -> None:
    """A look in vain at a bot's games is the last one until it is said to be free again."""
    pending = PendingPairings([pairing(1, 1, 2), pairing(2, 1, 3), pairing(3, 2, 3)])
    assert take(pending, {1: 1, 2: 1, 3: 1}) == [1]
    assert not pending.has_ready
    assert take(pending, {1: 1, 3: 1}) == [2]
    assert take(pending, {2: 1, 3: 1}) == [3]


def test_many_heads_of_busy_bots_are_looked_at_bit_by_bit() -> None:
    """So that a look can be interrupted; in the end what can be taken is."""
    pending = PendingPairings(pairing(bot, 1, bot) for bot in range(2, 100))
    for bot in range(1, 100):
        pending.offer(BotId(bot), HERE)
    looks = 0
    found = None
    while found is None and pending.has_ready:
        looks += 1
        found = pending.take(lambda bot: bot in (1, 99), lambda _bot, _control: True)
    assert found is not None
    assert (found.number, looks) == (99, 1 + 97 // STALE_HEADS)


def test_who_is_newly_needed_is_told() -> None:
    """Once for each time that a bot had no game planned before."""
    pending = PendingPairings([pairing(1, 1, 2)])
    assert pending.take_unoffered() == {1, 2}
    pending.add(pairing(2, 2, 3))
    assert pending.take_unoffered() == {3}
    assert take(pending, {1: 1, 2: 2, 3: 1}) == [1, 2]
    assert not pending.has_unoffered
    pending.add(pairing(3, 1, 2))
    assert pending.take_unoffered() == {1, 2}


def test_who_may_be_free_is_to_be_offered_if_it_is_needed() -> None:
    """Others are none of its business."""
    pending = PendingPairings([pairing(1, 1, 2)])
    pending.take_unoffered()
    pending.note_free({BotId(2), BotId(3)})
    assert pending.take_unoffered() == {2}


def test_who_is_needed_is_counted_as_games_come_and_go() -> None:
    """Each bot with each clock, once."""
    pending = PendingPairings(
        [pairing(1, 1, 2), pairing(2, 2, 1), pairing(3, 2, 3, time_control=FAST)]
    )
    assert needed(pending) == {1: {None}, 2: {None, FAST}, 3: {FAST}}
    assert take(pending, {2: 1, 3: 1}) == [3]
    assert needed(pending) == {1: {None}, 2: {None}}
    assert take(pending, {1: 2, 2: 2}) == [1, 2]
    assert needed(pending) == {}


def test_a_game_whose_clock_can_not_be_played_lets_those_behind_it_go_first() -> None:
    """It is taken once a bot can play it, which is another player to the games then."""
    pending = PendingPairings([pairing(1, 1, 2, time_control=FAST), pairing(2, 2, 1)])
    assert take(pending, {1: 2, 2: 2}, plays_fast=False) == [2]
    assert take(pending, {1: 2, 2: 2}, plays_fast=False) == []
    assert [each.time_control for each in pending] == [FAST]
    assert take(pending, {1: 2, 2: 2}, session_id="another") == [1]


def test_a_game_with_another_clock_behind_those_that_wait_is_looked_at() -> None:
    """Also when it comes after the look that found no other."""
    pending = PendingPairings([pairing(1, 1, 2, time_control=FAST)])
    assert take(pending, {1: 2, 2: 2}, plays_fast=False) == []
    pending.add(pairing(2, 2, 1))
    assert take(pending, {1: 2, 2: 2}, plays_fast=False) == [2]


def test_a_pairing_comes_back_with_what_it_has_of_its_own() -> None:
    """The clock and the ladder of its class, and the reason."""
    own = pairing(1, 1, 2, reason="near", time_control=FAST, ladder_id=LadderId(7))
    plain = pairing(2, 3, 4)
    assert list(PendingPairings([own, plain])) == [own, plain]


def test_rows_of_games_that_have_begun_are_used_again() -> None:
    """A tournament without an end keeps no more than is planned at once."""
    pending = PendingPairings()
    for number in range(1, 1000):
        pending.add(pairing(number, 1 + number % 2, 3, reason="near"))
        assert take(pending, {1: 1, 2: 1, 3: 1}) == [number]
    assert pending.capacity < 5
