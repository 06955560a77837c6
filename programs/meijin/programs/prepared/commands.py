"""Commands: what starts a program, as it is seen inside the sandbox.

The program's tree is at ``/bot``, where it starts, and the arena's address is in MEIJIN_SERVER.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from meijin.programs.archive.contents import Contents
from meijin.programs.archive.entry_names import OWN_FOLDER
from meijin.programs.kinds import ProgramKind
from meijin.programs.manifest import Manifest

BOT_FOLDER = PurePosixPath("/bot")
LIBRARIES = f"{OWN_FOLDER}/libraries"
"""Of the tree: what the program's requirements have brought."""
LAUNCHER = f"{OWN_FOLDER}/bot.py"
"""Of the tree: the file that stands for a wheel's bot."""
_PYTHON = ("python3", "-P")
"""No file beside a bot hides a module of the standard library."""
_RUN = (*_PYTHON, "-m", "meijin.bots")
_WRAP = (*_PYTHON, "-m", "meijin", "bot", "wrap")


def command_of(contents: Contents) -> tuple[str, ...]:
    """The command that starts a program; empty for an image, which has its own."""
    manifest = contents.manifest
    if contents.kind is ProgramKind.IMAGE:
        return ()
    if contents.kind is ProgramKind.WHEEL:
        return (*_RUN, str(BOT_FOLDER / LAUNCHER))
    if manifest.bot is not None:
        options = (f"{name}={value}" for name, value in manifest.options)
        return (*_RUN, str(BOT_FOLDER / manifest.bot), *options)
    if manifest.engine is not None:
        return (*_WRAP, *_wrap_options(manifest))
    program, *arguments = manifest.command
    return (str(BOT_FOLDER / program) if "/" in program else program, *arguments)


def program_of(manifest: Manifest) -> str:
    """The file of the tree that has to be executable; empty when none has."""
    if manifest.engine is not None:
        return manifest.engine
    is_own = bool(manifest.command) and "/" in manifest.command[0]
    return str(PurePosixPath(manifest.command[0])) if is_own else ""


def environment_of(contents: Contents) -> tuple[tuple[str, str], ...]:
    """The variables that a program needs beside those of every sandbox."""
    folders = []
    if contents.kind is ProgramKind.WHEEL:
        folders.append(str(BOT_FOLDER))
    if contents.requirements:
        folders.append(str(BOT_FOLDER / LIBRARIES))
    return (("PYTHONPATH", ":".join(folders)),) if folders else ()


def launcher_source(module: str, class_name: str) -> str:
    """The file that stands for a wheel's bot, as `meijin bot run` takes classes of files alone."""
    return f"import {module}\n\n\nclass {class_name}({module}.{class_name}):\n    pass\n"


def _wrap_options(manifest: Manifest) -> Iterator[str]:
    assert manifest.engine is not None
    if manifest.protocol is not None:
        yield from ("--protocol", manifest.protocol.value)
    if manifest.rules:
        yield from ("--rules", ",".join(manifest.rules))
    for name, value in manifest.options:
        yield from ("-o", f"{name}={value}")
    yield from ("--", str(BOT_FOLDER / manifest.engine))
