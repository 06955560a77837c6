"""Runs a command beside six busy loops, three times, and ends at its first failure.

python scripts/busy.py COMMAND [ARGUMENTS]
"""

import subprocess
import sys
from contextlib import ExitStack

LOOPS, TIMES = 6, 3


def main() -> int:
    """Run the command; the status is that of its first failure."""
    command = sys.argv[1:]
    with ExitStack() as stack:
        for _ in range(LOOPS):
            loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(loop.wait)
            stack.callback(loop.kill)
        for _ in range(TIMES):
            if status := subprocess.call(command):
                return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
