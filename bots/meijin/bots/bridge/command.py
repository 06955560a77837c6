"""An engine's command: found, made to run, and named."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from meijin.bots.bridge.errors import EngineStartError

MAX_NAME = 40
_PREFIX = re.compile(r"^pbrain[-_]", re.IGNORECASE)
_INTERPRETER = re.compile(r"(?:python|wine|node|java|ruby|perl)[0-9.]*", re.IGNORECASE)


def find_command(words: Sequence[str]) -> list[str]:
    """The command with the path of its program, through wine for a Windows program.

    Raises:
        EngineStartError: there is no such program, or no wine to run it.
    """
    if not words:
        raise EngineStartError("which engine? give its command behind --, as in: -- ./pbrain-mine")
    program, *arguments = words
    if Path(program).suffix.lower() == ".exe" and os.name != "nt":
        return _through_wine(program, arguments)
    path = shutil.which(program)
    if path is None:
        raise EngineStartError(_missing(program))
    return [str(Path(path).absolute()), *arguments]


def _through_wine(program: str, arguments: Sequence[str]) -> list[str]:
    if not Path(program).is_file():
        raise EngineStartError(f"no file {program}")
    wine = shutil.which("wine64") or shutil.which("wine")
    if wine is None:
        raise EngineStartError(
            f"{program} is a Windows program, and wine, which would run it, is not installed"
        )
    return [wine, str(Path(program).absolute()), *arguments]


def _missing(program: str) -> str:
    if Path(program).is_dir():
        return f"{program} is a folder; give the engine's program in it"
    if Path(program).is_file():
        return f"{program} can't be run; chmod +x {program}, or name its interpreter before it"
    return f"no program {program}; give its path, such as ./{Path(program).name}"


def display_name(command: Sequence[str]) -> str:
    """What the engine is called: its file's name without ``pbrain-``, as names may be."""
    words = [word for word in command if not word.startswith("-")]
    stems = [Path(word).stem for word in words]
    program = next((stem for stem in stems if not _INTERPRETER.fullmatch(stem)), stems[0])
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", _PREFIX.sub("", program)).strip("-._")
    return name[:MAX_NAME] or "engine"
