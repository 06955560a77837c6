"""Private files: what nobody else on the machine reads."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from meijin.cli.errors import CommandError, unusable_file

FOLDER_MODE, FILE_MODE = 0o700, 0o600


def make_folder(path: Path) -> None:
    """Make a folder that is its owner's alone, unless it is there.

    Raises:
        CommandError: it can't be made.
    """
    try:
        path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise unusable_file(error) from None


def write_private(path: Path, text: str, *, is_new: bool = True) -> None:
    """Write a file that its owner alone may read, whole or not at all.

    Raises:
        CommandError: it can't be written, or is there though it is to be new.
    """
    with private_file(path, is_new=is_new) as file:
        file.write(text)


@contextmanager
def private_file(path: Path, *, is_new: bool = True) -> Iterator[IO[str]]:
    """A file that is opened before its text is asked for, since a secret is shown once.

    It takes its place when all of it is there, and not before.

    Raises:
        CommandError: it can't be written, or is there though it is to be new.
    """
    if is_new and path.exists():
        raise CommandError(f"{path} exists; give another file")
    part = path.with_name(f"{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror}") from None
    try:
        with open(number, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - of a number
            yield file
        part.replace(path)
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
