"""The syntax of SGF FF[4]: nodes of properties, without their meaning.

This room needs the standard library alone; tests hold it against sgfmill, which reads all
variations of a file before its bounds could be looked at.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

MAX_NODES = 10_000
"""Of the main line of a game, twenty times as many as the largest board has cells."""

_BRACKETS = r"\[([^\]\\]*(?:\\.[^\]\\]*)*)\]"
_TOKEN = re.compile(
    rf"(?P<mark>[();])|(?P<name>[A-Za-z]+)(?P<values>(?:\s*{_BRACKETS})+)", re.DOTALL
)
_VALUE = re.compile(_BRACKETS, re.DOTALL)
_ESCAPE = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)
_SPACE = re.compile(r"\s*")
_START = re.compile(r"\(\s*;")


class SgfError(ValueError):
    """A text that is no SGF of a Gomoku game."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason, offset)
        self.reason = reason
        self.offset = offset
        """Characters before the place where the error shows."""

    def __str__(self) -> str:
        return f"{self.reason} (at offset {self.offset})"


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a game tree."""

    offset: int
    """Characters before its semicolon."""
    properties: dict[str, list[str]] = field(default_factory=dict)
    """The values of each property, unescaped, by its name."""

    def text(self, name: str) -> str | None:
        """The first value of a property, or ``None`` where the node lacks it."""
        return self.properties[name][0] if name in self.properties else None


def parse_main_line(text: str) -> list[Node]:
    """The nodes of the first game from the root on, always the first where it branches.

    Text before the game is skipped. Lower-case letters in names mean nothing, as in FF[3].

    Raises:
        SgfError: there is no game tree, or it breaks off.
    """
    start = _START.search(text)
    if start is None:
        raise SgfError('there is no game: none starts with "(;"', 0)
    nodes: list[Node] = []
    position = start.start()
    while True:
        token = _next_token(text, position)
        position = token.end()
        if token["mark"] == ")":
            return nodes
        if token["mark"] == ";":
            if len(nodes) == MAX_NODES:
                raise SgfError(f"there are more than {MAX_NODES} nodes", token.start())
            nodes.append(Node(token.start()))
        elif token["mark"] is None:
            name = "".join(letter for letter in token["name"] if letter.isupper())
            values = [_unescape(value) for value in _VALUE.findall(token["values"])]
            nodes[-1].properties.setdefault(name, []).extend(values)


def split_games(text: str, most: int) -> Iterator[str]:
    """The games of a collection, each as a text of its own.

    What breaks off is given out too, for whoever reads it to tell where. One of more than `most`
    characters is the last, and is cut behind the next of them.
    """
    start = _START.search(text)
    while start is not None:
        first = start.start()
        end = _end_of_game(text, first, most)
        yield text[first : min(end, first + most + 1)]
        start = _START.search(text, end) if end <= first + most else None


def _end_of_game(text: str, position: int, most: int) -> int:
    """Behind the bracket that closes the game that begins at a place, or far behind its start."""
    depth = 0
    last = position + most
    while position <= last:
        try:
            token = _next_token(text, position)
        except SgfError:
            return len(text)
        position = token.end()
        depth += {"(": 1, ")": -1}.get(token["mark"], 0)
        if depth == 0:
            break
    return position


def _next_token(text: str, position: int) -> re.Match[str]:
    space = _SPACE.match(text, position)
    assert space is not None  # the pattern matches nothing too
    token = _TOKEN.match(text, space.end())
    if token is None:
        found = repr(text[space.end()]) if space.end() < len(text) else "the end"
        raise SgfError(f"found {found}, not a whole node or property", space.end())
    return token


def format_property(name: str, values: Iterable[str]) -> str:
    """Write a property with values that are escaped already."""
    return name + "".join(f"[{value}]" for value in values)


def escape(value: str) -> str:
    """Write a text so that it can stand in brackets."""
    return value.replace("\\", "\\\\").replace("]", "\\]")


def escape_composed(name: str, value: str) -> str:
    """Write ``name:value``, the form of a composed value."""
    return f"{name}:{escape(value).replace(':', chr(92) + ':')}"


def _unescape(value: str) -> str:
    """Read an escaped text; an escaped line break is a soft one, and goes."""
    return _ESCAPE.sub(lambda escape: "" if escape[1] in _BREAKS else escape[1], value)


_BREAKS = frozenset({"\n", "\r", "\r\n", "\n\r"})
