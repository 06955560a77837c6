"""Campaigns for as long as you like, each with the next seed, and a report at the end.

python -m tests.system.chaos --minutes 60 --seed 1
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from tests.conftest import PostgreSQL, running_postgresql
from tests.system.chaos.campaign import Campaign, Report
from tests.system.chaos.plan import Kind

say = partial(print, flush=True)


def main() -> int:
    """Run as the command line says; the status is 1 when there was a breach."""
    options = _parse()
    reports: list[Report] = []
    with running_postgresql() if options.postgresql else nullcontext() as postgresql:
        deadline = time.monotonic() + 60 * options.minutes
        seed = options.seed
        while not reports or time.monotonic() < deadline:
            reports.append(_run(seed, options, postgresql))
            say(reports[-1])
            seed += 1
    say(_summary(reports))
    return any(report.breaches for report in reports)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.system.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="no campaign starts after these")
    parser.add_argument("--seed", type=int, default=1, help="of the first campaign's faults")
    parser.add_argument("--rounds", type=int, default=8, help="a round has 28 games")
    parser.add_argument("--faults", type=int, default=30, help="in one campaign")
    names = [kind.name.lower().replace("_", "-") for kind in Kind]
    parser.add_argument("--kind", choices=names, action="append", help="these alone, not all")
    parser.add_argument("--postgresql", action="store_true", help="instead of SQLite")
    parser.add_argument("--keep", type=Path, help="where the files of campaigns are to stay")
    return parser.parse_args()


def _run(seed: int, options: argparse.Namespace, postgresql: PostgreSQL | None) -> Report:
    with _folder(seed, options.keep) as folder:
        kinds = [Kind[name.upper().replace("-", "_")] for name in options.kind or ()] or tuple(Kind)
        try:
            return Campaign(
                folder,
                seed,
                rounds=options.rounds,
                faults=options.faults,
                kinds=kinds,
                postgresql=postgresql,
                say=say,
            ).run()
        except Exception as error:  # noqa: BLE001 - the next seed is tried whatever it is
            return Report(seed, 0, breaches=[f"the campaign did not end: {error!r}"])


@contextmanager
def _folder(seed: int, keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        folder = keep.resolve() / f"seed-{seed}"
        folder.mkdir(parents=True)
        yield folder
    else:
        with tempfile.TemporaryDirectory(prefix="meijin-chaos-") as name:
            yield Path(name)


def _summary(reports: list[Report]) -> str:
    games, faults = (sum(getattr(report, key) for report in reports) for key in ("games", "faults"))
    broken = [report.seed for report in reports if report.breaches]
    end = f"breaches with the seeds {broken}" if broken else "no breach"
    return f"{len(reports)} campaigns, {games} games, {faults} faults: {end}"


if __name__ == "__main__":
    sys.exit(main())
