"""Ratings over the days, drawn."""

import builtins
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from meijin.cli.errors import CommandError
from meijin.cli.plots import Point, check_picture, save_plot, terminal_plot

CURVES = {
    "ada": [Point(date(2026, 1, day), 1500.0 + 3 * day, 20.0) for day in range(1, 20)],
    "newcomer": [Point(date(2026, 1, 19), 1480.0, 200.0)],
}


def test_a_terminal_plot_has_title_legend_and_dates() -> None:
    """It is as wide as the terminal, and no wider."""
    text = terminal_plot(CURVES, "Ladder x", 100, color=False)
    assert "Ladder x" in text
    assert "ada" in text
    assert "newcomer" in text
    assert "2026-01-" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_a_picture_is_of_the_kind_of_its_name(tmp_path: Path, suffix: str, magic: bytes) -> None:
    """The three kinds that can be drawn."""
    path = tmp_path / f"ladder{suffix}"
    check_picture(path)
    save_plot(CURVES, "Ladder x", path)
    assert path.read_bytes().startswith(magic)


def test_an_svg_names_the_bots(tmp_path: Path) -> None:
    """Curves are told apart by a legend."""
    path = tmp_path / "ladder.svg"
    save_plot(CURVES, "Ladder x", path)
    assert "<!-- newcomer -->" in path.read_text()


FIRST_DAY = {
    "ada": [Point(date(2026, 1, 1), 1600.0, 150.0)],
    "bob": [Point(date(2026, 1, 1), 1400.0, 150.0)],
}


def test_a_first_day_is_said_to_be_one(tmp_path: Path) -> None:
    """Bots stand beside each other with their intervals, where there are no curves yet."""
    path = tmp_path / "ladder.svg"
    save_plot(FIRST_DAY, "Ladder x", path)
    assert "2026-01-01, one day so far" in path.read_text()
    lines = terminal_plot(FIRST_DAY, "Ladder x", 100, color=False).splitlines()
    assert lines == [
        "Ladder x",
        " 1600 ± 150  ada",
        " 1400 ± 150  bob",
        "2026-01-01, one day so far",
    ]


@pytest.mark.parametrize("name", ["ada $\\frac$", "ada \x07\x1b[2J"])
def test_names_are_drawn_as_they_are(tmp_path: Path, name: str) -> None:
    """A version's label is no formula, and no control character reaches a screen."""
    save_plot({name: CURVES["ada"]}, "Ladder x", tmp_path / "ladder.svg")
    text = terminal_plot({name: CURVES["ada"]}, "Ladder x", 100, color=False)
    assert not set(text) & {"\x07", "\x1b"}


def test_other_kinds_of_pictures_are_refused(tmp_path: Path) -> None:
    """Before anything is asked of a server."""
    with pytest.raises(CommandError, match=r"ends in \.png, \.svg, \.pdf"):
        check_picture(tmp_path / "ladder.xls")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """In one line."""
    with pytest.raises(CommandError, match=r"can't write .*nowhere.*No such file"):
        save_plot(CURVES, "Ladder x", tmp_path / "nowhere" / "ladder.png")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to draw need parts that the bare installation has not."""
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
