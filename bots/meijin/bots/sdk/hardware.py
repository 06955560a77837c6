"""Hardware: what a bot's machine is called, and how fast the reference search was on it."""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from pathlib import Path

from meijin.wire.contract import HARDWARE_VARIABLE, MAX_HARDWARE, MAX_NODES_PER_SECOND
from meijin.wire.text import plain_text

CPU_INFO = Path("/proc/cpuinfo")


def hardware(text: str | None = None) -> str:
    """What is told to the server: the text, else MEIJIN_HARDWARE, else what the platform says.

    An empty text tells nothing.
    """
    if text is None:
        text = os.environ.get(HARDWARE_VARIABLE)
    if text is None:
        return found_hardware()
    return _told(text)


def found_hardware() -> str:
    return _told(f"{_processor()}, {_cores()}")


def _told(text: str) -> str:
    return plain_text(text).strip()[:MAX_HARDWARE]


def _processor() -> str:
    """Such as ``AMD EPYC 7B13``: Linux alone has it in a file, others tell the kind at least."""
    try:
        lines = CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.machine() or "unknown processor"


def _cores() -> str:
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return "1 core" if count == 1 else f"{count} cores"


FILE = "bench.json"
MAX_BYTES = 10_000
"""Read of the file."""


def speed_path() -> Path:
    """Where it is kept: in the user's folder of settings.

    Raises:
        RuntimeError: there is no home folder.
    """
    settings = os.environ.get("XDG_CONFIG_HOME")
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
