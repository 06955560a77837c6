"""Time forfeits beside the bots' own clocks."""

from __future__ import annotations

import json
from pathlib import Path

from time_forfeits import Forfeit, Move, read_journals, rows_of


def test_a_forfeit_of_a_bot_that_was_in_time_is_a_robbery() -> None:
    """It took less than it was told; one that took as long was late."""
    journal = {
        ("1", 4): Move("told", told_ms=10, own_us=9_999),
        ("2", 4): Move("told", told_ms=10, own_us=10_000),
        ("3", 4): Move("untold", told_ms=10, own_us=20_000),
        ("3", 2): Move("untold", told_ms=10, own_us=20),
    }
    forfeits = [Forfeit(game, 4, {}) for game in ("1", "2", "3", "4")]
    told, untold, unwritten = rows_of(journal, forfeits, {"told": [1_000, 3_000]})
    assert (told["moves"], told["forfeits"], told["robbed"]) == (2, 2, 1)
    assert (told["way_p50_ms"], told["way_max_ms"]) == (2, 3)
    assert (untold["moves"], untold["forfeits"], untold["robbed"]) == (2, 1, 0)
    assert unwritten["forfeits"] == 1


def test_journals_are_read_by_game_and_ply(tmp_path: Path) -> None:
    """Each bot has a file of its name."""
    line = {"game": "7", "ply": 3, "told_ms": 5, "own_us": 6}
    (tmp_path / "ada").write_text(json.dumps(line) + "\n")
    assert read_journals(tmp_path, {"ada": "told"}) == {("7", 3): Move("told", 5, 6)}
