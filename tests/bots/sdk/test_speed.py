"""The speed of this machine, kept between processes."""

import json

import pytest

from meijin.bots.sdk import speed
from meijin.bots.sdk.speed import forget_speed, read_speed, speed_path, write_speed
from meijin.wire.contract import MAX_NODES_PER_SECOND


def test_what_was_measured_is_told_from_then_on() -> None:
    """Until it is forgotten."""
    assert read_speed() == 0
    assert write_speed(400_000) == speed_path()
    assert read_speed() == 400_000
    write_speed(500_000)
    assert read_speed() == 500_000
    assert [path.name for path in speed_path().parent.iterdir()] == ["bench.json"]
    assert forget_speed()
    assert read_speed() == 0
    assert not forget_speed()


def test_another_machine_has_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder may be on several, and a machine may be changed."""
    write_speed(400_000)
    monkeypatch.setattr(speed, "found_hardware", lambda: "another")
    assert read_speed() == 0


@pytest.mark.parametrize("value", [0, -1, MAX_NODES_PER_SECOND + 1, 1.5, True, "1", None, []])
def test_an_impossible_speed_is_not_told(value: object) -> None:
    """A server would refuse the bot for it."""
    path = write_speed(1)
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"nodes_per_second": value}))
    assert read_speed() == 0


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "7", "[" * 9_000, "\0", "\xff"])
def test_a_broken_file_is_none(text: str) -> None:
    """No bot stays away for it."""
    path = write_speed(1)
    path.write_text(text, encoding="latin-1")
    assert read_speed() == 0
