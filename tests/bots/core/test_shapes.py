"""The shapes of lines, against a definition spelt out cell by cell."""

from __future__ import annotations

from functools import cache

import pytest

from meijin.bots.core import shapes
from meijin.bots.core.lookup import FIVES
from meijin.bots.core.shapes import code_threats, window_shapes
from meijin.game import CARO, CARO_EXACT, FREESTYLE, RENJU, STANDARD, Rule

LOWER = {
    "five": "four",
    "open four": "open three",
    "four": "three",
    "open three": "open two",
}
NAMES = {
    "": shapes.LITTLE,
    "open two": shapes.OPEN_TWO,
    "three": shapes.THREE,
    "open three": shapes.OPEN_THREE,
    "four": shapes.FOUR,
    "open four": shapes.OPEN_FOUR,
    "five": shapes.FIVE,
}


@cache
def shape_of(line: str, *, exact: bool) -> str:
    """Name the shape of the stone in the middle of ``x`` own, ``.`` empty, ``#`` others."""
    middle = len(line) // 2
    left = len(line[:middle]) - len(line[:middle].rstrip("x"))
    right = len(line[middle + 1 :]) - len(line[middle + 1 :].lstrip("x"))
    run = left + 1 + right
    if run == 5 or (run > 5 and not exact):
        return "five"
    next_shapes = [
        shape_of(line[:at] + "x" + line[at + 1 :], exact=exact)
        for at, symbol in enumerate(line)
        if symbol == "."
    ]
    if next_shapes.count("five") > 1:
        return "open four"
    return next((lower for name, lower in LOWER.items() if name in next_shapes), "")


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
def test_every_window(rule: Rule) -> None:
    """Each window, or for the standard rule every seventh, has the shape that moves lead to."""
    exact = rule is STANDARD
    fives, _ = FIVES[rule.name]
    reach = fives.reach
    table = window_shapes(fives, reach)
    assert len(table) == 3 ** (2 * reach)
    for window in range(0, len(table), 7 if exact else 1):
        symbols = "".join(".x#"[window // 3**cell % 3] for cell in range(2 * reach))
        line = f"{symbols[:reach]}x{symbols[reach:]}"
        assert table[window] == NAMES[shape_of(line, exact=exact)], line


@pytest.mark.parametrize(
    ("line", "rule", "shape"),
    [
        ("..xx.xx..", FREESTYLE, shapes.FIVE),
        ("....xxxx#", FREESTYLE, shapes.FOUR),
        ("...xxxx..", FREESTYLE, shapes.OPEN_FOUR),
        ("x.xxx.x..", FREESTYLE, shapes.OPEN_FOUR),
        ("...xxx...", FREESTYLE, shapes.OPEN_THREE),
        ("#..xxx..#", FREESTYLE, shapes.OPEN_THREE),
        ("#.xxx.#..", FREESTYLE, shapes.THREE),
        ("##xxx.#..", FREESTYLE, shapes.LITTLE),
        ("...xx....", FREESTYLE, shapes.OPEN_TWO),
        ("....x....", FREESTYLE, shapes.LITTLE),
        (".xxxxxx....", STANDARD, shapes.LITTLE),
        (".x.xxxx....", STANDARD, shapes.FOUR),
        ("...xxxx....", STANDARD, shapes.OPEN_FOUR),
        (".xxxxxx....", RENJU, shapes.OVERLINE),
        ("...xxxx....", RENJU, shapes.STRAIGHT_FOUR),
        (".x.xxxx....", RENJU, shapes.LIMITED_FOUR),
        ("..x.xxx.x..", RENJU, shapes.DOUBLE_FOUR),
        ("....xxx....", RENJU, shapes.LIMITED_THREE),
        ("...xxx.....", RENJU, shapes.LIMITED_THREE),
        (".x..xxx.x..", RENJU, shapes.LIMITED_FOUR),
        (".x..xxx..x.", RENJU, shapes.THREE),
        ("#xxxxx.....", CARO, shapes.FIVE),
        ("#xxxxx#....", CARO, shapes.LITTLE),
        ("xxxxxx#....", CARO, shapes.FIVE),
        ("xxxxxx.....", CARO_EXACT, shapes.LITTLE),
        ("..#.xxxx.#.", CARO, shapes.FOUR),
        ("....xxxx...", CARO, shapes.OPEN_FOUR),
        ("..#.xxxx...", CARO, shapes.FOUR),
        ("...#xxxx#..", CARO, shapes.LITTLE),
        ("...#xxxx...", CARO, shapes.FOUR),
    ],
)
def test_known_lines(line: str, rule: Rule, shape: int) -> None:
    """Lines that every player knows; the middle stone is the one just played."""
    middle = len(line) // 2
    if line[middle] == ".":
        line = line[:middle] + "x" + line[middle + 1 :]
    symbols = line[:middle] + line[middle + 1 :]
    window = sum(".x#".index(symbol) * 3**cell for cell, symbol in enumerate(symbols))
    fives, _ = FIVES[rule.name]
    assert window_shapes(fives, fives.reach)[window] == shape


@pytest.mark.parametrize(
    ("found", "threat"),
    [
        ((0, 0, 0, 0), shapes.QUIET),
        ((shapes.THREE, 0, shapes.OPEN_TWO, 0), shapes.QUIET),
        ((0, shapes.OPEN_THREE, 0, 0), shapes.ONE_THREE),
        ((shapes.OPEN_TWO, shapes.OPEN_THREE, 0, 0), shapes.THREE_AND_MORE),
        ((0, shapes.OPEN_THREE, shapes.OPEN_THREE, 0), shapes.THREE_AND_MORE),
        ((0, shapes.FOUR, 0, 0), shapes.ONE_FOUR),
        ((shapes.THREE, shapes.FOUR, 0, 0), shapes.FOUR_AND_MORE),
        ((shapes.OPEN_THREE, shapes.FOUR, 0, 0), shapes.FOUR_AND_MORE),
        ((shapes.FOUR, shapes.FOUR, 0, 0), shapes.TWO_FOURS),
        ((0, 0, 0, shapes.OPEN_FOUR), shapes.TWO_FOURS),
        ((shapes.FIVE, 0, 0, shapes.OPEN_FOUR), shapes.WIN),
    ],
)
def test_threats(found: tuple[int, ...], threat: int) -> None:
    """The shapes of the four directions make one threat, in any order."""
    for turn in range(4):
        shapes_found = found[turn:] + found[:turn]
        code = sum(shape << 4 * way for way, shape in enumerate(shapes_found))
        assert code_threats()[code] == threat
