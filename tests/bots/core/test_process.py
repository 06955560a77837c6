"""The search core in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SEARCH = """
import sys
from meijin.bots.core.engine import Engine
from meijin.bots.core.limits import SearchLimits
from meijin.game import Variant

variant = Variant.parse(sys.argv[1])
limits = SearchLimits(depth=int(sys.argv[2]), nodes=int(sys.argv[3]))
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


def test_every_way_finds_the_same(tmp_path: Path) -> None:
    """A second process loads what the first has compiled; or indices are checked, or nothing compiled."""
    large, small = ("standard 22x22", 7, 100_000), ("freestyle 9x5", 7, 100_000)
    assert searched(*large) == searched(*large) == searched(*large, NUMBA_BOUNDSCHECK="1")
    assert searched(*small) == searched(*small, NUMBA_BOUNDSCHECK="1")
    tiny, folder = ("standard 7x6", 3, 400), str(tmp_path)
    assert searched(*tiny) == searched(*tiny, NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=folder)
