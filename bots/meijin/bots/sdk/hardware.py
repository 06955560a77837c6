"""Hardware: what a bot's machine is called, for people."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from meijin.wire.contract import HARDWARE_VARIABLE, MAX_HARDWARE
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
    """What the platform says."""
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
    """How many the process may use."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return "1 core" if count == 1 else f"{count} cores"
