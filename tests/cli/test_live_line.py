"""The line at the foot of the screen."""

import pytest

from meijin.cli.live_line import MARGIN, LiveLine


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """At the beginning."""
    return Clock()


def line_of(clock: Clock) -> LiveLine:
    """A match of which a quarter was played in a minute."""
    line = LiveLine("tournament 1", clock, total=20)
    line.set_done(0)
    line.set_done(5)
    line.faults = [1, 0]
    line.note = "alphabeta - mcts, which is a note of some length"
    clock.now = 60
    return line


@pytest.mark.parametrize("width", [200, 120, 100, 80, 60, 40, 20, 10])
def test_it_never_wraps(clock: Clock, width: int) -> None:
    """There is room for what a terminal writes behind it."""
    assert len(line_of(clock).text(width)) <= width - MARGIN


@pytest.mark.parametrize("width", [120, 80, 40])
def test_the_numbers_stay(clock: Clock, width: int) -> None:
    """Where there is little room the bar and the note go."""
    text = line_of(clock).text(width)
    assert "5/20" in text
    assert "faults 1 and 0" in text
    assert "0:01:00" in text
    assert ("━" in text) == (width == 120)


def test_the_end_is_estimated(clock: Clock) -> None:
    """At the speed so far, without what was played before."""
    line = line_of(clock)
    assert "0:03:00 left" in line.text(120)
    resumed = LiveLine("tournament 1", Clock(), total=20)
    resumed.set_done(15)
    assert resumed.remaining() is None


def test_the_standing_of_a_test_is_cut_at_its_end(clock: Clock) -> None:
    """The ratio is the last to go."""
    line = LiveLine("tournament 1", clock, total=1000)
    line.standing = ["LLR 0.65 (-2.94, 2.94)", "games 214", "nElo +28.5 ± 46.5", "LOS 88.5%"]
    assert "LOS 88.5%" in line.text(120)
    narrow = line.text(40)
    assert "LLR 0.65" in narrow
    assert "LOS" not in narrow
