"""Private files: what nobody else on the machine reads."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from meijin.cli.errors import unusable_file

PRIVATE = 0o600


def make_folder(path: Path) -> None:
    """Make a folder that is its owner's alone, unless it is there.

    Raises:
        CommandError: it can't be made.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unusable_file(error) from None


def write_private(path: Path, text: str, *, is_new: bool = True) -> None:
    """Write a file that its owner alone may read, whole or not at all.

    Raises:
        CommandError: it can't be written, or is there though it is to be new.
    """
    try:
        if is_new:
            with _opened(path) as file:
                file.write(text)
            return
        part = path.with_name(f"{path.name}.part")
        part.unlink(missing_ok=True)
        with _opened(part) as file:
            file.write(text)
        part.replace(path)
    except OSError as error:
        raise unusable_file(error) from None


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    """A new file with its mode from the beginning."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    with open(number, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - of a number
        yield file
