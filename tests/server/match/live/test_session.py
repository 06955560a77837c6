"""A stream's outbox and its lag."""

from __future__ import annotations

from datetime import timedelta
from typing import cast

import pytest

from meijin.game import Board, Clock, Seat, TimeControl, Variant
from meijin.server.errors import ReplacedError, TooManyNoticesError
from meijin.server.match.arbiter.arbiter import Arbiter
from meijin.server.match.arbiter.stalls import NS_PER_SECOND, Moment
from meijin.server.match.live import session as module
from meijin.server.match.live.commands import MAX_TOLD, MAX_WORDS, Actions, Failure
from meijin.server.match.live.lag import LAG_SAMPLES
from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.server.match.live.session import Delivery, Notice, NoticeReason, Session, Welcome
from meijin.store.schema import BotId, BotVersionId
from meijin.wire import Capabilities

MILLISECOND = NS_PER_SECOND // 1000
GRACE = timedelta(seconds=30)
NOTHING = Delivery(turns=[])


class FakeGame:
    """A game as far as a turn shows it."""

    def __init__(self, number: int) -> None:
        self.number = number
        board = Board(Variant(width=5, height=5))
        self.arbiter = Arbiter(board, Clock(TimeControl.parse("60")), grace_ns=0)


def game(number: int) -> LiveGame:
    """A game at its first turn."""
    return cast("LiveGame", FakeGame(number))


@pytest.fixture
async def session() -> Session:
    """A session whose welcome was sent."""
    player = Participant(BotId(1), "ada")
    session = Session(
        "id",
        player,
        BotVersionId(1),
        Capabilities(),
        games={},
        grace=GRACE,
        max_notices=3,
        moment=Moment(0, 0),
    )
    assert sent(session).welcome == Welcome("id", "ada", GRACE, 0)
    return session


def sent(session: Session, now: int = 0) -> Delivery:
    """What is sent now."""
    return session.drain(Moment(now, 0))


def late(number: int, ply: int) -> Notice:
    """An answer that came too late."""
    return Notice(number, ply, NoticeReason.STALE_PLY, "late")


def turns(delivery: Delivery) -> list[int]:
    """The games whose turns are sent."""
    return [game.number for game, _ in delivery.turns]


def clocks(delivery: Delivery) -> list[int]:
    """Nanoseconds on the clocks of the turns that are sent."""
    return [own_ns for _, own_ns in delivery.turns]


async def test_turns_share_a_message(session: Session) -> None:
    """Everything that waits goes at once, and only once."""
    for number in (4, 2, 9):
        session.add_turn(game(number))
    assert session.wake.is_set()
    delivery = sent(session)
    assert turns(delivery) == [4, 2, 9]
    assert clocks(delivery) == [60 * NS_PER_SECOND] * 3
    assert not session.wake.is_set()
    assert sent(session) == NOTHING


async def test_a_clock_starts_when_its_turn_is_sent(session: Session) -> None:
    """Not when it was put into the outbox."""
    one = game(1)
    session.add_turn(one)
    sent(session, now=7 * NS_PER_SECOND)
    one.arbiter.play(one.arbiter.seat_to_act, 0, 12, Moment(9 * NS_PER_SECOND, 0), 0)
    assert list(one.arbiter.raw_ns) == [2 * NS_PER_SECOND]
    session.add_turn(one)
    delivery = sent(session, now=9 * NS_PER_SECOND)
    assert (turns(delivery), clocks(delivery)) == ([1], [60 * NS_PER_SECOND])
    assert one.arbiter.clock.left_ns(Seat.FIRST) == 58 * NS_PER_SECOND


async def test_a_turn_of_a_game_that_has_ended_is_not_sent(session: Session) -> None:
    """Nobody thinks about it any more."""
    one, two = game(1), game(2)
    session.add_turn(one)
    session.add_turn(two)
    one.arbiter.resign(one.arbiter.seat_to_act)
    assert turns(sent(session)) == [2]


