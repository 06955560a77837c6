"""Requirements: the libraries that a program names, as lines of pip that name nothing else."""

import re
from collections.abc import Iterable, Iterator

from meijin.programs.errors import ProgramRefusedError

FILE_NAME = "requirements.txt"
MAX_REQUIREMENTS_BYTES = 16 << 10
MAX_REQUIREMENTS = 50
GIVEN = "meijin"
"""The library of bots, which every sandbox has."""
_VERSION = r"(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]{0,40}"
_VERSIONS = rf"{_VERSION}(?:\s*,\s*{_VERSION}){{0,7}}"
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,60}[A-Za-z0-9])?"
_EXTRAS = rf"\[\s*{_NAME}(?:\s*,\s*{_NAME}){{0,7}}\s*\]"
_MARKER = r"""(?:\s*+(?:[a-z_]++|"[^"\\]*+"|'[^'\\]*+'|[<>=!~]{1,3}+|[()]))+\s*"""
_REQUIREMENT = re.compile(
    rf"(?P<name>{_NAME})\s*(?P<extras>{_EXTRAS})?\s*"
    rf"(?P<versions>{_VERSIONS}|\(\s*{_VERSIONS}\s*\))?\s*(?:;(?P<marker>{_MARKER}))?",
    re.ASCII,
)


def read_requirements(source: bytes) -> tuple[str, ...]:
    """The libraries that a ``requirements.txt`` names, but for the one that is always there.

    Raises:
        ProgramRefusedError: it says something else.
    """
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ProgramRefusedError("it is no UTF-8", FILE_NAME, "save it as UTF-8") from None
    return checked_requirements(_lines(text), FILE_NAME)


def checked_requirements(lines: Iterable[str], where: str) -> tuple[str, ...]:
    """Requirements that name a library, versions and a marker, and neither a place nor an option.

    Raises:
        ProgramRefusedError: one does something else, or they are too many.
    """
    found = tuple(line for line in lines if normal_name(_checked(line, where)) != GIVEN)
    if len(found) > MAX_REQUIREMENTS:
        what = f"it names {len(found)} libraries; at most {MAX_REQUIREMENTS} may be"
        raise ProgramRefusedError(what, where, "leave out what other libraries bring with them")
    return found


def name_of(requirement: str) -> str:
    """The normal name of the library that a checked requirement is of."""
    return normal_name(_checked(requirement, ""))


def normal_name(name: str) -> str:
    """A library's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _lines(text: str) -> Iterator[str]:
    for raw in text.splitlines():
        line = re.sub(r"(?:^|\s)#.*", "", raw).strip()
        if line:
            yield line


def _checked(line: str, where: str) -> str:
    """The name of the library that a line is of."""
    found = _REQUIREMENT.fullmatch(line) if len(line) <= 400 else None  # noqa: PLR2004 - a long line
    if found is None or "\n" in line:
        shown = line[:60] if line[:60].isprintable() else ascii(line[:60])
        what = f'"{shown}" is no plain requirement'
        fix = 'name a library and its versions, such as "numpy>=2,<3": no address, path or option'
        raise ProgramRefusedError(what, where, fix)
    return found["name"]
