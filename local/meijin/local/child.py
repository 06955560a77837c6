"""Child processes of an arena: `meijin` commands whose words go to logs."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, TypeAlias

from meijin.server.process.die_with_parent import die_with_parent

STOP_TIMEOUT = timedelta(seconds=20)
"""A child has this time to end before it is killed."""

MEIJIN = (sys.executable, "-P", "-m", "meijin")
"""What runs a command."""

PREFIX = "MEIJIN_"
"""Of the variables that tell of other servers, of which an arena of one's own is to know nothing."""

FAILURE = "meijin: "
"""How the line begins with which a command ends that has failed."""

TRACEBACK = "Traceback (most recent call last):"

MOST_FRAMES = 6
"""Lines of a traceback that are shown: its last frames, and what was raised."""

Tell: TypeAlias = Callable[[str], object]
"""Takes a line of what happens meanwhile; it may hold anything that a bot has written."""


@dataclass(frozen=True, slots=True)
class Child:
    """A process and its log."""

    process: "subprocess.Popen[str]"
    log: Path
    begin: int = 0
    """Where in the log its own words begin."""

    @property
    def words(self) -> str:
        return self.log.read_bytes()[self.begin :].decode(errors="replace")

    @property
    def last_line(self) -> str:
        lines = self.words.splitlines() or [""]
        return lines[-1]

    @property
    def last_words(self) -> str:
        """Its last line as a reason: of a command that failed what is wrong with it."""
        return self.last_line.removeprefix(FAILURE) or "it said nothing"

    @property
    def last_frames(self) -> list[str]:
        """The end of the traceback that it ended with; empty where it ended with none."""
        _, found, rest = self.words.rpartition(TRACEBACK)
        lines = rest.strip("\n").splitlines()
        is_last = found and all(line.startswith(" ") for line in lines[:-1])
        return lines[-MOST_FRAMES:] if is_last else []

    @property
    def end(self) -> str:
        """How it ended, and what it said last."""
        return f"{status_text(self.process.wait())}: {self.last_words}"


def start_child(
    arguments: Sequence[str],
    log: Path,
    *,
    goes_on: bool = False,
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = MEIJIN,
) -> Child:
    """A `meijin` process whose words go to a log, behind what stands there if that `goes_on`.

    Of the variables of Meijin it has those in `env` alone.

    In a session of its own, Ctrl-C reaches this command alone, which then stops it in order. It
    ends with the thread that starts it.
    """
    with log.open("a" if goes_on else "w", encoding="utf-8") as file:
        begin = file.tell()
        return Child(_start([*program, *arguments], file, env or {}), log, begin)


def _start(command: Sequence[str], log: IO[str], env: Mapping[str, str]) -> "subprocess.Popen[str]":
    environment = {key: value for key, value in os.environ.items() if not key.startswith(PREFIX)}
    return subprocess.Popen(
        die_with_parent(command),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        text=True,
        env={**environment, **env},
        start_new_session=True,
    )


@contextmanager
def stopping() -> Iterator[dict[str, Child]]:
    """The processes that are put in on the way; at its end all are told to end, then waited for."""
    children: dict[str, Child] = {}
    try:
        yield children
    finally:
        for child in children.values():
            child.process.terminate()
        for child in children.values():
            try:
                child.process.wait(STOP_TIMEOUT.total_seconds())
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()


def status_text(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"
