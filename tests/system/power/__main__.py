"""Power cuts and kills of a server under 64 to 256 games; a table of what was told and lost.

python -m tests.system.power --cuts 100 --kills 100
"""

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.system.power.trial import Trial

GAMES = (64, 128, 256)
"""At once, in one trial after another."""

LIVES = 20
"""Of a trial: its journals are read after each."""

say = partial(print, flush=True)


def main() -> int:
    """Run as the command line says; the status is 1 when anything was lost or doubled."""
    parser = argparse.ArgumentParser("python -m tests.system.power", description=__doc__)
    parser.add_argument("--cuts", type=int, default=10, help="of the power")
    parser.add_argument("--kills", type=int, default=0, help="by kill -9")
    parser.add_argument("--seed", type=int, default=1, help="of the first trial")
    options = parser.parse_args()
    begin, failures = time.monotonic(), []
    ends = ["cut"] * options.cuts + ["kill"] * options.kills
    say(f"{'':4}{'games':>6}{'told':>9}{'running':>9}{'finished':>9}{'breaches':>9}  end")
    for number, start in enumerate(range(0, len(ends), LIVES)):
        games = GAMES[number % len(GAMES)]
        failures += _try(start, ends[start : start + LIVES], games, options.seed + number)
    for failure in failures:
        say(f"BREACH: {failure}")
    seconds = time.monotonic() - begin
    say(
        f"{options.cuts} power cuts, {options.kills} kills, {len(failures)} breaches, {seconds:.0f} s"
    )
    return bool(failures)


def _try(start: int, ends: list[str], games: int, seed: int) -> list[str]:
    failures = []
    with tempfile.TemporaryDirectory(prefix="meijin-power-") as name, ExitStack() as stack:
        trial = Trial(Path(name).resolve(), seed=seed, lives=len(ends), games=games)
        stack.callback(trial.close)
        for number, end in enumerate(ends, start=start + 1):
            life = trial.cut_power() if end == "cut" else trial.kill()
            counts = f"{number:4}{games:6}{life.told:9}{life.running:9}{life.finished:9}"
            say(f"{counts}{len(life.breaches):9}  {life.end}, {life.seconds:.1f} s")
            failures += [f"life {number}, seed {seed}: {why}" for why in life.breaches]
        failures += trial.finish()
    return failures


if __name__ == "__main__":
    sys.exit(main())
