"""The command `meijin`, on a disk that forgets what was not synced when the power is cut.

The power is cut before a step of the disk: what is left is put into a folder of its own, and the
process is killed. The database itself is left as it is then, since SQLite's calls are not seen: it
is no older than what it has acknowledged.
"""

import os
import signal
import sys
from pathlib import Path
from random import Random
from unittest.mock import patch

from tests.power.calls import Calls
from tests.power.volume import Volume

from meijin.cli.main import main
from meijin.store.move_log import log

DATA, LEFT, STEP, SEED = "POWER_DATA", "POWER_LEFT", "POWER_STEP", "POWER_SEED"
"""In its environment: the folder, the one for what is left, before which step, and of what chance."""

SEGMENT_BYTES = 64 * 1024


def serve() -> None:
    left = Path(os.environ[LEFT])
    calls = Calls(Volume(Path(os.environ[DATA])))
    calls.cut_at = int(os.environ[STEP])

    def cut() -> None:
        part = left.with_name(f"{left.name}.part")
        calls.volume.leave(part, Random(os.environ[SEED]))
        part.rename(left)
        done = ", ".join(calls.names[-4:-1])
        print(f"the power is cut at step {calls.steps}, after {done}", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    calls.on_cut = cut
    with calls.made():
        main()


if __name__ == "__main__":
    with (
        patch.object(log, "SEGMENT_BYTES", SEGMENT_BYTES),
        patch.object(log, "PREPARED_AT", SEGMENT_BYTES // 2),
    ):
        serve()
