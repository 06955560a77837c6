"""Unpacking: a program's files written to a folder, with counted bytes and plain modes."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from meijin.programs.archive.examination import is_junk
from meijin.programs.archive.zip_reader import ZipReader

FOLDER_MODE = 0o755
FILE_MODE, PROGRAM_MODE = 0o644, 0o755
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def unpack_archive(path: Path, top: str, tree: Path) -> None:
    """Write what an archive holds below its top folder into a tree.

    Raises:
        ProgramRefusedError: the archive breaks a rule.
    """
    with path.open("rb") as file:
        archive = ZipReader(file, path.stat().st_size)
        for entry in archive.entries:
            chunks = archive.unpack(entry)
            if is_junk(entry.name) or not entry.name.startswith(top) or entry.name == top:
                continue
            relative = PurePosixPath(entry.name.removeprefix(top))
            make_folders(tree, relative if entry.is_folder else relative.parent)
            if not entry.is_folder:
                write_file(tree / relative, chunks, is_program=entry.is_executable)


def copy_file(path: Path, target: Path, *, is_program: bool) -> None:
    with path.open("rb") as file:
        write_file(target, iter(lambda: file.read(1 << 16), b""), is_program=is_program)


def write_file(path: Path, chunks: Iterable[bytes], *, is_program: bool = False) -> None:
    """Write a file that is not there yet, following no link."""
    with open(os.open(path, _NEW, 0o600), "wb") as file:  # noqa: PTH123 - a descriptor
        file.writelines(chunks)
        os.fchmod(file.fileno(), PROGRAM_MODE if is_program else FILE_MODE)


def make_folders(tree: Path, relative: PurePosixPath) -> None:
    """Make a folder and those that it lies in, below a tree that is there."""
    place = tree
    for part in relative.parts:
        place /= part
        if not place.is_dir():
            make_folder(place)


def make_folder(path: Path) -> None:
    """Make a folder whatever the process's mask is."""
    path.mkdir()
    path.chmod(FOLDER_MODE)


def remove_folder(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
