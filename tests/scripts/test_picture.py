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


def test_stones_come_in_the_order_of_the_moves() -> None:
    """Each with its number, and the line that has won after all of them."""
    board = Board.from_moves(RUN.cells)
    assert board.winner is (Color.BLACK if len(RUN.cells) % 2 else Color.WHITE)
    svg = ET.fromstring(picture.draw(RUN, picture.PALETTES["light"]))
    delayed = {each: each.attrib["style"] for each in svg.iter() if "style" in each.attrib}
    numbers = [(each.text, delay) for each, delay in delayed.items() if each.text]
    seconds = [float(delay.partition(":")[2].removesuffix("s")) for _, delay in numbers]
    assert [number for number, _ in numbers] == [str(ply + 1) for ply in range(len(RUN.cells))]
    assert seconds == sorted(set(seconds))
    last = max(delayed.values(), key=lambda delay: float(delay.partition(":")[2][:-1]))
    marks = [each.get("class") for each, delay in delayed.items() if delay == last]
    assert marks == ["win", "last"]
