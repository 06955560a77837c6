"""Finding a bot by its name or in a file."""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import get_args

from meijin.bots.builtin.alphabeta import AlphaBetaBot
from meijin.bots.builtin.mcts import MctsBot
from meijin.bots.builtin.random_bot import RandomBot
from meijin.bots.builtin.reference_bot import ReferenceBot
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.errors import BotLoadError

BUILT_IN: Mapping[str, type[Bot]] = MappingProxyType(
    {bot.name: bot for bot in (RandomBot, ReferenceBot, AlphaBetaBot, MctsBot)}
)
"""The bots of this package, by their names."""

_NOUNS = {timedelta: "number of seconds"}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def load_bot(spec: str, options: Iterable[str] = ()) -> Bot:
    """Make a bot from a built-in name, ``path/to/file.py`` or ``file.py:ClassName``.

    Each of `options` is a ``name=value`` for the constructor, read by the annotation of
    that parameter: a text, an integer, a number, a truth value or a duration in seconds.

    Raises:
        BotLoadError: there is no such bot, or it takes no such option.
    """
    kind = find_bot(spec)
    arguments = dict(_read_option(kind, option) for option in options)
    try:
        inspect.signature(kind).bind(**arguments)
        return kind(**arguments)
    except (TypeError, ValueError) as error:
        raise BotLoadError(f"{spec}: {error}") from error


def find_bot(spec: str) -> type[Bot]:
    """Find the class that `spec` names; see `load_bot`.

    Raises:
        BotLoadError: there is none, or there are several.
    """
    if spec in BUILT_IN:
        return BUILT_IN[spec]
    path, class_name = _file_of(spec)
    return _pick(_import(path), class_name)


def check_bot(spec: str) -> None:
    """See that there is a bot of a name, or a file, without running any of it; see `load_bot`.

    Raises:
        BotLoadError: there is none.
    """
    if spec not in BUILT_IN:
        _file_of(spec)


def _file_of(spec: str) -> tuple[Path, str | None]:
    """The file that is meant, and the class in it, if one is named.

    Raises:
        BotLoadError: none is meant, or there is none.
    """
    stem, of_class, class_name = spec.partition(".py:")
    if not (of_class or spec.endswith(".py")):
        raise BotLoadError(f'no bot "{spec}"; {_hint(spec, Path())}')
    path = Path(f"{stem}.py" if of_class else spec)
    if not path.is_file():
        raise BotLoadError(f"no file {path}; {_near_file(path)}")
    return path, class_name or None


def _hint(spec: str, folder: Path) -> str:
    """What may have been meant: a built-in bot, or a file of the folder."""
    files = {path.name for path in folder.glob("*.py")}
    if f"{spec}.py" in files:
        return f'did you mean the file "{spec}.py"?'
    near = difflib.get_close_matches(spec, [*BUILT_IN, *sorted(files)], n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(BUILT_IN)}."
    return f"{hint} A bot of your own is given as a .py file"


def _import(path: Path) -> ModuleType:
    """Run a file as a module; it may import what lies beside it, as a script may."""
    name = f"_bot_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        text = f"{path} fails: {type(error).__name__}: {error}{_place(path, error)}"
        raise BotLoadError(text) from error
    return module


def _place(path: Path, error: Exception) -> str:
    """The line of a file where an exception came from, if it has run so far."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return f" ({path.name}, line {lines[-1]})" if lines else ""


def _near_file(path: Path) -> str:
    """A file that may have been meant, or how one is made."""
    there = [file.name for file in path.parent.glob("*.py")]
    near = difflib.get_close_matches(path.name, there, n=1)
    if near:
        return f'did you mean "{path.with_name(near[0])}"?'
    return "a new bot is written by `meijin bot new`"


def _pick(module: ModuleType, class_name: str | None) -> type[Bot]:
    """Find the bot called `class_name` in a module, or the only one."""
    bots = {
        name: member
        for name, member in vars(module).items()
        if isinstance(member, type)
        and issubclass(member, Bot)
        and member.__module__ == module.__name__
    }
    names = ", ".join(bots)
    if not bots:
        raise BotLoadError(
            f"no subclass of Bot in {module.__file__}; write one, or, if it is an engine,"
            " give the command that runs it"
        )
    if class_name is None:
        if len(bots) > 1:
            raise BotLoadError(
                f"{module.__file__} holds {names}; say which one, as in "
                f'"{Path(module.__file__ or "").name}:{next(iter(bots))}"'
            )
        return next(iter(bots.values()))
    if class_name not in bots:
        raise BotLoadError(f"no bot {class_name} in {module.__file__}; it holds {names}")
    return bots[class_name]


def _read_option(kind: type[Bot], option: str) -> tuple[str, object]:
    """Find the parameter that an option is for, and read its value."""
    name, equals, text = option.partition("=")
    if not equals:
        raise BotLoadError(f'"{option}" is no option; write it as name=value')
    parameters = inspect.signature(kind, eval_str=True).parameters
    if name not in parameters:
        known = f"its options are {', '.join(parameters)}" if parameters else "it has none"
        raise BotLoadError(f'{kind.name} has no option "{name}"; {known}')
    return name, _read_value(name, parameters[name].annotation, text)


def _read_value(name: str, annotation: object, text: str) -> object:
    """Read `text` as the type that `annotation` says, or as one of them."""
    types = get_args(annotation) or (annotation,)
    readers = [_READERS[kind] for kind in types if kind in _READERS]
    if not readers:
        raise BotLoadError(f"{name} can't be given as a text; its type is {annotation}")
    for reader in readers:
        with suppress(KeyError, OverflowError, ValueError):
            return reader(text)
    known = [kind for kind in types if kind in _READERS]
    nouns = " or ".join(_NOUNS.get(kind) or kind.__name__ for kind in known)
    raise BotLoadError(f'"{text}" is no {nouns}, as {name} has to be')


_READERS: Mapping[object, Callable[[str], object]] = MappingProxyType(
    {
        int: int,
        float: float,
        str: str,
        bool: lambda text: _TRUTH[text.lower()],
        timedelta: lambda text: timedelta(seconds=float(text)),
        inspect.Parameter.empty: str,
    }
)
"""How a value is read, by the annotation of its parameter."""
