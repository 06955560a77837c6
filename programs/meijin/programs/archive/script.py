"""Python files with a bot: their syntax, and the classes that can be bots, without running them."""

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from meijin.programs.archive.entry_names import shown
from meijin.programs.errors import ProgramRefusedError

MAX_SCRIPT_BYTES = 96 << 10
"""Of the file with the bot: a syntax tree takes up to a thousand times the bytes of its source."""
_TEMPLATE = "see what `meijin bot new` writes"


@dataclass(slots=True)
class _Classes:
    """The classes of a module, as far as they are known without running it."""

    bots: set[str] = field(default_factory=lambda: {"Bot"})
    """What stands for a bot as a base."""
    foreign: set[str] = field(default_factory=set)
    """Imported, so that it may be a bot."""
    found: list[str] = field(default_factory=list)
    """The bots that the module itself defines."""
    maybe: list[str] = field(default_factory=list)
    """Its classes whose bases are imported."""
    has_star: bool = False


def check_script(source: bytes, name: str, class_name: str | None = None) -> None:
    """See that a file is Python and has a bot: that of `class_name`, or one alone.

    Raises:
        ProgramRefusedError: it is not, or has none.
    """
    classes = _classes_of(_parsed(source, name).body)
    known = [*classes.found, *classes.maybe]
    if class_name is not None:
        if class_name not in known and not classes.has_star:
            there = f"it has {', '.join(known[:5])}" if known else "it has none"
            raise ProgramRefusedError(f"there is no bot {class_name}; {there}", name, _TEMPLATE)
        return
    if not known and not classes.has_star:
        raise ProgramRefusedError("no class in it derives from Bot", name, _TEMPLATE)
    if len(classes.found) > 1:
        what = f"it has the bots {', '.join(classes.found[:5])}"
        fix = f'leave one, or zip it with a meijin.toml of bot = "bot.py:{classes.found[-1]}"'
        raise ProgramRefusedError(what, name, fix)


def _parsed(source: bytes, name: str) -> ast.Module:
    if len(source) > MAX_SCRIPT_BYTES:
        what = f"it has {len(source)} bytes; at most {MAX_SCRIPT_BYTES} may be"
        fix = "move some of it to files of their own, and zip them with it"
        raise ProgramRefusedError(what, name, fix)
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} is no UTF-8"
        raise ProgramRefusedError(what, name, "save it as UTF-8") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        what = f"line {error.lineno or 1}: {shown(error.msg)}"
        raise ProgramRefusedError(what, name, "run it with Python first") from None
    except (MemoryError, RecursionError, ValueError):
        what = "its syntax can't be read: it is nested too deep, or has a NUL character"
        raise ProgramRefusedError(what, name, "write it in simpler statements") from None


def _classes_of(body: Sequence[ast.stmt]) -> _Classes:
    classes = _Classes()
    for statement in _statements(body):
        if isinstance(statement, ast.ImportFrom):
            _import(classes, statement)
        elif isinstance(statement, ast.ClassDef):
            _define(classes, statement)
    return classes


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, those of functions and classes apart."""
    waiting = list(reversed(body))
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, (ast.If, ast.Try, ast.With)):
            inner: list[ast.stmt] = list(statement.body)
            inner += getattr(statement, "orelse", [])
            waiting += reversed(inner)


def _import(classes: _Classes, statement: ast.ImportFrom) -> None:
    for imported in statement.names:
        own = imported.asname or imported.name
        classes.has_star |= imported.name == "*"
        if imported.name == "Bot":
            classes.bots.add(own)
        else:
            classes.foreign.add(own)


def _define(classes: _Classes, statement: ast.ClassDef) -> None:
    bases = [_last_name(base) for base in statement.bases]
    if any(base in classes.bots for base in bases):
        classes.bots.add(statement.name)
        classes.found.append(statement.name)
    elif any(base in classes.foreign for base in bases) or any(
        isinstance(base, ast.Attribute) for base in statement.bases
    ):
        classes.foreign.add(statement.name)
        classes.maybe.append(statement.name)


def _last_name(base: ast.expr) -> str:
    """The name of a base: ``Bot`` of ``Bot``, ``meijin.bots.Bot`` and ``Bot[int]``."""
    while isinstance(base, ast.Subscript):
        base = base.value
    if isinstance(base, ast.Attribute):
        return base.attr
    return base.id if isinstance(base, ast.Name) else ""
