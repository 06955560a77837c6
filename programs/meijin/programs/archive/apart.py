"""The examination in a child process, whose memory and time are limited."""

import json
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from meijin.programs.archive.contents import Contents
from meijin.programs.archive.examination import SIMPLER
from meijin.programs.errors import ProgramError, ProgramRefusedError
from meijin.programs.kinds import MAX_UPLOAD_BYTES, ProgramKind

TIMEOUT = timedelta(seconds=60)
"""By the wall, for a machine with more to do."""
_MODULE = "meijin.programs.archive.child"
_MAX_ANSWER = 1 << 18


def examine_apart(
    path: Path,
    kind: ProgramKind | None,
    file_name: str,
    *,
    max_bytes: int = MAX_UPLOAD_BYTES,
    timeout: timedelta = TIMEOUT,
) -> Contents:
    """Examine a program as `examine` does, in a child that can't harm this process.

    Raises:
        ProgramRefusedError: it breaks a rule, or its examination takes too much.
        ProgramError: no child can be started.
    """
    said = "" if kind is None else kind.value
    command = [sys.executable, "-P", "-m", _MODULE, str(path.resolve()), said, file_name]
    command.append(str(max_bytes))
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout.total_seconds(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProgramRefusedError("its examination takes too long", "", SIMPLER) from None
    except (OSError, ValueError) as error:
        raise ProgramError(f"can't examine {path.name}: {error}; try again later") from error
    return _read(done.returncode, done.stdout)


def _read(status: int, answer: bytes) -> Contents:
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        raise ProgramRefusedError("its examination takes too long", "", SIMPLER)
    if status or len(answer) > _MAX_ANSWER:
        what = f"its examination fails with status {status}"
        raise ProgramRefusedError(what, "", SIMPLER)
    table = json.loads(answer)
    if "refused" in table:
        raise ProgramRefusedError(*table["refused"])
    return Contents.from_table(table["contents"])
