"""Connections that fall silent together: on a fake clock, over the real lobby, games and actions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from tests.server.match.hall import KEEPALIVE, MS, PROMPT_NS, SECOND, Hall

from meijin.game import Ending, Party
from meijin.game.arbiter.flag import PING_PATIENCE_NS
from meijin.server.errors import NotReadingError
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.session import SILENT_AFTER_NS
from meijin.server.match.lobby import LEAST_DEPARTURES
from meijin.server.match.presence.silence import SAMPLE
from meijin.server.match.stalls import TICK_INTERVAL_NS

MANY = 3 * SAMPLE
"""Bots of which less than half are asked."""

FEW = LEAST_DEPARTURES - 1


def endings(games: Sequence[LiveGame]) -> set[Ending | None]:
    outcomes = [game.arbiter.outcome for game in games]
    return {None if outcome is None else outcome.ending for outcome in outcomes}


def pairs(hall: Hall, count: int | None = None) -> list[LiveGame]:
    """The first half of the bots, or this many, are asked for a move by games against the others."""
    half = len(hall.bots) // 2
    return [hall.play(place, place + half) for place in range(count or half)]


def cut_after_a_round(hall: Hall, pings: int, late_ms: int, game: tuple[int, int]) -> LiveGame:
    """Have a flag go up and later another one, and then everybody fall silent.

    That is when all have answered the round of pings that follows.
    """
    hall.play(0, len(hall.bots) - 1)
    hall.cut(hall.bots[0])
    hall.pass_time(late_ms * MS)
    later = hall.play(*game)
    before = hall.pings
    while hall.pings < before + pings:
        hall.pass_time(TICK_INTERVAL_NS)
    hall.pass_time(2 * PROMPT_NS)
    hall.cut(*hall.bots)
    return later


async def test_bots_that_fall_silent_together_lose_nothing() -> None:
    """No flag falls, and when keepalive has closed the streams the games wait for their return."""
    hall = Hall(8)
    games = pairs(hall)
    hall.cut(*hall.bots)
    hall.pass_time(15 * SECOND)
    assert endings(games) == {None}
    assert [(loss.is_silent, loss.connected) for loss in hall.told] == [(True, 8)]
    hall.close(*hall.bots)
    hall.pass_time(29 * SECOND)
    assert endings(games) == {None}
    hall.pass_time(2 * SECOND)
    assert {(outcome := game.arbiter.outcome) and outcome.at_fault for game in games} == {
        Party.NETWORK
    }
    assert len(hall.told) == 1


async def test_a_turn_goes_on_where_the_silence_began() -> None:
    """A move that the network held up is in time; one that had no time left is not."""
    hall = Hall(8)
    prompt, slow, *_ = pairs(hall)
    hall.pass_time(SECOND // 2)
    hall.cut(*hall.bots)
    hall.pass_time(8 * SECOND)
    hall.hear(*hall.bots)
    hall.move(hall.bots[0], prompt)
    assert prompt.arbiter.board.ply == 1
    assert prompt.arbiter.charged_ns[0] <= SECOND // 2
    assert prompt.arbiter.raw_ns[0] > 8 * SECOND
    hall.pass_time(2 * SECOND)
    assert (endings([prompt]), endings([slow])) == ({None}, {Ending.TIME})


async def test_a_turn_that_was_cut_off_waits_with_what_it_had() -> None:
    """Who comes back after its stream was closed has on its clock what it had before."""
    hall = Hall(8, "60+0")
    pairs(hall)
    hall.pass_time(2 * SECOND)
    hall.cut(*hall.bots)
    hall.pass_time(14 * SECOND)
    hall.close(*hall.bots)
    ((_, own_ns),) = hall.join(0).drain(hall.stalls.moment()).turns
    assert own_ns >= 58 * SECOND


@pytest.mark.parametrize(("bots", "silent"), [(2, 1), (2 * FEW, FEW), (12, 5), (MANY, MANY // 4)])
async def test_a_few_or_less_than_half_lose_on_time(bots: int, silent: int) -> None:
    """As soon as their patience is over, though they are all that play.

    However many: the others, or a sample of them, show that the network carries.
    """
    hall = Hall(bots)
    games = pairs(hall, min(silent, 10))
    hall.cut(*hall.bots[:silent])
    hall.pass_time(SECOND + PING_PATIENCE_NS + SECOND)
    assert endings(games) == {Ending.TIME}
    assert not hall.told


async def test_bots_that_are_busy_are_no_sign() -> None:
    """A late answer to one of its last pings: it searches where it reads, and proves nothing."""
    hall = Hall(8)
    for bot in hall.bots:
        bot.pong_after_ns = 2 * SILENT_AFTER_NS
        bot.session.ping()
    hall.pass_time(SECOND)
    games = pairs(hall)
    hall.cut(*hall.bots)
    hall.pass_time(3 * SECOND)
    assert endings(games) == {Ending.TIME}


async def test_bots_that_are_heard_are_not_silent() -> None:
    """Whatever they do with their pings: a bot that plays is there."""
    hall = Hall(8)
    games = pairs(hall)
    late, *others = hall.bots
    for bot in others:
        bot.pong_after_ns = 60 * SECOND
    hall.cut(late)
    for _ in range(30):
        hall.pass_time(SECOND // 10)
        for bot in others:
            hall.say(bot)
    assert endings(games[:1]) == {Ending.TIME}


@pytest.mark.parametrize("late_ms", range(150, 1000, 50))
async def test_a_flag_soon_after_another_finds_the_silence_too(late_ms: int) -> None:
    """A round that everybody answered just before is no sign of life for the flags after it."""
    hall = Hall(10)
    game = cut_after_a_round(hall, len(hall.bots) - 1, late_ms, (1, 8))
    hall.pass_time(4 * SECOND)
    assert endings([game]) == {None}


@pytest.mark.parametrize("late_ms", [150, 550, 950])
async def test_many_that_fall_silent_together_lose_nothing(late_ms: int) -> None:
    """Whenever their flags go up, and whatever the last round of pings has shown."""
    hall = Hall(MANY, "1/move")
    games = [cut_after_a_round(hall, SAMPLE - 1, late_ms, (1, MANY - 2))]
    for place in range(2, 12):
        games.append(hall.play(place, MANY - 1 - place))
        hall.pass_time(100 * MS)
    hall.pass_time(4 * SECOND)
    assert endings(games) == {None}
    (loss,) = hall.told
    assert len(loss.names) >= MANY // 2


async def test_what_answers_keepalive_alone_is_closed() -> None:
    """Something between the two is there, and the bot is not: its stream is ended for it."""
    hall = Hall(8)
    games = pairs(hall)
    hall.cut(*hall.bots)
    hall.pass_time(2 * SECOND)
    assert not any(bot.session.closed.done() for bot in hall.bots)
    hall.pass_time(2 * KEEPALIVE // timedelta(microseconds=1) * 1000)
    for bot in hall.bots:
        assert isinstance(bot.session.closed.result(), NotReadingError)
    hall.close(*hall.bots)
    hall.pass_time(SECOND)
    assert endings(games) == {None}


async def test_nobody_is_pinged_for_it_without_a_flag() -> None:
    """It costs nothing while nobody is late, and two rounds a second at most while a flag is up."""
    hall = Hall(8, "5/move")
    pairs(hall)
    before = hall.pings
    hall.pass_time(4 * SECOND)
    assert hall.pings == before
    hall.cut(hall.bots[0])
    hall.pass_time(3 * SECOND)
    assert hall.pings - before <= 3 * len(hall.bots)


@pytest.mark.parametrize("all_silent", [False, True])
async def test_of_many_bots_a_sample_is_asked(*, all_silent: bool) -> None:
    """While nobody but the one whose flag is up is silent, which loses on time.

    One flag is enough to have everybody asked, though its own clock stands as soon as a sample is
    silent.
    """
    hall = Hall(MANY)
    game = hall.play(0, 1)
    before = hall.pings
    hall.cut(*hall.bots if all_silent else hall.bots[:1])
    hall.pass_time(3 * SECOND)
    assert endings([game]) == {None if all_silent else Ending.TIME}
    assert [len(loss.names) >= MANY // 2 for loss in hall.told] == [True] * all_silent
    assert all_silent or 2 * SAMPLE - 2 <= hall.pings - before <= 3 * SAMPLE
