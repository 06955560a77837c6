"""Installing: the size of the wheel and of each extra, and the time to the first local game.

    python benchmarks/install.py [--extras "" bots server server,bots plots]

Each selection of extras goes into a bare environment of its own, from a wheel that is built first.
Where a selection has the server, a local match of two games is played from it. Sizes are those of
the files; times hang on the network and on what pip has kept from earlier installations.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SELECTIONS = ("", "bots", "server", "server,bots", "plots", "parquet", "tracing")
BUILD = (*(sys.executable, "-m", "pip", "wheel", "--quiet"), "--no-deps", "--no-build-isolation")
GAME = ("match", "random", "random", "--local", "--games=2")
HELPS = 11
"""How often the CPU of `--help` is measured."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One selection of extras, measured."""

    extras: str
    size: int
    """Bytes of the environment beyond a bare one."""
    seconds: float
    """From the bare environment to the installed command."""
    game_seconds: float | None
    """From there to the end of a first local match; ``None`` without a server."""
    help_seconds: float
    """Median CPU of ``meijin --help``."""


def build(folder: Path) -> Path:
    """Build the wheel of this checkout; its path."""
    subprocess.run([*BUILD, f"--wheel-dir={folder}", str(ROOT)], check=True)
    (wheel,) = folder.glob("meijin-*.whl")
    return wheel


def install(wheel: Path, extras: str, folder: Path) -> Installation:
    """Install a selection into an environment of its own, and try it."""
    venv.create(folder, with_pip=True)
    python, bare = folder / "bin" / "python", size_of(folder)
    began = time.monotonic()
    chosen = f"{wheel}[{extras}]" if extras else str(wheel)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", chosen)
    installed = time.monotonic()
    game_seconds = None
    if "server" in extras:
        run(python, "-m", "meijin", *GAME)
        game_seconds = time.monotonic() - installed
    return Installation(
        extras=extras or "none",
        size=size_of(folder) - bare,
        seconds=installed - began,
        game_seconds=game_seconds,
        help_seconds=help_seconds(python),
    )


def help_seconds(python: Path) -> float:
    """The median CPU of ``meijin --help``, after a first one that writes the bytecode."""
    run(python, "-m", "meijin", "--help")
    return statistics.median(_cpu_of_help(python) for _ in range(HELPS))


def _cpu_of_help(python: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(python, "-m", "meijin", "--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(program: Path, *words: str) -> None:
    """Run a command in silence, with the bytecode kept as users have it."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    subprocess.run([program, *words], env=kept, check=True, capture_output=True)


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def line(found: Installation) -> str:
    """A row of the table."""
    game = "" if found.game_seconds is None else f"{found.game_seconds:.1f} s"
    return (
        f"| {found.extras} | {found.size / 1e6:.0f} MB | {found.seconds:.0f} s | {game} | "
        f"{found.help_seconds:.2f} s |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", nargs="*", default=SELECTIONS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="meijin-install-") as folder:
        wheel = build(Path(folder))
        print(f"the wheel has {wheel.stat().st_size / 1e3:.0f} kB\n")
        print("| extras | size | to install | first local match | `--help`, CPU |")
        print("|---|---:|---:|---:|---:|")
        for number, extras in enumerate(asked.extras):
            found = install(wheel, extras, Path(folder) / str(number))
            results.append(asdict(found))
            print(line(found), flush=True)
    if asked.json:
        print(json.dumps({"results": results}))


if __name__ == "__main__":
    main()
