"""Bots that forfeit game after game are paused."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from meijin.game import Color, Ending, Outcome, Party, Seat
from meijin.server.match.live.live_game import Participant
from meijin.server.tournaments.pauses import MOST_REMEMBERED, PAUSE, Pauses
from meijin.store.schema import BotId, BotVersionId

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import LiveGame

ADA, BOB, EVE = BotVersionId(1), BotVersionId(2), BotVersionId(3)
CRASH = Outcome(Ending.CRASH, Color.WHITE, Party.BLACK)
FIVE = Outcome(Ending.FIVE, Color.WHITE)
VOID = Outcome(Ending.VOID, None, Party.NETWORK)


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


def game(outcome: Outcome, black: BotVersionId = ADA, name: str = "ada") -> LiveGame:
    """A game that is over, with bob's white stones."""
    versions = {Seat.FIRST: black, Seat.SECOND: BOB}
    culprit = Seat.FIRST if outcome.at_fault is Party.BLACK else None
    arbiter = SimpleNamespace(outcome=outcome)
    players = {Seat.FIRST: Participant(BotId(1), name), Seat.SECOND: Participant(BotId(2), "bob")}
    fake = SimpleNamespace(
        arbiter=arbiter,
        version=versions.__getitem__,
        player=players.__getitem__,
        culprit=culprit,
    )
    return cast("LiveGame", fake)


def test_people_are_not_paused() -> None:
    """They come and go."""
    pauses = Pauses(2, Clock())
    assert not any(pauses.count(game(CRASH, name="~zoe-1")) for _ in range(5))


def test_forfeits_in_a_row_pause() -> None:
    """For a while; the count begins anew."""
    clock = Clock()
    pauses = Pauses(3, clock)
    assert [pauses.count(game(CRASH)) is not None for _ in range(3)] == [False, False, True]
    assert pauses.is_paused(ADA)
    assert not pauses.is_paused(BOB)
    clock.now = PAUSE.total_seconds()
    assert not pauses.is_paused(ADA)
    assert [pauses.count(game(CRASH)) is not None for _ in range(3)] == [False, False, True]


def test_games_that_run_on_pause_once() -> None:
    """Forfeits during a pause do not lengthen it."""
    pauses = Pauses(2, Clock())
    found = [pauses.count(game(CRASH)) is not None for _ in range(6)]
    assert found == [False, True, False, False, False, False]


def test_a_pause_is_shown_while_it_lasts() -> None:
    """With what is left of it, for the owner too."""
    clock = Clock()
    pauses = Pauses(1, clock)
    pauses.count(game(CRASH))
    clock.now = 60
    (pause,) = pauses.in_force()
    assert (pause.version_id, pause.remaining) == (ADA, PAUSE - timedelta(minutes=1))
    assert "wait 540 s" in pause.reason
    clock.now = PAUSE.total_seconds()
    assert pauses.in_force() == []


def test_a_pause_is_lifted() -> None:
    """The count begins anew; nobody else's pause is touched."""
    pauses = Pauses(2, Clock())
    for outcome, black in ((CRASH, ADA), (CRASH, ADA), (CRASH, EVE), (CRASH, EVE), (CRASH, ADA)):
        pauses.count(game(outcome, black))
    pauses.lift([ADA, BOB])
    assert not pauses.is_paused(ADA)
    assert [pause.version_id for pause in pauses.in_force()] == [EVE]
    assert [pauses.count(game(CRASH)) is not None for _ in range(2)] == [False, True]


def test_a_game_that_was_played_ends_the_row() -> None:
    """A void one doesn't: it says nothing of the bot."""
    pauses = Pauses(2, Clock())
    outcomes = (CRASH, FIVE, CRASH, VOID, CRASH)
    found = [pauses.count(game(outcome)) is not None for outcome in outcomes]
    assert found == [False, False, False, False, True]


def test_nobody_is_paused_where_the_limit_is_none() -> None:
    """0 stands for that."""
    pauses = Pauses(0, Clock())
    assert not any(pauses.count(game(CRASH)) for _ in range(100))


def test_what_is_remembered_is_bounded() -> None:
    """The version that forfeited longest ago is forgotten first."""
    pauses = Pauses(2, Clock())
    pauses.count(game(CRASH, ADA))
    for version in range(10, 10 + MOST_REMEMBERED):
        pauses.count(game(CRASH, BotVersionId(version)))
    assert pauses.count(game(CRASH, ADA)) is None
