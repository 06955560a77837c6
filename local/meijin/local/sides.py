"""Sides: the players of a local match, as people write them."""

import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from meijin.bots import BUILT_IN, check_bot
from meijin.bots.bridge.probe import PROTOCOLS
from meijin.bots.bridge.settings import display_name, find_command, threads_of
from meijin.bots.sdk.errors import BotLoadError
from meijin.game import TimeControl, Variant
from meijin.local.bots import own_name, told_apart
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.values import time_control_to_proto
from meijin.worker.plan import SidePlan

_OPTIONS = re.compile(r":(?=[A-Za-z_]\w*=)")
"""What stands between a bot and its options, as in ``bot.py:MyBot:level=5,seed=1``."""

_WORD = re.compile(r"(cmd|bot|name|tc|proto|margin|memory|with|option\.[^=\s]+)=(.*)", re.DOTALL)
"""A word about a side, as fastchess and cutechess have them."""

_KEY = re.compile(r"[\w.]+=")
"""How a word about a side begins, known or not."""

KEYS = "cmd=, bot=, name=, tc=, proto=, margin=, memory=, with= and option.NAME="

MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Side:
    """A bot or an engine that is to be run.

    Written ``alphabeta:level=5``, ``bot.py``, ``./pbrain-mine -x`` or, with words about it behind,
    ``./pbrain-mine name=new tc=10+0.1 option.threads=2``.
    """

    bot: str = ""
    """A built-in one, or a file; empty for an engine."""
    command: Sequence[str] = ()
    """The engine's program and its arguments."""
    options: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    """What it is to be called; found when empty."""
    time: TimeControl | None = None
    """Its own clock."""
    protocol: str | None = None
    margin_ms: int = 0
    memory: int | None = None
    files: Sequence[str] = ()
    log: str = ""
    """A file for what a bot is asked and what it answers."""
    is_suspended: bool = False
    """An engine stands still while the opponent thinks."""

    @classmethod
    def parse(cls, spec: str, each: Sequence[str] = ()) -> Self:
        """Read a side; `each` are words about all of them, which its own go before.

        Raises:
            ValueError: a word can't be one.
            BotLoadError: there is no such bot, file or program.
        """
        words = shlex.split(spec)
        about: dict[str, list[str]] = {}
        program: list[str] = []
        for word in (*each, *words):
            match = _WORD.fullmatch(word)
            if match is not None:
                about.setdefault(match[1], []).append(match[2])
            elif word in each:
                raise ValueError(f'"{word}" says nothing about a side; write it as option.{word}')
            elif not program and _KEY.match(word):
                raise ValueError(f'"{word}" says nothing about a side; there are {KEYS}')
            else:
                program.append(word)
        said = {key: values[-1] for key, values in about.items()}
        if "cmd" in said:
            program = [*shlex.split(said["cmd"]), *program]
        if not program and "bot" not in said:
            raise ValueError(f'"{spec}" names no bot and no engine; cmd= or bot= does')
        options = {
            key.removeprefix("option."): value
            for key, value in said.items()
            if key.startswith("option.")
        }
        side = cls(
            name=said.get("name", ""),
            time=TimeControl.parse(said["tc"]) if "tc" in said else None,
            protocol=_protocol(said.get("proto")),
            margin_ms=_number("margin", said.get("margin", "0")),
            memory=_number("memory", said["memory"]) * MEGABYTE if "memory" in said else None,
            files=about.get("with", ()),
        )
        bot, *rest = [said["bot"], *program] if "bot" in said else program
        if "cmd" not in said and (found := _bot(bot)) is not None:
            own, told = found
            if rest:
                raise ValueError(f'"{rest[0]}" says nothing about {own}; options are option.NAME=')
            check_bot(own)
            return replace(side, bot=own, options=told | options)
        return replace(side, command=_command(program), options=options)

    @property
    def own_name(self) -> str:
        return self.name or (display_name(self.command) if self.command else own_name(self.bot))

    @property
    def threads(self) -> int:
        """How many it searches with, as far as its options say."""
        return threads_of(self.options) or 1

    @property
    def settings(self) -> list[str]:
        """Its options, each ``name=value``."""
        return [f"{key}={value}" for key, value in self.options.items()]

    def connecting(self, name: str, address: str, variant: Variant) -> list[str]:
        """The words of the command that connects it to a server, to play a variant there."""
        rules = [f"--rules={variant.rule.name}"] if self.command else []
        return self.running(*rules, f"--name={name}", f"--server={address}")

    def running(self, *told: str) -> list[str]:
        """The words of the command that plays as it, with more of that command's options."""
        kind, program = ["run", self.bot], []
        options = [f"--option={each}" for each in self.settings]
        if self.command:
            kind, program = ["wrap"], ["--", *self.command]
            options += [f"--with={file}" for file in self.files]
            options += [] if self.protocol is None else [f"--protocol={self.protocol}"]
            options += [f"--margin={self.margin_ms}"] if self.margin_ms else []
            options += [] if self.memory is None else [f"--memory={self.memory // MEGABYTE}"]
            options += ["--suspend"] if self.is_suspended else []
        return ["bot", *kind, *options, *told, *program]

    def plan(self, name: str) -> SidePlan:
        """What a worker is told of it."""
        return SidePlan(
            name=name,
            bot=self.bot,
            options=self.options,
            command=self.command,
            protocol=self.protocol,
            margin_ms=self.margin_ms,
            memory=self.memory,
            log=self.log,
            is_suspended=self.is_suspended,
            files=self.files,
        )

    def __str__(self) -> str:
        program = self.bot or shlex.join(self.command)
        return f"{program}:{','.join(self.settings)}" if self.options else program


