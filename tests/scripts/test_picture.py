"""The README's picture is that of its run, and the run's game was won as it shows."""

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
    assert board.winner is winner
    five = picture.winning_five(RUN.cells)
    assert len(five) == 5
    assert {board.stone(cell) for cell in five} == {winner}
    svg = ET.fromstring(picture.draw(RUN, picture.PALETTES["light"]))
    ringed = [each for each in svg.iter("{http://www.w3.org/2000/svg}circle") if each.get("stroke")]
    assert len(ringed) == 5
