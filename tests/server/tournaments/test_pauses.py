"""Bots that forfeit game after game are paused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

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


class Scene:
    """Pauses, with a clock that stands, and games of which each forfeit is the first player's."""

    def __init__(self, most_faults: int) -> None:
        self.now = 0.0
        self.pauses = Pauses(most_faults, lambda: self.now)

    def play(
        self, outcomes: Sequence[Outcome], version: BotVersionId = ADA, name: str = "ada"
    ) -> list[bool]:
        versions = {Seat.FIRST: version, Seat.SECOND: BOB}
        first = Participant(BotId(1), name)
        found = []
        for outcome in outcomes:
            game = SimpleNamespace(
                arbiter=SimpleNamespace(outcome=outcome),
                version=versions.__getitem__,
                player=lambda _seat: first,
                culprit=Seat.FIRST if outcome.at_fault is Party.BLACK else None,
            )
            found.append(self.pauses.count(cast("LiveGame", game)) is not None)
        return found


@pytest.mark.parametrize(
    ("most", "name", "outcomes", "paused_at"),
    [
        (2, "ada", [CRASH] * 6, [1]),  # forfeits during a pause do not lengthen it
        (2, "~zoe-1", [CRASH] * 5, []),  # people come and go
        (2, "ada", [CRASH, FIVE, CRASH, VOID, CRASH], [4]),  # a void game says nothing
        (0, "ada", [CRASH] * 100, []),  # for never
    ],
)
def test_which_forfeits_pause(
    most: int, name: str, outcomes: list[Outcome], paused_at: list[int]
) -> None:
    """This many in a row, of a bot, while it is not paused."""
    found = Scene(most).play(outcomes, name=name)
    assert [place for place, is_paused in enumerate(found) if is_paused] == paused_at


def test_a_pause_lasts_for_a_while() -> None:
    """It is shown meanwhile; the count begins anew then."""
    scene = Scene(3)
    for begin in (0.0, PAUSE.total_seconds()):
        scene.now = begin
        assert not scene.pauses.is_paused(ADA)
        assert scene.play([CRASH] * 3) == [False, False, True]
        assert scene.pauses.is_paused(ADA)
        assert not scene.pauses.is_paused(BOB)
        scene.now += 60
        (pause,) = scene.pauses.in_force()
        assert (pause.version_id, pause.remaining) == (ADA, PAUSE - timedelta(minutes=1))
        assert "wait 540 s" in pause.reason
    scene.now = 2 * PAUSE.total_seconds()
    assert scene.pauses.in_force() == []


def test_a_pause_is_lifted() -> None:
    """The count begins anew; nobody else's pause is touched."""
    scene = Scene(2)
    for version, games in ((ADA, 2), (EVE, 2), (ADA, 1)):
        scene.play([CRASH] * games, version)
    scene.pauses.lift([ADA, BOB])
    assert not scene.pauses.is_paused(ADA)
    assert [pause.version_id for pause in scene.pauses.in_force()] == [EVE]
    assert scene.play([CRASH] * 2) == [False, True]


def test_what_is_remembered_is_bounded() -> None:
    """The version that forfeited longest ago is forgotten first."""
    scene = Scene(2)
    for version in (ADA, *range(10, 10 + MOST_REMEMBERED)):
        scene.play([CRASH], BotVersionId(version))
    assert scene.play([CRASH]) == [False]
