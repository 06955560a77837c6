"""Files of secrets, which their owner alone may read."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from meijin.cli.errors import CommandError

MODE = 0o600


@contextmanager
def secret_file(path: Path, *, may_exist: bool = False) -> Iterator[Callable[[str], None]]:
    """What keeps a secret, in a file that is opened first: a secret is shown once.

    The file takes its place when the secret is in it, and not before.

    Raises:
        CommandError: it can't be written, or is there already.
    """
    if path.exists() and not may_exist:
        raise CommandError(f"{path} exists; give another --save")
    part = path.with_name(f"{path.name}.part")
    try:
        number = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE)
    except OSError as error:
        raise CommandError(f"can't write {part}: {error.strerror}; give another --save") from None
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            yield lambda secret: print(secret, file=file)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
