"""Bots on any system: each is asked for a first move, as an engine of the Gomocup protocol.

    python scripts/smoke.py BOT...

It needs no server, so it runs where none does, as on Windows.
"""

import re
import subprocess
import sys

ASKED = "START 15\nBEGIN\nEND\n"
ANSWER = re.compile(r"^\d+,\d+$", re.MULTILINE)


def first_move(bot: str) -> str:
    """Where a bot plays on an empty board, as ``x,y``.

    Raises:
        SystemExit: it says something else.
    """
    command = (sys.executable, "-m", "meijin", "bot", "engine", bot)
    done = subprocess.run(command, input=ASKED, capture_output=True, text=True, check=False)
    found = ANSWER.search(done.stdout)
    if found is None or done.returncode != 0:
        sys.exit(f"{bot}: {done.stdout!r}, exit status {done.returncode}\n{done.stderr}")
    return found[0]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name} plays {first_move(name)}")
