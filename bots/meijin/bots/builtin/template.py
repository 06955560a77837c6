"""The template of a new bot's file."""

from __future__ import annotations

import keyword
import re

from meijin.wire.contract import check_bot_name

_SOURCE = '''\
"""{name}: a bot for the Meijin arena."""

from meijin.bots import Bot, Position, run


class {class_name}(Bot):
    """Begins in the middle, and then stays near the last stone."""

    name = "{name}"

    def choose(self, position: Position) -> int:
        """Return the cell to play on: row * width + column, row 0 on top."""
        height, width = position.variant.height, position.variant.width
        goal = position.last_move
        if goal is None:
            goal = height // 2 * width + width // 2

        def distance(cell: int) -> int:
            return (cell // width - goal // width) ** 2 + (cell % width - goal % width) ** 2

        return min(position.legal_cells(), key=distance)


if __name__ == "__main__":
    run({class_name}())
'''
_TAKEN = ("Bot", "Position")


def bot_source(name: str) -> str:
    """Write the text of a file with a working bot called `name`.

    Raises:
        ValueError: no bot can be called so.
    """
    return _SOURCE.format(name=check_bot_name(name), class_name=_class_name(name))


def _class_name(name: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", name)
    joined = "".join(word[0].upper() + word[1:] for word in words) or "Bot"
    usable = joined.isidentifier() and not keyword.iskeyword(joined) and joined not in _TAKEN
    return joined if usable else f"My{joined}"
