"""What a bot says that it runs on."""

import platform
from pathlib import Path

import pytest

from meijin.bots.sdk import hardware as module
from meijin.bots.sdk.hardware import hardware
from meijin.wire.contract import HARDWARE_VARIABLE, MAX_HARDWARE


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HARDWARE_VARIABLE, raising=False)
    monkeypatch.setattr(module, "_cores", lambda: "2 cores")


def test_the_processors_name_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As Linux has it, the first one's, with single spaces."""
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: AMD  EPYC 7B13\n\nmodel name\t: other\n")
    monkeypatch.setattr(module, "CPU_INFO", info)
    assert hardware() == "AMD EPYC 7B13, 2 cores"


@pytest.mark.parametrize("text", [None, "Features\t: fp asimd\n"])
def test_elsewhere_the_platform_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None
) -> None:
    """Where there is no such file, or no name in it."""
    info = tmp_path / "cpuinfo"
    if text is not None:
        info.write_text(text)
    monkeypatch.setattr(module, "CPU_INFO", info)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert hardware() == "arm64, 2 cores"


def test_an_argument_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """And that over the platform; an empty text tells nothing."""
    monkeypatch.setenv(HARDWARE_VARIABLE, "a borrowed Mac")
    assert hardware() == "a borrowed Mac"
    assert hardware("H100") == "H100"
    assert hardware("") == ""


def test_it_has_one_short_line() -> None:
    """So that no server refuses it."""
    assert hardware("a\nb\x1b[31m") == "a b[31m"
    assert hardware("x" * 200) == "x" * MAX_HARDWARE
