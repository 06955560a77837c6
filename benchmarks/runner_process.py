"""A local runner: a command that starts engines itself and lets them play."""

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from line_engine import ENGINE, TALLY
from processor_time import processes, seconds_with_ended, tree_seconds
from tally import read_file, read_tally

PATIENCE = 120.0
"""Seconds in which a move has to be made."""
END_PATIENCE = 10.0
"""Seconds until what does not heed SIGTERM is killed."""
MEMORY = Path("/dev/shm")
"""Files there are never written to a disk, which engines that count their moves would wait for."""


PARTS = ("command", "server", "worker", "slots", "engines")
"""The processes of a local runner of ours; another has a command and engines."""


def _part(words: Sequence[str], parent: str) -> str:
    """What a process is a part of; a slot is forked from the worker, and starts the engines."""
    if not parent:
        return "command"
    if Path(words[0]).name == ENGINE:
        return parent if parent == "worker" else "engines"
    if "meijin.worker" in words:
        return "worker" if parent == "command" else "slots"
    return "server" if "serve" in words else parent


class RunnerProcess:
    """A running one, whose engines count their moves in files."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", folder: Path) -> None:
        self._name = name
        self._process = process
        self._log = folder / "log"
        self.tallies = folder / "tallies"

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the runner and all that it has started."""
        return tree_seconds(self._process.pid)

    @property
    def parts(self) -> Mapping[str, float]:
        """The same by `PARTS`."""
        seconds = dict.fromkeys(PARTS, 0.0)
        for pid, part in processes(self._process.pid, _part):
            seconds[part] += seconds_with_ended(pid)
        return seconds

    @property
    def players(self) -> Sequence[Path]:
        """The files of the engines that play, and are not just tried out."""
        pids = {str(pid) for pid, part in processes(self._process.pid, _part) if part == "engines"}
        return [path for path in self.tallies.iterdir() if path.name in pids]

    def wait_for_play(self, moves: int) -> None:
        """Return once engines have made so many moves in games."""
        while sum(read_file(path).moves for path in self.players) < moves:
            self.check()
            time.sleep(0.1)

    @property
    def moves(self) -> int:
        """Of all its engines, whenever they were made."""
        return read_tally(self.tallies).moves

    def wait_for(self, moves: int) -> None:
        """Return once its engines have made so many moves.

        Raises:
            RuntimeError: It has ended before.
            TimeoutError: No engine has made a move in `PATIENCE`.
        """
        made, deadline = 0, time.monotonic() + PATIENCE
        while (now := self.moves) < moves:
            self.check()
            if now > made:
                made, deadline = now, time.monotonic() + PATIENCE
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"{self._name}: no move in {PATIENCE:g} s; does it start {{bot}}?"
                )
            time.sleep(0.02)

    def check(self) -> None:
        """Raise a `RuntimeError` if it has ended."""
        if self._process.poll() is not None:
            words = self._log.read_text(errors="replace").splitlines() or ["nothing"]
            raise RuntimeError(
                f"{self._name} ended by itself with {self._process.returncode}; "
                f"it said last: {words[-1]}"
            )


def runner_command(text: str, **words: object) -> list[str]:
    """The words of a command, in which ``{bot}`` and others stand for something else."""
    command = shlex.split(text)
    for word, value in words.items():
        command = [given.replace(f"{{{word}}}", str(value)) for given in command]
    return command


@contextmanager
def runner_process(name: str, command: Sequence[str]) -> Iterator[RunnerProcess]:
    """Start the command, and end it with all that it has started."""
    where = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="meijin-runner-", dir=where) as path:
        folder = Path(path)
        (folder / "tallies").mkdir()
        with (
            (folder / "log").open("wb") as output,
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, TALLY: str(folder / "tallies")},
                start_new_session=True,
            ) as process,
        ):
            try:
                yield RunnerProcess(name, process, folder)
            finally:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(END_PATIENCE)
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
