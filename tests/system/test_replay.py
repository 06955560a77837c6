"""A game that a bot has forfeited, replayed on its author's machine."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.system.conftest import Books
from tests.system.processes import MEIJIN, NO_LADDER, Processes, Server, eventually

FRAGILE = '''
"""A bot that fails with ten stones on the board, by what it knows of its clock."""

from meijin.bots import Bot, Position


class Fragile(Bot):
    def choose(self, position: Position) -> int:
        if position.board.ply >= 10:
            return self.table[round(position.clock_ms, -3), round(position.opponent_clock_ms, -3)]
        return position.legal_cells()[0]

    table: dict[tuple[int, int], int] = {}
'''


def replayed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Replay a turn by the command."""
    return subprocess.run(
        [*MEIJIN, "game", "replay", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_crash_happens_again(
    processes: Processes, open_books: Callable[[str], Books], tmp_path: Path
) -> None:
    """The same exception at the same line, by the game's number and by its record."""
    (tmp_path / "fragile.py").write_text(FRAGILE)
    server = Server(processes, "--open", NO_LADDER)
    address = f"--server={server.address}"
    processes.start("fragile", "bot", "run", str(tmp_path / "fragile.py"), address)
    processes.start("random", "bot", "run", "random", "--option", "seed=1", address)
    eventually(lambda: server.connected_bots() >= {"fragile", "random"})
    server.create_tournament("fragile", "random", rounds=1, time="600+1", variant="15x15")
    books = open_books(server.database_url)
    eventually(lambda: books.finished() == 1)
    shown = subprocess.check_output(
        [*MEIJIN, "game", "export", "1", "--format=json", address], text=True
    )
    (tmp_path / "game.json").write_text(shown)
    detail = json.loads(shown)["outcome"]["detail"]
    assert re.fullmatch(
        r"KeyError: \((599|60[0-9])000, (599|60[0-9])000\) \(fragile\.py, line [0-9]+\)", detail
    )
    for words in (("1", address), ("game.json",)):
        done = replayed(tmp_path, *words, "fragile.py")
        assert done.returncode == 1, done.stderr
        assert "Traceback" in done.stdout
        assert "return self.table[" in done.stdout
        assert detail in done.stdout
    before = len(json.loads(shown)["moves"]) - 2
    sane = replayed(tmp_path, "game.json", f"--ply={before}", "fragile.py")
    assert sane.returncode == 0, sane.stdout + sane.stderr
    assert "the move played" in sane.stdout
    unknown = replayed(tmp_path, "99", address, "fragile.py")
    assert (unknown.returncode, unknown.stderr.count("\n")) == (1, 1)
    assert "99" in unknown.stderr
