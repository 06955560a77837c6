"""A process that hangs is ended."""

import subprocess
import sys

from tests.conftest import PATIENCE

HANGS = """
import sys
sys.path[:0] = {path!r}
import threading
from datetime import timedelta
from meijin.server.process.last_resort import end_within
end_within(timedelta(seconds={limit}))
threading.Thread(target={target}).start()
"""


def run(target: str, limit: float) -> "subprocess.CompletedProcess[str]":
    """A process whose interpreter waits for a thread."""
    code = HANGS.format(path=sys.path, target=target, limit=limit)
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_a_process_whose_thread_hangs_is_ended() -> None:
    """With a line that says so, and a status that is not 0."""
    done = run("threading.Event().wait", 0.01)
    assert done.returncode == 1
    assert "the stop hangs and is cut off" in done.stdout + done.stderr


def test_a_process_that_ends_in_time_is_let_be() -> None:
    """The limit holds nothing up."""
    done = run("print", 10 * PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
