"""The janitor: a process that removes what a host leaves when it is killed.

    python -m meijin.programs.sandbox.janitor FOLDER GROUP...

It waits for the end of its standard input, which the host's death brings, and then kills all
processes of the control groups and removes them and the folder. A host that has ended well has left
nothing to do.
"""

import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from meijin.programs.sandbox.group_removal import kill, remove

_PATIENCE = 30.0
"""Seconds: what doesn't die in them waits for a device that doesn't answer."""
_POLL_INTERVAL = 0.01
_RESTART_INTERVAL = 0.1
"""Seconds before another is started, so that one which can't start takes no core."""


class Janitor:
    """The janitor's process as its host sees it: another is started when it has died."""

    def __init__(self, module: str, *arguments: str | Path) -> None:
        """Take the module that cleans up, such as this one, and what is to be removed."""
        self._command = (sys.executable, "-P", "-m", module, *map(str, arguments))
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The process's id."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start the process, and keep one running."""
        await self._spawn()
        self._task = asyncio.create_task(self._keep(), name="janitor")

    async def _spawn(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, start_new_session=True
        )

    async def _keep(self) -> None:
        while self._process is not None:
            await self._process.wait()
            await asyncio.sleep(_RESTART_INTERVAL)
            with suppress(OSError):  # no room for another process now
                await self._spawn()

    async def close(self) -> None:
        """Let it end; it removes what is left."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()


def clean_up(folder: Path, groups: Sequence[Path]) -> bool:
    """Kill what runs in groups, and remove them and a folder; whether all of it is gone."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        for group in groups:
            kill(group)
        if all(remove(group) for group in groups):
            break
        time.sleep(_POLL_INTERVAL)
    shutil.rmtree(folder, ignore_errors=True)
    return not any(path.exists() for path in (folder, *groups))


def main(arguments: Sequence[str]) -> int:
    """Wait for the host's end, whatever signal goes to its terminal, and clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(sys.stdin.fileno(), 1):
        pass
    folder, *groups = map(Path, arguments)
    return 0 if clean_up(folder, groups) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
