"""A stream's outbox and its lag."""

from __future__ import annotations

from typing import cast

import pytest
from tests.server.rows import live_game as game
from tests.server.rows import open_session

from meijin.game import Seat
from meijin.game.arbiter.moment import NS_PER_SECOND, Moment
from meijin.server.errors import ReplacedError, TooManyNoticesError
from meijin.server.match.live import session as module
from meijin.server.match.live.commands import MAX_TOLD, MAX_WORDS, Actions, Failure
from meijin.server.match.live.lag import LAG_SAMPLES
from meijin.server.match.live.session import Delivery, Notice, NoticeReason, Session

SECOND = NS_PER_SECOND
MS = SECOND // 1000
NOTHING = Delivery(turns=[])


@pytest.fixture
async def session() -> Session:
    return open_session({}, max_notices=3)


def sent(session: Session, now: int = 0) -> Delivery:
    return session.drain(Moment(now, 0))


def turns(delivery: Delivery) -> list[int]:
    return [game.number for game, _ in delivery.turns]


def refuse(session: Session, *numbers: int, now: int = 0) -> bool:
    """Refuse an action in each of these games; whether that has ended the stream."""
    for ply, number in enumerate(numbers):
        session.refuse(Notice(number, ply, NoticeReason.STALE_PLY, "late"), now)
    return session.closed.done()


# -- what is sent -----------------------------------------------------------------


async def test_turns_share_a_message(session: Session) -> None:
    """Everything that waits goes at once, and only once; a game that has ended has no turn."""
    ended = game(3)
    ended.arbiter.resign(Seat.FIRST)
    for one in (game(4), game(2), ended, game(9)):
        session.add_turn(one)
    session.announce_draining()
    assert session.wake.is_set()
    delivery = sent(session)
    assert turns(delivery) == [4, 2, 9]
    assert [own_ns for _, own_ns in delivery.turns] == [60 * SECOND] * 3
    assert delivery.is_draining
    assert not session.wake.is_set()
    assert sent(session) == NOTHING


async def test_a_clock_starts_when_its_turn_is_sent(session: Session) -> None:
    one = game(1)
    session.add_turn(one)
    sent(session, 7 * SECOND)
    one.arbiter.play(Seat.FIRST, 0, 12, Moment(9 * SECOND, 0), 0)
    assert list(one.arbiter.raw_ns) == [2 * SECOND]
    session.add_turn(one)
    assert sent(session, 9 * SECOND).turns == [(one, 60 * SECOND)]
    assert one.arbiter.clock.left_ns(Seat.FIRST) == 58 * SECOND


