"""Waiting for the disk."""

import os
from pathlib import Path


def sync_path(path: Path) -> None:
    """Wait until a file, or a folder's list of files, is on the disk.

    Raises:
        OSError: it may not be there.
    """
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
