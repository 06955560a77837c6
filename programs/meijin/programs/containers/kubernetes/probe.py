"""The probe: tries in a Pod of its own what a program must not be able to do.

    python -m meijin.programs.containers.kubernetes.probe HOST PORT BYTES

It connects to a server, starts threads, says in a line of JSON how far it came, and then fills
memory: where that is limited it is killed.
"""

import _thread
import json
import socket
import sys
import time
from collections.abc import Sequence

MOST_THREADS = 5_000
"""More than any cluster's limit of processes that keeps a node usable."""
_CONNECT_TIMEOUT_S = 5.0
_STACK_BYTES = 1 << 16
_BLOCK = 1 << 20


def connects(host: str, port: int) -> bool:
    """Whether a server is reached."""
    try:
        socket.create_connection((host, port), _CONNECT_TIMEOUT_S).close()
    except OSError:
        return False
    return True


def count_threads(most: int) -> int:
    """How many threads can be started; they stay."""
    _thread.stack_size(_STACK_BYTES)
    for number in range(most):
        try:
            _thread.start_new_thread(time.sleep, (3600,))
        except RuntimeError:
            return number
    return most


def fill(count: int) -> None:
    """Take memory, and write to it."""
    blocks: list[bytes] = []
    while len(blocks) * _BLOCK < count:
        blocks.append(b"x" * _BLOCK)


def main(arguments: Sequence[str]) -> None:
    """Try one after the other."""
    host, port, count = arguments
    found = {"connects": connects(host, int(port)), "threads": count_threads(MOST_THREADS)}
    sys.stdout.write(f"{json.dumps(found)}\n")
    sys.stdout.flush()
    fill(int(count))


if __name__ == "__main__":
    main(sys.argv[1:])
