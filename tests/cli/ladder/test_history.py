import builtins
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from meijin.cli.errors import CommandError
from meijin.cli.ladder.history import DatedElo, check_picture, save_plot, terminal_plot

CURVES = {
    "ada": [DatedElo(date(2026, 1, day), 1500.0 + 3 * day, 20.0) for day in range(1, 20)],
    "newcomer": [DatedElo(date(2026, 1, 19), 1480.0, 200.0)],
}
FIRST_DAY = {
    "ada": [DatedElo(date(2026, 1, 1), 1600.0, 150.0)],
    "bob": [DatedElo(date(2026, 1, 1), 1400.0, 150.0)],
}


def test_a_terminal_plot_has_title_legend_and_dates() -> None:
    text = terminal_plot(CURVES, "Ladder x", 100, color=False)
    assert all(word in text for word in ("Ladder x", "ada", "newcomer", "2026-01-"))
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_a_picture_is_of_the_kind_of_its_name(tmp_path: Path, suffix: str, magic: bytes) -> None:
    path = tmp_path / f"ladder{suffix}"
    check_picture(path)
    save_plot(CURVES, "Ladder x", path)
    assert path.read_bytes().startswith(magic)
    assert suffix != ".svg" or "<!-- newcomer -->" in path.read_text()


def test_a_first_day_is_said_to_be_one(tmp_path: Path) -> None:
    """Bots stand beside each other with their intervals, where there are no curves yet."""
    path = tmp_path / "ladder.svg"
    save_plot(FIRST_DAY, "Ladder x", path)
    assert "2026-01-01, one day so far" in path.read_text()
    lines = terminal_plot(FIRST_DAY, "Ladder x", 100, color=False).splitlines()
    ratings = [" 1600 ± 150  ada", " 1400 ± 150  bob"]
    assert lines == ["Ladder x", *ratings, "2026-01-01, one day so far"]


@pytest.mark.parametrize("name", ["ada $\\frac$", "ada \x07\x1b[2J"])
def test_names_are_drawn_as_they_are(tmp_path: Path, name: str) -> None:
    save_plot({name: CURVES["ada"]}, "Ladder x", tmp_path / "ladder.svg")
    text = terminal_plot({name: CURVES["ada"]}, "Ladder x", 100, color=False)
    assert not set(text) & {"\x07", "\x1b"}


def test_what_can_not_be_drawn_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match=r"ends in \.png, \.svg, \.pdf"):
        check_picture(tmp_path / "ladder.xls")
    with pytest.raises(CommandError, match=r"can't write .*nowhere.*No such file"):
        save_plot(CURVES, "Ladder x", tmp_path / "nowhere" / "ladder.png")
    real = builtins.__import__

    def without_plots(name: str, *rest: Any, **named: Any) -> Any:
        if name in {"uniplot", "matplotlib"}:
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_plots)
    with pytest.raises(CommandError, match="meijin\\[plots\\]"):
        terminal_plot(CURVES, "Ladder x", 100, color=False)
    with pytest.raises(CommandError, match="meijin\\[plots\\]"):
        check_picture(Path("ladder.png"))
