"""Processor time as the kernel counts it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import named_threads
from processor_time import ServerTime, process_seconds, server_time, tree_seconds

WORKING = """
import subprocess, sys, threading, time
done = threading.Event()
def work():
    while time.thread_time() < 0.1:
        pass
    done.set()
    sys.stdin.read()
threading.Thread(target=work, name="writer 1").start()
done.wait()
burn = "import time\\nwhile time.process_time() < 0.2: pass"
subprocess.run([sys.executable, "-S", "-c", burn])
print("worked", flush=True)
sys.stdin.read()
"""


@contextmanager
def working(folder: Path) -> Iterator[int]:
    """A process whose writer has worked 0.1 s, and whose child, that has ended, 0.2 s."""
    (folder / "working.py").write_text(WORKING)
    pipe = subprocess.PIPE
    command = [sys.executable, "-P", named_threads.__file__, "working"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"worked\n"
        yield process.pid


def test_threads_and_children_are_told_apart(tmp_path: Path) -> None:
    """The writer by its name, and the main thread as the loop."""
    with working(tmp_path) as pid:
        spent = server_time(pid)
        own, tree = process_seconds(pid), tree_seconds(pid)
    assert spent.writer >= 0.1
    assert spent.loop > 0
    assert spent.grpc == spent.children == 0
    assert tree - own >= 0.15
    assert abs(spent.total - own) < 0.1


def test_times_are_of_a_window() -> None:
    """Each part less what it was; the children are no part of the server."""
    before, after = ServerTime(1, 2, 3, 4, 5), ServerTime(2, 4, 6, 8, 10)
    assert after - before == ServerTime(1, 2, 3, 4, 5)
    assert before.total == 10


def test_a_process_that_is_gone_takes_nothing() -> None:
    """Nor do those that it had started."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    assert tree_seconds(process.pid) == 0
