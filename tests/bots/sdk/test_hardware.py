"""What a bot says that it runs on."""

import json
import platform
from pathlib import Path

import pytest

from meijin.bots.sdk import hardware as module
from meijin.bots.sdk.hardware import forget_speed, hardware, read_speed, speed_path, write_speed
from meijin.wire.contract import HARDWARE_VARIABLE, MAX_HARDWARE, MAX_NODES_PER_SECOND


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HARDWARE_VARIABLE, raising=False)
    monkeypatch.setattr(module, "_cores", lambda: "2 cores")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("processor\t: 0\nmodel name\t: AMD  EPYC 7B13\n\nmodel name\t: other\n", "AMD EPYC 7B13"),
        ("Features\t: fp asimd\n", "arm64"),
        (None, "arm64"),
    ],
)
def test_the_processors_name_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None, name: str
) -> None:
    """As Linux has it, the first one's, with single spaces; elsewhere the platform is asked."""
    info = tmp_path / "cpuinfo"
    if text is not None:
        info.write_text(text)
    monkeypatch.setattr(module, "CPU_INFO", info)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert hardware() == f"{name}, 2 cores"


def test_an_argument_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """And that over the platform; an empty text tells nothing."""
    monkeypatch.setenv(HARDWARE_VARIABLE, "a borrowed Mac")
    assert hardware() == "a borrowed Mac"
    assert hardware("H100") == "H100"
    assert hardware("") == ""


def test_it_has_one_short_line() -> None:
    assert hardware("a\nb\x1b[31m") == "a b[31m"
    assert hardware("x" * 200) == "x" * MAX_HARDWARE


def test_what_was_measured_is_told_from_then_on() -> None:
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
    monkeypatch.setattr(module, "found_hardware", lambda: "another")
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
