"""Known engines: what is known of one by its name, from a table that users add to."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from meijin.bots.bridge.answers import USUAL_MESSAGES, MessagePatterns, Rows
from meijin.bots.bridge.dialogue import EngineStartError, EngineTraits

_TABLE = Path(__file__).with_name("known_engines.toml")
_PATTERNS = ("depth", "nodes", "score", "line")
_KINDS: Mapping[str, type] = {
    "pause_ms": int,
    "restart": bool,
    "swap2": str,
    "max_memory": bool,
    "rows": str,
    **dict.fromkeys(_PATTERNS, str),
}


@dataclass(frozen=True, slots=True)
class KnownEngine:
    """What is known of an engine beforehand; what isn't is found out."""

    name: str
    pause: timedelta | None = None
    """Between its move and the next command."""
    restarts: bool | None = None
    numbers_openings: bool = False
    hears_memory: bool = True
    messages: MessagePatterns = USUAL_MESSAGES

    def tell(self, traits: EngineTraits) -> None:
        """Have all of its processes know."""
        traits.restarts = self.restarts
        traits.numbers_openings = self.numbers_openings
        traits.hears_memory = self.hears_memory


def users_table() -> Path:
    """Where users add engines."""
    settings = os.environ.get("XDG_CONFIG_HOME")
    return (Path(settings) if settings else Path.home() / ".config") / "meijin" / "engines.toml"


def known_engine(*names: str) -> KnownEngine | None:
    """The engine of the first of these names that is known, by its first word.

    Raises:
        EngineStartError: the user's table can't be read.
    """
    table = _read(_TABLE)
    for name, entry in _read(users_table()).items():
        table[name] = table.get(name, {}) | entry
    for name in names:
        word = re.split(r"[\s_-]", name.strip().casefold())[0]
        if word in table:
            return _engine(word, table[word])
    return None


def _read(file: Path) -> dict[str, dict[str, object]]:
    try:
        text = file.read_text()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise EngineStartError(f"{file}: {error.strerror}") from error
    try:
        found = tomllib.loads(text)
        for name, entry in found.items():
            _check(name, entry)
    except (ValueError, TypeError, re.error) as error:
        raise EngineStartError(f"{file}: {error}") from error
    return {name.casefold(): entry for name, entry in found.items()}


def _check(name: str, entry: object) -> None:
    if not isinstance(entry, dict):
        raise TypeError(f"[{name}] must be a table")
    for key, value in entry.items():
        if key not in _KINDS:
            raise ValueError(f'[{name}] has no "{key}"; there are {", ".join(_KINDS)}')
        if type(value) is not _KINDS[key]:
            raise ValueError(f"[{name}] {key} must be of {_KINDS[key].__name__}, not {value!r}")
    for key in _PATTERNS:
        if key in entry and re.compile(entry[key]).groups != 1:
            raise ValueError(f"[{name}] {key} must have one group")
    Rows(entry.get("rows", "below"))
    if entry.get("swap2", "three numbers") != "three numbers":
        raise ValueError(f'[{name}] swap2 can only be "three numbers"')


def _engine(name: str, entry: Mapping[str, object]) -> KnownEngine:
    pause, restarts = entry.get("pause_ms"), entry.get("restart")
    return KnownEngine(
        name,
        timedelta(milliseconds=pause) if isinstance(pause, int) else None,
        restarts if isinstance(restarts, bool) else None,
        "swap2" in entry,
        bool(entry.get("max_memory", True)),
        _patterns(entry),
    )


def _patterns(entry: Mapping[str, object]) -> MessagePatterns:
    own = {key: re.compile(str(entry[key])) for key in _PATTERNS if key in entry}
    return MessagePatterns(
        rows=Rows(entry.get("rows", "below")),
        **{key: own.get(key, getattr(USUAL_MESSAGES, key)) for key in _PATTERNS},
    )
