"""Speed: how fast the reference search was on this machine, kept for the hellos to come."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from meijin.bots.sdk.hardware import found_hardware
from meijin.wire.contract import MAX_NODES_PER_SECOND

FILE = "bench.json"
MAX_BYTES = 10_000
"""Read of the file."""


def speed_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where it is kept: in the user's folder of settings.

    Raises:
        RuntimeError: there is no home folder.
    """
    settings = environ.get("XDG_CONFIG_HOME")
    return (Path(settings) if settings else Path.home() / ".config") / "meijin" / FILE


def read_speed() -> int:
    """Nodes per second, if they were measured on the hardware that this is; else 0."""
    try:
        with speed_path().open("rb") as file:
            kept = json.loads(file.read(MAX_BYTES))
        nodes_per_second = kept["nodes_per_second"]
        is_here = kept["hardware"] == found_hardware()
    except (OSError, RuntimeError, ValueError, LookupError, TypeError, RecursionError):
        return 0
    is_possible = type(nodes_per_second) is int and 0 < nodes_per_second <= MAX_NODES_PER_SECOND
    return nodes_per_second if is_here and is_possible else 0


def write_speed(nodes_per_second: int) -> Path:
    """Keep what was measured here; the file's path.

    Raises:
        OSError: it can't be written.
        RuntimeError: there is no home folder.
    """
    path = speed_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = {"hardware": found_hardware(), "nodes_per_second": nodes_per_second}
    part = path.with_suffix(f".{os.getpid()}")
    try:
        part.write_text(json.dumps(kept) + "\n", encoding="utf-8")
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return path


def forget_speed() -> bool:
    """Tell nobody from now on; whether there was something to tell.

    Raises:
        OSError: the file can't be removed.
        RuntimeError: there is no home folder.
    """
    try:
        speed_path().unlink()
    except FileNotFoundError:
        return False
    return True
