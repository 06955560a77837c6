"""A program made ready to be started: its tree unpacked in a fresh folder, and its command."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from meijin.programs.archive.contents import Contents
from meijin.programs.archive.entry_names import OWN_FOLDER
from meijin.programs.errors import ProgramError
from meijin.programs.kinds import ProgramKind
from meijin.programs.prepared.commands import (
    LAUNCHER,
    LIBRARIES,
    command_of,
    environment_of,
    launcher_source,
    program_of,
)
from meijin.programs.prepared.unpacking import (
    PROGRAM_MODE,
    copy_file,
    make_folder,
    remove_folder,
    unpack_archive,
    write_file,
)
from meijin.programs.prepared.wheelhouse import Wheelhouse

_PART = ".part"
_NO_LIBRARIES = Wheelhouse()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program that can be started."""

    tree: Path
    """What the sandbox shows it as ``/bot``, without leave to write; empty for an image."""
    command: tuple[str, ...]
    """As seen inside the sandbox, in ``/bot``; empty for an image, which has its own."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables beside those of every sandbox."""
    image: str = ""
    """The reference of the image; empty for all other kinds."""


def prepare(
    path: Path, contents: Contents, target: Path, *, wheelhouse: Wheelhouse = _NO_LIBRARIES
) -> Prepared:
    """Unpack an examined program, with the libraries that it needs, into a folder.

    The folder appears when all is in it. One that is there already is kept as it is: whoever
    names it by the program's digest prepares a program once.

    Raises:
        ProgramRefusedError: the program breaks a rule, or needs a library that is not there.
        ProgramError: it can't be prepared here, such as for want of room.
    """
    ready = Prepared(target, command_of(contents), environment_of(contents), contents.image)
    if target.is_dir():
        return ready
    with _fresh_folder(target) as tree:
        _unpack(path, contents, tree)
        if contents.requirements or contents.entry_point:
            make_folder(tree / OWN_FOLDER)
        if contents.entry_point:
            write_file(tree / LAUNCHER, [launcher_source(*contents.entry_point).encode()])
        if contents.requirements:
            wheelhouse.install(contents.requirements, tree / LIBRARIES)
    return ready


def discard_partials(folder: Path) -> None:
    """Delete what preparations have left in a folder that were killed; none may be under way."""
    for path in folder.glob(f".*{_PART}"):
        remove_folder(path)


@contextmanager
def _fresh_folder(target: Path) -> Iterator[Path]:
    """A folder that becomes the target when the block ends well, and vanishes when it does not."""
    tree = target.with_name(f".{target.name}.{os.urandom(8).hex()}{_PART}")
    try:
        make_folder(tree)
        yield tree
        _move(tree, target)
    except OSError as error:
        text = f"can't prepare {target.name}: {error.strerror}; see the disk of {target.parent}"
        raise ProgramError(text) from error
    finally:
        remove_folder(tree)


def _move(tree: Path, target: Path) -> None:
    """Have a folder become the target, unless another preparation was faster."""
    try:
        tree.rename(target)
    except OSError:
        if not target.is_dir():
            raise


def _unpack(path: Path, contents: Contents, tree: Path) -> None:
    match contents.kind:
        case ProgramKind.ARCHIVE | ProgramKind.WHEEL:
            unpack_archive(path, contents.top, tree)
            if program := program_of(contents.manifest):
                (tree / program).chmod(PROGRAM_MODE)
        case ProgramKind.SCRIPT | ProgramKind.ENGINE:
            name = contents.manifest.bot or contents.manifest.engine
            assert name is not None
            copy_file(path, tree / name, is_program=contents.kind is ProgramKind.ENGINE)
        case ProgramKind.IMAGE:
            return
