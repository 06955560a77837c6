"""Analysis: what a bot thought of a move."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from meijin.game.board.coordinates import cell_name, parse_cell
from meijin.game.rules.variant import Variant

MAX_PV = 64
"""Plies of a principal variation that are sent and kept; a game has up to 484 of these lines."""

_NUMBER = re.compile(r"(score|depth|nodes) (-?[0-9]{1,20})")
_PV = "pv "


@dataclass(frozen=True, slots=True)
class Analysis:
    """Analysis: what a search found; people see it beside the game."""

    score: int | None = None
    """From the bot's side, in its own unit; more is better. ``None`` where nobody has told."""
    depth: int | None = None
    """Plies searched; likewise."""
    nodes: int | None = None
    """Positions visited; likewise."""
    pv: Sequence[int] = ()
    """The principal variation: the cells it expects, beginning with its own."""


def cells_on_board(pv: Iterable[int], variant: Variant) -> tuple[int, ...]:
    """A principal variation up to its first cell off the board: bots may send anything."""
    kept: list[int] = []
    for cell in pv:
        if len(kept) == MAX_PV or not 0 <= cell < variant.cells:
            break
        kept.append(cell)
    return tuple(kept)


def format_analysis(analysis: Analysis, variant: Variant) -> Iterator[str]:
    """The parts of an analysis in writing, such as ``score 30`` and ``pv h8 i9``."""
    if analysis.score is not None:
        yield f"score {analysis.score}"
    if analysis.depth is not None:
        yield f"depth {analysis.depth}"
    if analysis.nodes is not None:
        yield f"nodes {analysis.nodes}"
    if analysis.pv:
        yield _PV + " ".join(cell_name(cell, variant) for cell in analysis.pv)


def parse_analysis(parts: Iterable[str], variant: Variant) -> Analysis | None:
    """Read what `format_analysis` writes; other parts mean nothing, and without one there is none."""
    numbers: dict[str, int] = {}
    pv: tuple[int, ...] = ()
    for part in parts:
        number = _NUMBER.fullmatch(part)
        if number is not None:
            numbers[number[1]] = int(number[2])
        elif part.startswith(_PV):
            with suppress(ValueError):  # somebody else's words
                pv = tuple(parse_cell(word, variant) for word in part.split()[1 : MAX_PV + 1])
    return Analysis(**numbers, pv=pv) if numbers or pv else None
