"""Packing: a file as it is, or a folder as a zip archive that is the same each time."""

import io
import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from meijin.cli.errors import CommandError, unusable_file
from meijin.programs.kinds import MAX_ENTRIES, MAX_NAME, MAX_UNPACKED_BYTES
from meijin.wire.text import memory_text

STARTS = ("bot.py", "meijin.toml")
"""One of them says how a folder is started."""

SKIPPED = frozenset(
    {
        *(".git", ".hg", ".svn", ".idea", ".vscode", ".DS_Store"),
        *(".venv", "venv", "__pycache__", "node_modules"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox"),
    }
)
"""What is left out of a folder, at any depth."""

_FIRST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest that an archive can say; a file that was copied is the same program."""
_PLAIN, _EXECUTABLE = 0o100644, 0o100755
_SHOWN = 6
"""Files that are named."""


@dataclass(frozen=True, slots=True)
class Package:
    """What is sent of a program."""

    file_name: str
    data: bytes
    files: Sequence[str] = ()
    """Of a folder, sorted."""
    skipped: Sequence[str] = ()
    """What of a folder was left out."""

    @property
    def digest(self) -> str:
        return sha256(self.data).hexdigest()

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        size = memory_text(len(self.data))
        if not self.files:
            return f"{self.file_name}: {size}"
        named = ", ".join(self.files[:_SHOWN])
        more = len(self.files) - _SHOWN
        rest = f" and {more} more" if more > 0 else ""
        left = f"; left out: {', '.join(self.skipped)}" if self.skipped else ""
        return f"{self.file_name}: {len(self.files)} files, {size}: {named}{rest}{left}"


def pack(path: Path) -> Package:
    """What is sent of a file or a folder.

    Raises:
        CommandError: it can't be read, or is no program.
    """
    try:
        return _pack_folder(path) if path.is_dir() else _read_file(path)
    except OSError as error:
        raise unusable_file(error) from None


def _read_file(path: Path) -> Package:
    data = path.read_bytes()
    if not data:
        raise CommandError(f"{path} is empty; give a program")
    return Package(_checked_name(path.name), data)


def _checked_name(name: str) -> str:
    if len(name) > MAX_NAME:
        raise CommandError(f"{name}: a program's file has at most {MAX_NAME} characters; rename it")
    return name


def _pack_folder(folder: Path) -> Package:
    skipped: list[str] = []
    paths = sorted(_files(folder, skipped), key=lambda path: path.relative_to(folder).as_posix())
    names = [path.relative_to(folder).as_posix() for path in paths]
    if not set(names) & set(STARTS):
        raise CommandError(
            f"{folder} has neither bot.py nor meijin.toml; `meijin bot new NAME --dir FOLDER` "
            "makes a folder that has what it needs"
        )
    if len(names) > MAX_ENTRIES:
        raise CommandError(f"{folder} has {len(names)} files; a program has at most {MAX_ENTRIES}")
    size = sum(path.stat().st_size for path in paths)
    if size > MAX_UNPACKED_BYTES:
        most = memory_text(MAX_UNPACKED_BYTES)
        raise CommandError(f"{folder} has {memory_text(size)}; a program has at most {most}")
    target = io.BytesIO()
    # Not compressed: another release of zlib writes other bytes, and their digest is the version.
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, path in zip(names, paths, strict=True):
            archive.writestr(_entry(name, path), path.read_bytes())
    name = _checked_name(f"{folder.resolve().name or 'program'}.zip")
    return Package(name, target.getvalue(), names, sorted(skipped))


def _entry(name: str, path: Path) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _FIRST_TIME)
    info.create_system = 3  # Unix, whose modes these are, wherever it is packed
    info.external_attr = (_EXECUTABLE if os.access(path, os.X_OK) else _PLAIN) << 16
    return info


def _files(folder: Path, skipped: list[str]) -> Iterator[Path]:
    """The files of a folder, at any depth.

    Raises:
        CommandError: there is what a program can't have.
    """
    for each in folder.iterdir():
        if each.name in SKIPPED:
            skipped.append(each.name)
        elif each.is_symlink():
            raise CommandError(f"{each} is a link, which no program has; put a copy in its place")
        elif each.is_dir():
            yield from _files(each, skipped)
        elif each.is_file():
            yield each
        else:
            raise CommandError(f"{each} is no plain file; leave it out")
