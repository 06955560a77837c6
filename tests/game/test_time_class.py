"""Classes of time controls."""

from datetime import timedelta

import pytest

from meijin.game import TIME_CLASSES, TimeClass, TimeClasses, TimeControl
from meijin.game.time_class import thinking_time


@pytest.mark.parametrize(
    ("control", "seconds"),
    [
        ("60", 60),
        ("60+0.5", 80),
        ("5/move", 200),
        ("180,30/move", 180),  # the clock binds
        ("600,5/move", 200),  # the limit of a move binds
        ("10+1,1/move", 40),
    ],
)
def test_thinking_time(control: str, seconds: float) -> None:
    """A side's time for 40 moves, by the clock or by the limit of a move, whichever is less."""
    assert thinking_time(TimeControl.parse(control)) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("control", "name"),
    [
        ("0.01/move", "ultrabullet"),
        ("0.099999/move", "ultrabullet"),
        ("0.1/move", "bullet"),
        ("0.4/move", "bullet"),
        ("0.5/move", "blitz"),
        ("1/move", "blitz"),
        ("60+0.5", "blitz"),
        ("5/move", "rapid"),
        ("180,30/move", "rapid"),
        ("30/move", "classical"),
        ("604800+14400", "classical"),
    ],
)
def test_usual_classes(control: str, name: str) -> None:
    """A class begins with its lower bound and ends before the upper one."""
    found = TIME_CLASSES.of(TimeControl.parse(control))
    assert found.name == name
    assert TimeClass.parse(str(found)) == found


@pytest.mark.parametrize(
    "text", ["all", "fast=1,slow", "ultrabullet=4,bullet=20,blitz=120,rapid=600,classical"]
)
def test_classes_in_writing(text: str) -> None:
    """What is written is read back."""
    assert str(TimeClasses.parse(text)) == text
    assert TimeClasses.parse(text.replace(",", " , ")) == TimeClasses.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "can't name a class"),
        ("fast=1", "can't name a class"),
        ("fast,slow", '"fast" names no bound'),
        ("fast=x,slow", '"fast=x" names no bound'),
        ("fast=0,slow", "must rise"),
        ("fast=2,faster=2,slow", "must rise"),
        ("fast=2,fast=3,slow", "the same name"),
        ("Fast=2,slow", "can't name a class"),
        ("very-fast=2,slow", "can't name a class"),
        ("mixed=2,slow", "can't name a class"),
        ("a" * 21, "can't name a class"),
        (",".join(f"{chr(97 + n)}={n + 1}" for n in range(10)) + ",z", "at most 10"),
    ],
)
def test_impossible_classes(text: str, message: str) -> None:
    """What can't be is refused with a hint."""
    with pytest.raises(ValueError, match=message):
        TimeClasses.parse(text)


@pytest.mark.parametrize("text", ["blitz", "blitz 20", "20-120", "blitz 20-120 "])
def test_no_class(text: str) -> None:
    """Something else is refused."""
    with pytest.raises(ValueError, match="is no class of time controls"):
        TimeClass.parse(text)
