"""The pages of the documentation, taken apart."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(
    r"^```(?P<language>\w+)?(?: (?P<title>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_LASTING = re.compile(
    r"(?:\w+=(?:\$\([^)]*\)|\S+) )*(?:meijin (?:serve|web|worker|host run|bot run|bot wrap)|python \w+\.py)\b"
)


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced block of a page."""

    place: str
    """The page and the line."""
    language: str
    title: str
    """What stands behind the language: a file's name, or a message's."""
    text: str


@dataclass(slots=True)
class Command:
    """A line of a `console` block that begins with ``$``, or ``^C``."""

    place: str
    text: str
    output: list[str] = field(default_factory=list)
    """What the page says that it prints."""

    @property
    def is_lasting(self) -> bool:
        return _LASTING.match(self.text) is not None


class Page:
    """A page of the documentation; its name is its path in the repository."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = (ROOT / name).read_text()
        self.fences = [
            Fence(
                place=f"{name}:{self.text.count(chr(10), 0, found.start()) + 1}",
                language=found["language"] or "",
                title=found["title"] or "",
                text=found["text"],
            )
            for found in _FENCE.finditer(self.text)
        ]
        self.programs = [each for each in self.fences if each.language == "python" and each.title]
        """The Python blocks that are files."""

    def command(self, text: str) -> Command:
        return next(command for command in self.commands() if command.text == text)

    def commands(self) -> Iterator[Command]:
        for fence in self.fences:
            if fence.language not in {"console", "sh"}:
                continue
            for part in re.split(r"^(?=\$ |\^C$)", fence.text, flags=re.MULTILINE)[1:]:
                text, *output = part.splitlines()
                yield Command(fence.place, text.removeprefix("$ "), output)

    def table(self, heading: str) -> list[list[str]]:
        """The cells of the first table behind a heading, row by row, without its head."""
        _, found, rest = self.text.partition(f"\n{heading}\n")
        assert found, f"{self.name} has no {heading}"
        rows = re.search(r"^\|.*?\|$(?!\n\|)", rest, re.MULTILINE | re.DOTALL)
        assert rows, f"no table behind {heading}"
        cells = [line.strip("|").split("|") for line in rows[0].splitlines()[2:]]
        return [[cell.strip() for cell in row] for row in cells]

    def words_of(self, heading: str) -> list[str]:
        """The first column of a table, without the signs of code."""
        return [row[0].strip("`") for row in self.table(heading)]


@cache
def page(name: str) -> Page:
    return Page(name)


GUIDES = (
    "README.md",
    "CONTRIBUTING.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
)
"""The pages whose commands are carried out."""
PAGES = (
    *GUIDES,
    "CHANGELOG.md",
    "SECURITY.md",
    "examples/README.md",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "examples").glob("*/README.md"))),
)
