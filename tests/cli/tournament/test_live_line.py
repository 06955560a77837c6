from typing import Any

import pytest

from meijin.cli.tournament.live_line import MARGIN, LiveLine


def line_of(done: int = 5, **fields: Any) -> LiveLine:
    """A match of which a quarter was played in a minute."""
    now = iter((0.0,))
    line = LiveLine("tournament 1", lambda: next(now, 60.0), total=20, **fields)
    line.set_done(0)
    line.set_done(done)
    return line


NOTE: dict[str, Any] = {
    "faults": [1, 0],
    "note": "alphabeta - mcts, which is a note of some length",
}


@pytest.mark.parametrize("width", [200, 120, 100, 80, 60, 40, 20, 10])
def test_it_never_wraps(width: int) -> None:
    assert len(line_of(**NOTE).text(width)) <= width - MARGIN


@pytest.mark.parametrize("width", [120, 80, 40])
def test_the_numbers_stay(width: int) -> None:
    text = line_of(**NOTE).text(width)
    assert all(number in text for number in ("5/20", "faults 1 and 0", "0:01:00"))
    assert ("━" in text) == (width == 120)


def test_the_end_is_estimated() -> None:
    assert "0:03:00 left" in line_of(**NOTE).text(120)
    resumed = LiveLine("tournament 1", total=20)
    resumed.set_done(15)
    assert resumed.remaining() is None


def test_the_standing_of_a_test_is_cut_at_its_end() -> None:
    standing = ["LLR 0.65 (-2.94, 2.94)", "games 214", "nElo +28.5 ± 46.5", "LOS 88.5%"]
    line = line_of(standing=standing)
    assert "LOS 88.5%" in line.text(120)
    narrow = line.text(40)
    assert "LLR 0.65" in narrow
    assert "LOS" not in narrow
