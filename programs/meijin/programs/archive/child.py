"""The child process of an examination: it limits itself, examines one program and says what it is.

    python -m meijin.programs.archive.child FILE KIND FILE_NAME MAX_BYTES

prints a line of JSON: what was found, or why the program is refused.
"""

import contextlib
import json
import resource
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from meijin.programs.archive.examination import SIMPLER, examine
from meijin.programs.errors import ProgramRefusedError
from meijin.programs.kinds import MEBIBYTE, ProgramKind

MEMORY_BYTES = 256 * MEBIBYTE
"""Address space, some 30 MiB of which the interpreter takes."""
CPU_TIME = timedelta(seconds=10)


def _answer(path: str, kind: str, file_name: str, max_bytes: str) -> dict[str, Any]:
    told = ProgramKind(kind) if kind else None
    try:
        contents = examine(Path(path), told, file_name, max_bytes=int(max_bytes))
    except ProgramRefusedError as error:
        return {"refused": [error.what, error.where, error.fix]}
    except (MemoryError, RecursionError):
        return {"refused": ["its examination takes too much memory", "", SIMPLER]}
    return {"contents": contents.to_table()}


def limit_itself() -> None:
    seconds = int(CPU_TIME.total_seconds())
    wanted = {
        resource.RLIMIT_AS: MEMORY_BYTES,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 16,
    }
    for limit, value in wanted.items():
        _, most = resource.getrlimit(limit)
        allowed = value if most == resource.RLIM_INFINITY else min(value, most)
        with contextlib.suppress(ValueError):  # some systems lack one
            resource.setrlimit(limit, (allowed, allowed))


if __name__ == "__main__":
    limit_itself()
    sys.stdout.write(json.dumps(_answer(*sys.argv[1:])))
