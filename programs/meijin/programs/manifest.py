"""The manifest: what a program starts with, as the ``meijin.toml`` of an archive says."""

import difflib
import re
import tomllib
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath
from typing import Any

from meijin.programs.errors import ProgramRefusedError

FILE_NAME = "meijin.toml"
MAX_MANIFEST_BYTES = 16 << 10
MAX_ARGUMENTS = 32
MAX_ARGUMENT = 200
"""Characters of an argument, or of an option's value."""
MAX_OPTIONS = 64
MAX_VERSION = 40
RULES = ("freestyle", "standard", "renju", "caro", "caro-exact")
"""Those that the bridge can tell an engine of."""
_MAX_NUMBER = 1 << 63
_KEYS = ("bot", "command", "engine", "options", "protocol", "rules", "version")
_OPTION = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}", re.ASCII)
_BOT = re.compile(r"(?P<file>[^:]+\.py)(?::(?P<class>[A-Za-z_][A-Za-z0-9_]*))?")


class Protocol(Enum):
    """What an engine speaks."""

    GOMOCUP = "gomocup"
    YIXIN = "yixin"
    GTP = "gtp"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a program starts with: exactly one of a bot, an engine and a command."""

    bot: str | None = None
    """A file, or ``file.py:Class``."""
    engine: str | None = None
    """A file that is run through the bridge."""
    command: tuple[str, ...] = ()
    """A program that connects by itself, and its arguments."""
    protocol: Protocol | None = None
    """Of the engine; found out by asking it when ``None``."""
    rules: tuple[str, ...] = ()
    """That the engine plays; freestyle alone when empty."""
    options: tuple[tuple[str, str], ...] = ()
    """Told to the bot or the engine."""
    version: str = ""
    """What people call it."""

    @property
    def bot_file(self) -> str:
        return "" if self.bot is None else self.bot.partition(".py:")[0].removesuffix(".py") + ".py"

    @property
    def bot_class(self) -> str | None:
        return None if self.bot is None else self.bot.partition(".py:")[2] or None


def read_manifest(source: bytes) -> Manifest:
    """Read a ``meijin.toml``.

    Raises:
        ProgramRefusedError: it is none, or says what can't be.
    """
    try:
        table = tomllib.loads(source.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split())[:120]
        raise _refused(f"it is no TOML: {why}", "mend the line") from None
    for key in table:
        if key not in _KEYS:
            what = f"it has the unknown key {_quoted(key)}"
            raise _refused(what, _did_you_mean(key, _KEYS))
    ways = [key for key in ("bot", "command", "engine") if key in table]
    if len(ways) != 1:
        what = f"it has {' and '.join(ways)}" if ways else "it has no bot, command or engine"
        raise _refused(what, 'write one of them, such as bot = "bot.py"')
    if ways != ["engine"] and (extra := {"protocol", "rules"} & table.keys()):
        raise _refused(f"{min(extra)} is of an engine alone", "leave it out")
    if ways == ["command"] and "options" in table:
        raise _refused("options are of a bot or an engine", "write them in the command")
    return Manifest(
        bot=_bot(table),
        engine=None if "engine" not in table else check_path("engine", table["engine"]),
        command=_texts(table, "command", MAX_ARGUMENTS),
        protocol=_protocol(table),
        rules=_rules(table),
        options=_options(table),
        version=_text("version", table.get("version", ""), MAX_VERSION),
    )


def check_path(key: str, value: object) -> str:
    """Return a file's path within the archive, in its shortest form.

    Raises:
        ProgramRefusedError: it is none.
    """
    text = _text(key, value, MAX_ARGUMENT)
    path = PurePosixPath(text)
    if not text or path.is_absolute() or ".." in path.parts or str(path) == ".":
        fix = 'write it as in "folder/name"'
        raise _refused(f'{key} = "{text}" is no file of the archive', fix)
    return str(path)


def _bot(table: dict[str, Any]) -> str | None:
    if "bot" not in table:
        return None
    path = check_path("bot", table["bot"])
    if _BOT.fullmatch(path) is None:
        raise _refused(f'bot = "{path}" is no Python file', 'write "bot.py" or "bot.py:MyBot"')
    return path


def _protocol(table: dict[str, Any]) -> Protocol | None:
    if "protocol" not in table:
        return None
    known = [protocol.value for protocol in Protocol]
    name = _text("protocol", table["protocol"], MAX_ARGUMENT)
    if name not in known:
        raise _refused(f'protocol = "{name}" is unknown', _did_you_mean(name, known))
    return Protocol(name)


def _rules(table: dict[str, Any]) -> tuple[str, ...]:
    names = _texts(table, "rules", len(RULES))
    for name in names:
        if name not in RULES:
            raise _refused(f'the rule "{name}" is unknown', _did_you_mean(name, RULES))
    return names


def _options(table: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    options = table.get("options", {})
    if not isinstance(options, dict) or len(options) > MAX_OPTIONS:
        raise _refused(f"options is no table of at most {MAX_OPTIONS} values", "write [options]")
    found = []
    for name, value in options.items():
        if _OPTION.fullmatch(name) is None:
            raise _refused(f"{_quoted(name)} is no name of an option", "use letters and digits")
        if not isinstance(value, str | int | float) or (
            isinstance(value, int) and abs(value) > _MAX_NUMBER
        ):
            raise _refused(f"the option {name} is no text or number", "write it as one")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        found.append((name, _text(f"options.{name}", text, MAX_ARGUMENT)))
    return tuple(found)


def _texts(table: dict[str, Any], key: str, limit: int) -> tuple[str, ...]:
    values = table.get(key, [])
    if not isinstance(values, list) or len(values) > limit or (key in table and not values):
        raise _refused(f"{key} is no list of 1 to {limit} texts", f'write it as {key} = ["..."]')
    return tuple(_text(key, value, MAX_ARGUMENT) for value in values)


def _text(key: str, value: object, limit: int) -> str:
    if not isinstance(value, str) or len(value) > limit or not value.isprintable():
        what = f"{key} is no text of at most {limit} printable characters"
        raise _refused(what, f'write it as {key} = "..."')
    return value


def _quoted(name: str) -> str:
    """A name of the file's author, short and printable."""
    return f'"{name[:40]}"' if name.isprintable() else ascii(name[:40])


def _did_you_mean(name: str, known: tuple[str, ...] | list[str]) -> str:
    near = difflib.get_close_matches(name[:40], known, n=1)
    return f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"


def _refused(what: str, fix: str) -> ProgramRefusedError:
    return ProgramRefusedError(what, FILE_NAME, fix)
