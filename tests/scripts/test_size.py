import subprocess
import sys
from pathlib import Path

import size

SCRIPT = Path(size.__file__)


def test_every_room_and_every_feature_is_counted() -> None:
    """Both tables have the same sum, and the pages their words."""
    done = subprocess.run([sys.executable, SCRIPT], check=True, capture_output=True, text=True)
    rooms, features, words = done.stdout.split("\n\n")
    *_, total = rooms.splitlines()
    counts = [
        [int(number.replace(",", "")) for number in line[24:].split()]
        for line in features.splitlines()[1:]
    ]
    sums = [sum(column) for column in zip(*counts, strict=True)]
    assert [int(number.replace(",", "")) for number in total.split()[1:]] == sums
    assert " words in " in words