async def test_a_message_is_bounded(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit goes with the next, without another wake."""
    monkeypatch.setattr(module, "MAX_EVENTS", 3)
    for number in range(7):
        session.add_turn(game(number))
    numbers = []
    while session.wake.is_set():
        numbers.append(turns(sent(session)))
    assert numbers == [[0, 1, 2], [3, 4, 5], [6]]


async def test_starts_and_ends_are_bounded_too(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that returns to thousands of games gets them in parts, no turn before its start."""
    monkeypatch.setattr(module, "MAX_EVENTS", 3)
    for number in range(4):
        session.add_end(game(number))
    games = [game(number) for number in range(10, 15)]
    for one in games:
        session.add_start(one)
        session.add_turn(one)
    games[1].arbiter.resign(games[1].arbiter.seat_to_act)
    session.add_end(games[1])
    parts = []
    while session.wake.is_set():
        delivery = sent(session)
        numbers = [[game.number for game in games] for games in (delivery.ended, delivery.started)]
        parts.append([*numbers, turns(delivery)])
    assert parts == [
        [[0, 1, 2], [10, 12, 13], []],
        [[3], [14], [10, 12]],
        [[], [], [13, 14]],
    ]


async def test_too_many_notices_close_it(session: Session) -> None:
    """The last ones are still told; the first reason for closing stands."""
    for ply in range(3):
        session.refuse(late(1, ply), 0)
    assert not session.closed.done()
    session.refuse(late(1, 3), 0)
    session.close(ReplacedError("later"))
    assert isinstance(session.closed.result(), TooManyNoticesError)
    assert [notice.ply for notice in sent(session).notices] == [0, 1, 2, 3]


async def test_notices_are_forgiven_with_time(session: Session) -> None:
    """A bot may be late now and then for ever; all of the allowance is back after a while."""
    refill_ns = int(module.NOTICES_REFILL.total_seconds()) * NS_PER_SECOND
    now = 0
    for number in range(2_000):
        session.refuse(late(number, 3), now)
        now += refill_ns // 3 + 1
    now += refill_ns
    for _ in range(3):
        session.refuse(late(1, 0), now)
    assert not session.closed.done()
    session.refuse(late(1, 0), now)
    assert session.closed.done()


async def test_a_message_with_an_effect_forgives_one_notice(session: Session) -> None:
    """Messages of one good and one late answer go on for ever, those of two late ones do not."""
    for number in range(2_000):
        session.effective_messages += 1
        session.refuse(late(number, 3), 0)
    assert not session.closed.done()
    for number in range(4):
        session.effective_messages += 1
        session.refuse(late(number, 3), 0)
        session.refuse(late(number, 4), 0)
    assert session.closed.done()


async def test_an_answer_to_a_stopped_game_is_excused_once(session: Session) -> None:
    """As many as there are of such games; each makes room for one action more in a message."""
    for number in range(50):
        session.excuse_action(game(number))
    assert session.spare_actions == module.SPARE_ACTIONS + 50
    for number in range(50):
        session.refuse(late(number, 3), 0)
    assert session.spare_actions == module.SPARE_ACTIONS
    for _ in range(3):
        session.refuse(late(0, 3), 0)
    assert not session.closed.done()
    session.refuse(late(0, 3), 0)
    assert session.closed.done()


async def test_the_games_that_are_excused_are_bounded(session: Session) -> None:
    """The oldest are forgotten."""
    for number in range(module.MAX_STOPPED + 500):
        session.excuse_action(game(number))
    assert session.spare_actions == module.SPARE_ACTIONS + module.MAX_STOPPED


async def test_the_lag_is_the_least_of_the_last_round_trips(session: Session) -> None:
    """Queueing only ever adds; and no bot gains by answering late."""
    now = NS_PER_SECOND
    for trip in (40, 15, 90, *[30] * (LAG_SAMPLES - 1)):
        session.ping()
        sequence = sent(session, now).ping
        now += trip * MILLISECOND
        session.pong(sequence, Moment(now, 0))
        now += NS_PER_SECOND
    assert session.lag_ns == 30 * MILLISECOND


async def test_no_way_takes_less_than_nothing(session: Session) -> None:
    """A stall that began before the ping was sent is counted when it is over."""
    session.ping()
    sequence = sent(session, NS_PER_SECOND).ping
    session.pong(sequence, Moment(NS_PER_SECOND + 5 * MILLISECOND, 8 * MILLISECOND))
    assert session.lag_ns == 0


async def test_one_ping_is_under_way_at_a_time(session: Session) -> None:
    """A bot that doesn't answer isn't asked again; an answer to nothing is ignored."""
    session.ping()
    session.ping()
    sequence = sent(session, now=NS_PER_SECOND).ping
    session.ping()
    assert sent(session) == NOTHING
    session.pong(sequence + 1, Moment(2 * NS_PER_SECOND, 0))
    assert session.lag_ns == 0
    session.pong(sequence, Moment(NS_PER_SECOND + 20 * MILLISECOND, 0))
    session.pong(sequence, Moment(9 * NS_PER_SECOND, 0))
    assert session.lag_ns == 20 * MILLISECOND
    session.ping()
    assert sent(session, now=9 * NS_PER_SECOND).ping == sequence + 1


async def test_a_flag_waits_for_a_ping_that_was_sent_after_it(session: Session) -> None:
    """The answer to an earlier ping may have been written before the bot's move."""
    flagged = game(1)
    session.ping()
    first = sent(session).ping
    session.probe(flagged)
    session.probe(flagged)
    assert sent(session) == NOTHING
    assert session.pong(first, Moment(5, 0)) == (5, [])
    assert session.wake.is_set()
    second = sent(session, 100).ping
    assert session.pong(first, Moment(110, 0)) == (0, ())
    assert session.pong(second, Moment(130, 0)) == (30, [flagged])
    session.ping()
    assert session.pong(sent(session, 200).ping, Moment(210, 0)) == (10, ())


async def test_flags_that_go_up_together_share_a_ping(session: Session) -> None:
    """And one that goes up while it is under way waits for the next."""
    together, later = [game(1), game(2)], game(3)
    for flagged in together:
        session.probe(flagged)
    first = sent(session).ping
    session.probe(later)
    assert session.pong(first, Moment(5, 0)) == (5, together)
    assert session.pong(sent(session, 10).ping, Moment(12, 0)) == (2, [later])


async def test_a_game_that_has_ended_waits_for_no_ping(session: Session) -> None:
    """However many games a bot loses without ever answering, nothing is kept of them."""
    flagged = game(1)
    session.probe(flagged)
    sequence = sent(session).ping
    session.add_end(flagged)
    assert session.pong(sequence, Moment(5, 0)) == (5, ())


async def test_the_evidence_tells_what_is_known_of_the_way(session: Session) -> None:
    """The round trips, a ping that is not answered, and a write that the peer does not take."""
    session.ping()
    session.pong(sent(session, 0).ping, Moment(40 * MILLISECOND, 0))
    assert session.lag_evidence(Moment(NS_PER_SECOND, 0)) == {
        "round_trips_us": [40_000],
        "ping_unanswered_us": None,
        "writing_us": None,
    }
    session.ping()
    sent(session, NS_PER_SECOND)
    session.writing_since_ns = NS_PER_SECOND // 2
    assert session.lag_evidence(Moment(2 * NS_PER_SECOND, 0)) == {
        "round_trips_us": [40_000],
        "ping_unanswered_us": 1_000_000,
        "writing_us": 1_500_000,
    }


async def test_the_last_words_are_bounded(session: Session) -> None:
    """However much the bot said at once, and without what it said of other games."""
    plays = [(number % 2, 9, 7, None, 0) for number in range(1000)]
    failures = [Failure(1, "boom\n" * 1000, is_suppliers=False)]
    session.last_actions = Actions(plays, [], failures)
    session.heard = Moment(NS_PER_SECOND, 0)
    words = session.last_words(1, 3 * NS_PER_SECOND)
    assert words["silent_us"] == 2_000_000
    assert words["last_message"] == ["play 7 at ply 9"] * MAX_TOLD + ["of other games: 500"]
    session.last_actions = Actions([], [1], failures)
    resign, failure = cast("list[str]", session.last_words(1, NS_PER_SECOND)["last_message"])
    assert (resign, len(failure)) == ("resign", len("fail: ") + MAX_WORDS)
    assert "\n" not in failure
    session.close(ReplacedError("long " * 1000))
    assert len(str(session.last_words(1, 0)["stream_end"])) == module.MAX_STREAM_END


async def test_draining_is_told_once(session: Session) -> None:
    """With whatever else waits."""
    session.add_turn(game(1))
    session.announce_draining()
    delivery = sent(session)
    assert turns(delivery) == [1]
    assert delivery.is_draining
    assert sent(session) == NOTHING
