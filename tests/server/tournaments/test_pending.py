"""Planned games that have not begun; what is taken when, `test_looks` holds against a walk."""

from typing import Any

from meijin.game import TimeControl
from meijin.server.tournaments.pending import HEAD_US, IDLE_PER_US, STALE_HEADS, PendingPairings
from meijin.store.schema import BotId, LadderId, PairingId
from meijin.store.tournaments import PendingPairing

FAST = TimeControl.parse("1")
HERE = "session"


def pairing(number: int, black: int, white: int, **more: Any) -> PendingPairing:
    return PendingPairing(PairingId(number), number, BotId(black), BotId(white), b"", **more)


def take(pending: PendingPairings, *bots: int) -> list[PendingPairing]:
    """The games that are taken for bots that have room for any number."""
    for bot in bots:
        pending.offer(BotId(bot), HERE)
    taken = []
    while pending.has_ready:
        found = pending.take(lambda bot: bot in bots, lambda _bot, _control: True)
        if found is not None:
            taken.append(found)
    return taken


def needed(pending: PendingPairings) -> dict[int, set[TimeControl | None]]:
    return {bot: set(controls) for bot, controls in pending.needed.items()}


def test_games_of_bots_that_are_away_are_not_walked_through() -> None:
    """However many are planned, a bot is held against those alone that are free with it."""
    pending = PendingPairings(pairing(number, 1, 2 + number % 50) for number in range(1, 10_000))
    spent_us = [pending.offer(BotId(bot), HERE) for bot in range(2, 52)]
    assert spent_us == [idle // IDLE_PER_US for idle in range(1, 51)]
    assert not pending.has_ready
    assert pending.offer(BotId(2), HERE) == 0
    assert pending.offer(BotId(1), HERE) == 51 // IDLE_PER_US + HEAD_US * 50


def test_many_heads_of_busy_bots_are_looked_at_bit_by_bit() -> None:
    """So that a look can be interrupted; in the end what can be taken is."""
    pending = PendingPairings(pairing(bot, 1, bot) for bot in range(2, 100))
    for bot in range(1, 100):
        pending.offer(BotId(bot), HERE)
    looks, found = 0, None
    while found is None and pending.has_ready:
        looks += 1
        found = pending.take(lambda bot: bot in (1, 99), lambda _bot, _control: True)
    assert found is not None
    assert (found.number, looks) == (99, 1 + 97 // STALE_HEADS)


def test_who_is_needed_is_counted_as_games_come_and_go() -> None:
    games = [pairing(1, 1, 2), pairing(2, 2, 1), pairing(3, 2, 3, time_control=FAST)]
    pending = PendingPairings(games)
    assert needed(pending) == {1: {None}, 2: {None, FAST}, 3: {FAST}}
    assert take(pending, 2, 3) == [games[2]]
    assert needed(pending) == {1: {None}, 2: {None}}
    assert take(pending, 1, 2) == games[:2]
    assert needed(pending) == {}


def test_a_pairing_comes_back_with_what_it_has_of_its_own() -> None:
    """The clock and the ladder of its class, and the reason."""
    own = pairing(1, 1, 2, reason="near", time_control=FAST, ladder_id=LadderId(7))
    plain = pairing(2, 3, 4)
    assert take(PendingPairings([own, plain]), 1, 2, 3, 4) == [own, plain]


def test_rows_of_games_that_have_begun_are_used_again() -> None:
    """A tournament without an end keeps no more than is planned at once."""
    pending = PendingPairings()
    for number in range(1, 1000):
        game = pairing(number, 1 + number % 2, 3, reason="near")
        pending.add(game)
        assert take(pending, 1, 2, 3) == [game]
    assert len(pending._rows.orders) < 5
