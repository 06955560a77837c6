"""Variants: board size, line length, rule, by its name, and opening rule."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from meijin.game.rules.opening_rule import FREE, OpeningRule, opening_rule_named
from meijin.game.rules.renju import RENJU
from meijin.game.rules.rule import CARO, CARO_EXACT, FREESTYLE, STANDARD, Rule

_RULES: tuple[Rule, ...] = (FREESTYLE, STANDARD, RENJU, CARO, CARO_EXACT)

RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in _RULES})


def rule_named(name: str) -> Rule:
    """The rule called `name`.

    Raises:
        ValueError: there is none; the message lists the names there are.
    """
    if name not in RULES:
        raise ValueError(f'no rule "{name}"; the rules are {", ".join(RULES)}')
    return RULES[name]


MIN_SIDE = 3
MAX_SIDE = 22
MIN_GOMOKU_SIDE = 5
"""The shortest side of a board on which the line is five or longer."""
MIN_LINE = 3
GOMOKU_LINE = 5

_FORM = re.compile(
    r"(?:(?P<rule>[a-z][a-z0-9_-]*)\s+)?"
    r"(?P<width>[0-9]{1,4})(?:\s*x\s*(?P<height>[0-9]{1,4}))?"
    r"(?:\s+line\s+(?P<line>[0-9]{1,4})|\s*,\s*(?P<row>[0-9]{1,4})\s+in\s+a\s+row)?"
    r"(?:\s+(?P<opening>[a-z][a-z0-9]*))?"
    r"(?:\s+draw\s+at\s+(?P<draw_at>[0-9]{1,4}))?"
)


@dataclass(frozen=True, slots=True)
class Variant:
    """A kind of game.

    Written ``standard 15x15``, ``freestyle 3x3 line 3``, ``freestyle 15x15 swap2`` or
    ``renju 15x15 draw at 200``.
    """

    rule: Rule = FREESTYLE
    width: int = 15
    """Columns, 3 to 22; at least 5 where `line` is 5 or more."""
    height: int = 15
    """Rows, with the same range."""
    line: int = GOMOKU_LINE
    """Stones in a row that win, from 3 to the longer side."""
    opening_rule: OpeningRule = FREE
    """How the first stones are placed, and who gets which colour."""
    draw_at: int | None = None
    """With how many stones a game that nobody has won is drawn; ``None`` for a full board.

    An operator may set it: the Gomocup draws renju games on 15x15 with 200.
    """

    def __post_init__(self) -> None:
        lowest = MIN_GOMOKU_SIDE if self.line >= GOMOKU_LINE else MIN_SIDE
        for name, side in (("width", self.width), ("height", self.height)):
            if not lowest <= side <= MAX_SIDE:
                raise ValueError(
                    f"{name} {side} is out of range for a line of {self.line}: "
                    f"{lowest} to {MAX_SIDE}"
                )
        longest = max(self.width, self.height)
        if not MIN_LINE <= self.line <= longest:
            raise ValueError(
                f"line {self.line} is out of range for {self.size}: {MIN_LINE} to {longest}"
            )
        # Else the opening could end the game: of its stones every other one is black.
        if self.opening_rule.most_stones > 2 * self.line - 2:
            raise ValueError(f"{self.opening_rule.name} needs a longer line than {self.line}")
        least = self.opening_rule.least_side
        if min(self.width, self.height) < least:
            raise ValueError(f"{self.opening_rule.name} needs boards of at least {least}x{least}")
        if self.rule.needs_five and self.line != GOMOKU_LINE:
            raise ValueError(
                f"line {self.line} is out of range for {self.rule.name}: {GOMOKU_LINE} alone"
            )
        # The side that moves second has its chance of a line.
        fewest = max(2 * self.line, self.opening_rule.most_stones + 1)
        if self.draw_at is not None and not fewest <= self.draw_at < self.cells:
            raise ValueError(
                f"a draw at {self.draw_at} stones is out of range for {self.size}: "
                f"{fewest} to {self.cells - 1}"
            )

    @property
    def cells(self) -> int:
        return self.width * self.height

    @property
    def most_stones(self) -> int:
        """With how many stones a game ends at the latest."""
        return self.cells if self.draw_at is None else self.draw_at

    @property
    def size(self) -> str:
        """Columns and rows, written ``15x15``."""
        return f"{self.width}x{self.height}"

    def __str__(self) -> str:
        line = "" if self.line == GOMOKU_LINE else f" line {self.line}"
        opening = "" if self.opening_rule == FREE else f" {self.opening_rule.name}"
        draw = "" if self.draw_at is None else f" draw at {self.draw_at}"
        return f"{self.rule.name} {self.size}{line}{opening}{draw}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` writes; all but the width, or the rule, may be left out.

        ``19``, ``19x19``, ``renju`` on 15x15 and ``3x3, 3 in a row`` are variants too.

        Raises:
            ValueError: the form, the rule or a number is wrong.
        """
        rule, *rest = text.lower().split() or [""]
        if rule in RULES and not (rest and rest[0][0].isdigit()):
            rest.insert(0, GOMOKU.size)
        form = _FORM.fullmatch(" ".join((rule, *rest)))
        if form is None:
            raise ValueError(
                f'"{text}" is no variant; write it like "15x15", "standard 19x19", '
                '"freestyle 3x3 line 3", "freestyle 15x15 swap2" or "renju 15x15 draw at 200"'
            )
        return cls(
            rule=rule_named(form["rule"] or FREESTYLE.name),
            width=int(form["width"]),
            height=int(form["height"] or form["width"]),
            line=int(form["line"] or form["row"] or GOMOKU_LINE),
            opening_rule=opening_rule_named(form["opening"] or FREE.name),
            draw_at=int(form["draw_at"]) if form["draw_at"] else None,
        )


GOMOKU = Variant()
"""Freestyle on 15x15, the game of most engines."""
TIC_TAC_TOE = Variant(width=3, height=3, line=3)
