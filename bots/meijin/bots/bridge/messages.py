"""Analysis in the messages of engines: evaluation, depth, nodes and the principal variation.

No protocol says how these are written. What is read here are words that Rapfi ("Depth 12-24 | Eval
45 | Node 120K | Bestline h8 i9"), Yixin ("depth 9 value 30 bestline [7,7] [8,8]"), Embryo and pela
("ev 45 d 12 n 120K pv 7,7 8,8") and many others have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from meijin.bots.sdk.answer import Analysis
from meijin.game import Variant

MATE_SCORE = 30_000
"""The score of a win that is proven, less the plies to it."""
MAX_MESSAGE = 1024
"""Characters of a message that are looked at."""
_MAX_PV = 64

_DEPTH = re.compile(r"\b(?:depth|d)\s*[:=]?\s*([0-9]{1,4})\b", re.IGNORECASE)
_SCORE = re.compile(
    r"\b(?:eval(?:uation)?|ev|value|val|score)\s*[:=]?\s*"
    r"(?:([+-]?)M([0-9]{1,4})|([+-]?[0-9]{1,9}))(?![0-9])",
    re.IGNORECASE,
)
_NODES = re.compile(
    r"\b(?:nodes?|n|visits?)\s*[:=]?\s*([0-9]{1,18}(?:\.[0-9]{1,6})?)([KMGT])?\b", re.IGNORECASE
)
_PV = re.compile(r"\b(?:best\s?line|pv|line)\s*[:=]?\s*(\S.*)", re.IGNORECASE)
_POINT = re.compile(r"\[?\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\s*\]?|\b([A-Va-v])([0-9]{1,2})\b")
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def read_analysis(messages: Iterable[str], variant: Variant, cell: int) -> Analysis | None:
    """What the engine has said of its move to `cell`: the last that it said of each.

    Its principal variation counts only where it begins with that move. ``None`` where nothing
    of an analysis was said.
    """
    score, depth, nodes = 0, 0, 0
    pv: Sequence[int] = ()
    found = False
    for message in messages:
        text = message[:MAX_MESSAGE]
        if match := _SCORE.search(text):
            score, found = _score(match), True
        if match := _DEPTH.search(text):
            depth, found = int(match[1]), True
        if match := _NODES.search(text):
            nodes, found = int(float(match[1]) * _UNITS.get((match[2] or "").upper(), 1)), True
        if (match := _PV.search(text)) and (line := _line(match[1], variant, cell)):
            pv, found = line, True
    return Analysis(score, depth, nodes, pv) if found else None


def _score(match: re.Match[str]) -> int:
    sign, mate, plain = match.groups()
    if mate is None:
        return int(plain)
    return (-1 if sign == "-" else 1) * (MATE_SCORE - int(mate))


def _line(text: str, variant: Variant, cell: int) -> list[int]:
    """Read a line that begins with `cell`, counting lettered rows from either side."""
    points = _POINT.findall(text)[:_MAX_PV]
    for from_below in (True, False):
        cells = _cells(points, variant, from_below=from_below)
        if cells[:1] == [cell]:
            return cells
    return []


def _cells(points: Iterable[Sequence[str]], variant: Variant, *, from_below: bool) -> list[int]:
    """The cells up to the first that is off the board, or that comes again."""
    cells: list[int] = []
    for x, y, letter, number in points:
        if letter:
            column = ord(letter.lower()) - ord("a")
            row = variant.height - int(number) if from_below else int(number) - 1
        else:
            column, row = int(x), int(y)
        cell = row * variant.width + column
        if not (0 <= column < variant.width and 0 <= row < variant.height) or cell in cells:
            break
        cells.append(cell)
    return cells
