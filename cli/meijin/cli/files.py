"""Files that commands write: whole or not at all, and secrets for their owner alone."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Annotated

import typer

from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.output import print_file

FOLDER_MODE, SECRET_MODE = 0o700, 0o600

OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="The file to write; else standard output.")
]
SaveOption = Annotated[
    Path | None,
    typer.Option(help="Write the secret to a file that you alone may read, and don't print it."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


@contextmanager
def replaced(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A file to be written, which takes its place when all of it is there and not before."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(number, "wb") as file:  # noqa: PTH123 - of a number
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """A file to be written, which is there when all of it is; not in another's place."""
    if path.exists() and not force:
        raise CommandError(f"{path} exists; give another name, or --force to write over it")
    try:
        with replaced(path) as file:
            yield file
    except OSError as error:
        raise unusable_file(error) from None


@contextmanager
def byte_output(path: Path | None, form: str, *, force: bool, is_text: bool) -> Iterator[IO[bytes]]:
    """A `new_file`, or standard output unless it is a screen for what is no text."""
    if path is not None:
        with new_file(path, force=force) as file:
            yield file
    elif sys.stdout.isatty() and not is_text:
        raise CommandError(f"{form} is no text; give a file with --output")
    else:
        yield sys.stdout.buffer


@contextmanager
def text_output(path: Path | None, *, force: bool) -> Iterator[Callable[[str], object]]:
    """Where texts go, one behind the other: into a `new_file`, or to standard output."""
    if path is None:
        yield print_file
        sys.stdout.flush()
        return
    with new_file(path, force=force) as file:
        yield lambda text: file.write(text.encode())


def make_folder(path: Path) -> None:
    """Make a folder that is its owner's alone, unless it is there."""
    try:
        path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise unusable_file(error) from None


def write_private(path: Path, text: str, *, is_new: bool = True) -> None:
    with private_file(path, is_new=is_new) as file:
        file.write(text)


@contextmanager
def private_file(path: Path, *, is_new: bool = True) -> Iterator[IO[str]]:
    """A file for its owner alone, opened before its text is asked for: a secret is shown once."""
    if is_new and path.exists():
        raise CommandError(f"{path} exists; give another file")
    try:
        with (
            replaced(path, SECRET_MODE) as file,
            TextIOWrapper(file, encoding="utf-8", newline="") as secret,
        ):
            yield secret
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror}") from None


def read_private(path: Path) -> str:
    """What a file has, without the end of its line; empty where there is none."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise unusable_file(OSError(0, str(error), str(path))) from None
