"""Time lost on the road, and the warning of it."""

import logging

import pytest

from meijin.bots import Charge, Position
from meijin.bots.sdk.road import QUIET_SECONDS, Road
from meijin.game import Board, TimeControl


class Clock:
    """Seconds that pass when the test says so."""

    now = 0.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


def position(lost: float, control: str = "1/move", game_id: str = "7") -> Position:
    """A turn whose last answer has lost so many seconds, and took a tenth of one."""
    made = Position(Board(), TimeControl.parse(control), game_id=game_id)
    made.lost_us = round(lost * 1_000_000)
    made.last_charge = Charge(made.lost_us + 150_000, 50_000, made.lost_us + 100_000)
    return made


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of warnings so far."""
    return [entry.getMessage() for entry in caplog.records if entry.levelno == logging.WARNING]


def test_much_lost_time_is_told_with_its_numbers(caplog: pytest.LogCaptureFixture) -> None:
    """And with what to do."""
    Road(Clock()).note(position(0.4))
    (line,) = warnings(caplog)
    assert line.startswith(
        "game 7: 0.400 s of the 0.500 s charged for the last move were lost on the road, "
        "where a move has 1.000 s (0.050 s more were credited as lag); run the bot nearer"
    )


@pytest.mark.parametrize(
    ("lost", "control"), [(0.09, "1/move"), (0.4, "60+5"), (0.019, "0.1/move"), (0.0, "1/move")]
)
def test_little_is_not_told(lost: float, control: str, caplog: pytest.LogCaptureFixture) -> None:
    """Little of what a move has, or little by any measure."""
    Road(Clock()).note(position(lost, control))
    assert not warnings(caplog)


def test_a_game_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """However long it goes on."""
    clock = Clock()
    road = Road(clock)
    road.note(position(0.4))
    clock.now += 2 * QUIET_SECONDS
    road.note(position(0.4))
    assert len(warnings(caplog)) == 1


def test_many_games_are_told_of_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    """One a minute."""
    clock = Clock()
    road = Road(clock)
    for number in range(100):
        road.note(position(0.4, game_id=str(number)))
    assert len(warnings(caplog)) == 1
    clock.now += QUIET_SECONDS
    road.note(position(0.4, game_id="5"))
    assert len(warnings(caplog)) == 2
