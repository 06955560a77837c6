"""Runs a module as `python -m` does, with threads whose names the kernel knows.

    python -P benchmarks/named_threads.py MODULE [ARGUMENT ...]

CPython tells the system the names of threads from 3.14 on only.
"""

import runpy
import sys
import threading
from pathlib import Path
from typing import Any

_run = threading.Thread.run


def run(thread: threading.Thread, *arguments: Any) -> None:  # noqa: ANN401 - as it is called
    """Name the thread, and do what it does."""
    task = Path(f"/proc/self/task/{threading.get_native_id()}/comm")
    task.write_text(thread.name[:15])
    _run(thread, *arguments)


def run_module() -> None:
    """Run the module that the arguments begin with."""
    threading.Thread.run = run  # type: ignore[assignment]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    del sys.argv[0]
    run_module()
