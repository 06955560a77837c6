"""The two sides of a match: what is run for each, with which options, under which name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from meijin.cli.errors import CommandError

_OPTIONS = re.compile(r":(?=[A-Za-z_]\w*=)")
"""What stands between a bot and its options, as in ``bot.py:MyBot:level=5,seed=1``."""


@dataclass(frozen=True, slots=True)
class Side:
    """A bot that is to be run, such as ``alphabeta:level=5``."""

    bot: str
    """A built-in one, or a file."""
    options: tuple[str, ...] = ()
    """Each ``name=value``."""

    @classmethod
    def parse(cls, spec: str, more: Sequence[str] = ()) -> "Side":
        """Read a bot with its options; `more` come behind those.

        Raises:
            CommandError: an option has no value.
        """
        bot, *rest = _OPTIONS.split(spec, maxsplit=1)
        options = (*(rest[0].split(",") if rest else ()), *more)
        for option in options:
            if "=" not in option:
                raise CommandError(f'"{option}" is no option; write it as name=value')
        return cls(bot, options)

    @property
    def words(self) -> list[str]:
        """What `bot run` takes."""
        return [self.bot, *(f"--option={option}" for option in self.options)]

    @property
    def name(self) -> str:
        """The file's or the built-in bot's own name."""
        path, of_class, _ = self.bot.partition(".py:")
        return Path(f"{path}.py" if of_class else path).stem

    def __str__(self) -> str:
        """As it may be written."""
        return f"{self.bot}:{','.join(self.options)}" if self.options else self.bot


def names_of(first: Side, second: Side) -> tuple[str, str]:
    """Names to play under: the bots' own, told apart if they are the same."""
    if first.name != second.name:
        return first.name, second.name
    return f"{first.name}-1", f"{second.name}-2"
