"""The README's picture is that of its run, and the run's game was won as it shows."""

from pathlib import Path
from xml.etree import ElementTree as ET

import picture
import pytest

from meijin.game import Board, Color

RUN = picture.Run.read(picture.FOLDER / picture.RUN)
NAMES = sorted(picture.PALETTES)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_fresh(name: str) -> None:
    """What is committed is what the script draws."""
    drawn = (picture.FOLDER / f"arena-{name}.svg").read_text(encoding="utf-8")
    assert drawn == picture.draw(RUN, picture.PALETTES[name])


def test_the_winning_five_is_ringed() -> None:
    """Of the side that moved last, and of no more stones."""
    board = Board.from_moves(RUN.cells)
    winner = Color.BLACK if len(RUN.cells) % 2 else Color.WHITE
    assert board.has_won(winner)
    five = picture.winning_five(RUN.cells)
    assert len(five) == 5
    assert {board.stone(cell) for cell in five} == {winner}
    svg = ET.fromstring(picture.draw(RUN, picture.PALETTES["light"]))
    ringed = [each for each in svg.iter("{http://www.w3.org/2000/svg}circle") if each.get("stroke")]
    assert len(ringed) == 5


def test_everything_is_within_the_picture() -> None:
    """Text is as wide as its characters, three fifths of its size each."""
    svg = ET.fromstring(picture.draw(RUN, picture.PALETTES["dark"]))
    for text in svg.iter("{http://www.w3.org/2000/svg}text"):
        width = 0.6 * float(text.get("font-size", "0")) * len(text.text or "")
        assert float(text.get("x", "0")) + width <= picture.WIDTH
        assert 0 < float(text.get("y", "0")) <= picture.HEIGHT


def test_a_run_is_kept_whole(tmp_path: Path) -> None:
    """What is read is what was written."""
    RUN.write(tmp_path / "run.json")
    assert picture.Run.read(tmp_path / "run.json") == RUN
