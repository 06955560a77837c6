"""The search core in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SEARCH = """
import sys
from meijin.bots.core.engine import Engine, Limits
from meijin.game import Variant

variant = Variant.parse(sys.argv[1])
limits = Limits(depth=int(sys.argv[2]), nodes=int(sys.argv[3]))
centre = variant.cells // 2
moves = [centre, centre + 1, centre + variant.width, centre - 1]
finding = Engine(variant).search(moves, limits)
print(finding.score, finding.depth, finding.nodes, *finding.pv)
"""


def searched(variant: str, depth: int, nodes: int, **environ: str) -> str:
    """What a fresh process finds; it must exit in peace."""
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environ
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", SEARCH, variant, str(depth), str(nodes)],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout
    return process.stdout


def test_two_starts() -> None:
    """A second process loads what the first has compiled, and finds the same."""
    first, second = (searched("15x15", 9, 200_000) for _ in range(2))
    assert first == second


def test_bounds() -> None:
    """With every index checked, the search finds the same."""
    for variant in ("standard 22x22", "freestyle 9x5"):
        checked = searched(variant, 7, 100_000, NUMBA_BOUNDSCHECK="1")
        assert checked == searched(variant, 7, 100_000)


def test_without_compiler(tmp_path: Path) -> None:
    """The same source, run by the interpreter, finds the same."""
    interpreted = searched(
        "standard 7x6", 3, 400, NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=str(tmp_path)
    )
    assert interpreted == searched("standard 7x6", 3, 400)
