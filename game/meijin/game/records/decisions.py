"""The decisions of an opening in words: ``3 white, 4 declares 5, 4 offers h8 i9``."""

from collections.abc import Iterable, Iterator

from meijin.game.board.coordinates import cell_name, parse_cell
from meijin.game.color import Color
from meijin.game.position import Choose, Decision, DecisionAction, Declare, Offer
from meijin.game.rules.variant import Variant


def format_decisions(decisions: Iterable[Decision], variant: Variant) -> str:
    """Each as its ply and its words, with commas between."""
    return ", ".join(f"{each.ply} {_words(each.action, variant)}" for each in decisions)


def _words(action: DecisionAction, variant: Variant) -> str:
    match action:
        case Choose(color):
            return color.name.lower()
        case Declare(count):
            return f"declares {count}"
        case Offer(cells):
            return " ".join(("offers", *(cell_name(cell, variant) for cell in cells)))


def parse_decisions(text: str, variant: Variant) -> tuple[Decision, ...]:
    """The inverse of `format_decisions`.

    Raises:
        ValueError: a part is none.
    """
    return tuple(_parse(text, variant)) if text else ()


def _parse(text: str, variant: Variant) -> Iterator[Decision]:
    for part in text.split(", "):
        match part.split():
            case [ply, color] if ply.isdecimal() and color.upper() in Color.__members__:
                action: DecisionAction = Choose(Color[color.upper()])
            case [ply, "declares", count] if ply.isdecimal() and count.isdecimal():
                action = Declare(int(count))
            case [ply, "offers", *names] if ply.isdecimal() and names:
                action = Offer(tuple(parse_cell(name, variant) for name in names))
            case _:
                raise ValueError(f'"{part}" is no decision; write it like "3 white"')
        yield Decision(int(ply), action)