def read_sides(path: Path, each: Sequence[str] = ()) -> list[Side]:
    """The sides of a TOML file: a table ``[[side]]`` for each, its keys as the words are.

    Raises:
        OSError: it can't be read.
        ValueError: it says something that can't be; the message names the side.
        BotLoadError: there is no such bot, file or program.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("side")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{path} has no sides; write a table [[side]] for each")
    sides = []
    for number, table in enumerate(tables, 1):
        try:
            sides.append(Side.parse(shlex.join(_words_of(table)), each))
        except (ValueError, BotLoadError) as error:
            raise type(error)(f"{path}, side {number}: {error}") from error
    return sides


def _words_of(table: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    """Words such as ``option.threads=2``, also of tables in a table."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _words_of(value, f"{prefix}{key}.")
        else:
            for each in value if isinstance(value, list) else [value]:
                text = str(each).lower() if isinstance(each, bool) else str(each)
                yield f"{prefix}{key}={text}"


def names_of(sides: Sequence[Side]) -> list[str]:
    """What sides play as, told apart by what differs.

    Raises:
        ValueError: two were given the same name.
    """
    given = [side.name for side in sides if side.name]
    for name in given:
        if given.count(name) > 1:
            raise ValueError(f'two sides have the name "{name}"')
    return told_apart([(side.own_name, () if side.name else side.settings) for side in sides])


def set_own_clocks(wanted: pb.TournamentSettings, sides: Sequence[Side | None]) -> None:
    """Give the sides the clocks that they were written with, unless clocks were asked for otherwise."""
    times = [None if side is None else side.time for side in sides]
    if any(times) and not wanted.time_controls:
        usual = wanted.time_control
        wanted.time_controls.extend(
            time_control_to_proto(each) if each else usual for each in times
        )


def _bot(spec: str) -> tuple[str, dict[str, str]] | None:
    """The bot of the SDK that is written so, with its options; ``None`` where it is none."""
    bot, *rest = _OPTIONS.split(spec, maxsplit=1)
    if bot not in BUILT_IN and (not re.search(r"\.py(:|$)", bot) or _is_program(Path(bot))):
        return None
    options = {}
    for each in rest[0].split(",") if rest else ():
        key, equals, value = each.partition("=")
        if not equals:
            raise ValueError(f'"{each}" is no option; write it as name=value')
        options[key] = value
    return bot, options


def _is_program(path: Path) -> bool:
    """Whether a Python file can be executed, and has nothing to do with the SDK."""
    if not os.access(path, os.X_OK) or not path.is_file():
        return False
    text = path.read_bytes()
    return text.startswith(b"#!") and b"meijin" not in text


def _command(program: Sequence[str]) -> list[str]:
    """An engine's command, with the path of its program."""
    path = Path(program[0])
    if os.sep not in program[0] and shutil.which(program[0]) is None and not path.exists():
        check_bot(program[0])  # says what there is
    return find_command(program)


def _protocol(name: str | None) -> str | None:
    if name is not None and name not in PROTOCOLS:
        raise ValueError(f'no protocol "{name}"; there are {", ".join(PROTOCOLS)}')
    return name


def _number(key: str, text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f'{key}="{text}" is no number')
    return int(text)


def read_words(texts: Iterable[str]) -> list[str]:
    """The words about every side, such as ``tc=10+0.1 option.threads=2``."""
    return [word for text in texts for word in shlex.split(text)]