async def test_a_message_is_bounded(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit goes with the next, without another wake, and no turn before its start."""
    monkeypatch.setattr(module, "MAX_EVENTS", 3)
    for number in range(4):
        session.add_end(game(number))
    games = [game(number) for number in range(10, 17)]
    for one in games:
        session.add_start(one)
        session.add_turn(one)
    games[1].arbiter.resign(Seat.FIRST)
    session.add_end(games[1])
    parts = []
    while session.wake.is_set():
        delivery = sent(session)
        numbers = [[game.number for game in games] for games in (delivery.ended, delivery.started)]
        parts.append([*numbers, turns(delivery)])
    assert parts == [
        [[0, 1, 2], [10, 12, 13], []],
        [[3], [14, 15, 16], [10, 12]],
        [[], [], [13, 14, 15]],
        [[], [], [16]],
    ]


# -- notices ----------------------------------------------------------------------


async def test_too_many_notices_close_it(session: Session) -> None:
    """The last ones are still told; the first reason for closing stands."""
    assert not refuse(session, 1, 1, 1)
    assert refuse(session, 1)
    session.close(ReplacedError("later"))
    assert isinstance(session.closed.result(), TooManyNoticesError)
    assert [notice.ply for notice in sent(session).notices] == [0, 1, 2, 0]


async def test_notices_are_forgiven_with_time(session: Session) -> None:
    """A bot may be late now and then; all of the allowance is back after a while."""
    refill_ns = int(module.NOTICES_REFILL.total_seconds()) * SECOND
    now = 0
    for number in range(2_000):
        refuse(session, number, now=now)
        now += refill_ns // 3 + 1
    now += refill_ns
    assert not refuse(session, 1, 1, 1, now=now)
    assert refuse(session, 1, now=now)


async def test_a_message_with_an_effect_forgives_one_notice(session: Session) -> None:
    """Messages of one good and one late answer may go on, those of two late ones may not."""
    for number in range(2_000):
        session.effective_messages += 1
        assert not refuse(session, number)
    for number in range(4):
        session.effective_messages += 1
        refuse(session, number, number)
    assert session.closed.done()


async def test_an_answer_to_a_stopped_game_is_excused_once(session: Session) -> None:
    """As many as there are of such games; each makes room for one action more in a message."""
    for number in range(50):
        session.excuse_action(game(number))
    assert session.spare_actions == module.SPARE_ACTIONS + 50
    refuse(session, *range(50))
    assert session.spare_actions == module.SPARE_ACTIONS
    assert not refuse(session, 0, 0, 0)
    assert refuse(session, 0)


async def test_the_games_that_are_excused_are_bounded(session: Session) -> None:
    for number in range(module.MAX_STOPPED + 500):
        session.excuse_action(game(number))
    assert session.spare_actions == module.SPARE_ACTIONS + module.MAX_STOPPED


# -- pings ------------------------------------------------------------------------


async def test_the_lag_is_the_least_of_the_last_round_trips(session: Session) -> None:
    """Queueing only ever adds; and no bot gains by answering late."""
    now = SECOND
    for trip in (40, 15, 90, *[30] * (LAG_SAMPLES - 1)):
        session.ping()
        sequence = sent(session, now).ping
        session.pong(sequence, Moment(now + trip * MS, 0))
        now += 2 * SECOND
    assert session.lag_ns == 30 * MS


async def test_no_way_takes_less_than_nothing(session: Session) -> None:
    """A stall that began before the ping was sent is counted when it is over."""
    session.ping()
    sequence = sent(session, SECOND).ping
    session.pong(sequence, Moment(SECOND + 5 * MS, 8 * MS))
    assert session.lag_ns == 0


async def test_one_ping_is_under_way_at_a_time(session: Session) -> None:
    """A bot that doesn't answer isn't asked again; an answer to nothing is ignored."""
    session.ping()
    session.ping()
    sequence = sent(session, SECOND).ping
    session.ping()
    assert sent(session) == NOTHING
    session.pong(sequence + 1, Moment(2 * SECOND, 0))
    assert session.lag_ns == 0
    session.pong(sequence, Moment(SECOND + 20 * MS, 0))
    session.pong(sequence, Moment(9 * SECOND, 0))
    assert session.lag_ns == 20 * MS
    session.ping()
    assert sent(session, 9 * SECOND).ping == sequence + 1


async def test_a_flag_waits_for_a_ping_that_was_sent_after_it(session: Session) -> None:
    """The answer to an earlier ping may have been written before the bot's move.

    Flags that go up together share a ping; one that goes up while it is under way waits for the
    next.
    """
    together, later = [game(1), game(2)], game(3)
    session.ping()
    first = sent(session).ping
    for flagged in (*together, *together):
        session.probe(flagged)
    assert sent(session) == NOTHING
    assert session.pong(first, Moment(5, 0)) == (5, [])
    assert session.wake.is_set()
    second = sent(session, 100).ping
    session.probe(later)
    assert session.pong(first, Moment(110, 0)) == (0, ())
    assert session.pong(second, Moment(130, 0)) == (30, together)
    assert session.pong(sent(session, 200).ping, Moment(210, 0)) == (10, [later])
    session.ping()
    assert session.pong(sent(session, 300).ping, Moment(301, 0)) == (1, ())


async def test_a_game_that_has_ended_waits_for_no_ping(session: Session) -> None:
    """However many games a bot loses without ever answering, nothing is kept of them."""
    flagged = game(1)
    session.probe(flagged)
    sequence = sent(session).ping
    session.add_end(flagged)
    assert session.pong(sequence, Moment(5, 0)) == (5, ())


# -- evidence ---------------------------------------------------------------------


async def test_the_evidence_tells_what_is_known_of_the_way(session: Session) -> None:
    """The round trips, a ping that is not answered, and a write that the peer does not take."""
    told: dict[str, object] = {
        "round_trips_us": [40_000],
        "ping_unanswered_us": None,
        "writing_us": None,
    }
    session.ping()
    session.pong(sent(session, 0).ping, Moment(40 * MS, 0))
    assert session.lag_evidence(Moment(SECOND, 0)) == told
    session.ping()
    sent(session, SECOND)
    session.writing_since_ns = SECOND // 2
    told |= {"ping_unanswered_us": 1_000_000, "writing_us": 1_500_000}
    assert session.lag_evidence(Moment(2 * SECOND, 0)) == told


async def test_the_last_words_are_bounded(session: Session) -> None:
    """However much the bot said at once, and without what it said of other games."""
    plays = [(number % 2, 9, 7, None, 0) for number in range(1000)]
    failures = [Failure(1, "boom\n" * 1000, is_suppliers=False)]
    session.last_actions = Actions(plays, [], failures)
    session.heard = Moment(SECOND, 0)
    words = session.last_words(1, 3 * SECOND)
    assert words["silent_us"] == 2_000_000
    assert words["last_message"] == ["play 7 at ply 9"] * MAX_TOLD + ["of other games: 500"]
    session.last_actions = Actions([], [1], failures)
    resign, failure = cast("list[str]", session.last_words(1, SECOND)["last_message"])
    assert (resign, len(failure)) == ("resign", len("fail: ") + MAX_WORDS)
    assert "\n" not in failure
    session.close(ReplacedError("long " * 1000))
    assert len(str(session.last_words(1, 0)["stream_end"])) == module.MAX_STREAM_END
