"""Games to learn from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import selfplay
from train import Games

from meijin.bots.core.engine import Engine, Options
from meijin.bots.core.evaluate import PROVEN
from meijin.game import GOMOKU, Board

FEW = 60


def records(count: int) -> list[selfplay.Record]:
    """Some short games."""
    engine, rng = Engine(GOMOKU, Options(table_bits=10)), Random(5)
    found: list[selfplay.Record] = []
    while len(found) < count:
        record = selfplay.play(engine, rng, FEW)
        if record is not None:
            found.append(record)
    return found


def test_games_can_be_replayed() -> None:
    """Every game is legal, has a score for each ply, and ends with a five or a proof."""
    for record in records(12):
        board = Board.from_moves(record.moves, GOMOKU)
        assert len(record.scores) == len(record.moves)
        assert 0 < record.opening <= record.settled <= len(record.moves)
        assert board.is_over or abs(record.scores[-1]) >= PROVEN
        if board.winner is not None:
            assert record.result == float(len(record.moves) % 2 == 1)


def test_results_are_the_winners() -> None:
    """A search that has proven a win for the side to move settles the game for it."""
    for record in records(12):
        if abs(record.scores[-1]) >= PROVEN:
            black_moved = len(record.moves) % 2 == 1
            assert record.result == float((record.scores[-1] > 0) == black_moved)


def test_saved_games_are_read(tmp_path: Path) -> None:
    """What is saved comes back as positions: as many as there are scored plies."""
    played = records(5)
    selfplay.save(tmp_path / "games.npz", played)
    rows, scores, results = Games.load(tmp_path / "games.npz").positions()
    assert len(rows) == sum(len(record.moves) - record.opening for record in played)
    first = played[0]
    board = rows[0]["board"]
    for number, cell in enumerate(first.moves[: first.opening]):
        assert board[cell] == (1 if (first.opening - number) % 2 == 0 else 2)
    assert (board != 0).sum() == first.opening
    assert rows[0]["move"] == first.moves[first.opening]
    assert scores[0] == first.scores[first.opening]
    last = len(first.moves) - first.opening - 1
    if first.settled < len(first.moves):
        black_moved = len(first.moves) % 2 == 1
        assert results[last] == (first.result if black_moved else 1 - first.result)


@pytest.mark.timeout(120)
def test_command(tmp_path: Path) -> None:
    """The command plays in processes of its own and writes a file."""
    script = Path(selfplay.__file__)
    command = [sys.executable, script, tmp_path / "games.npz", "--minutes", "0.01"]
    done = subprocess.run(
        [*map(str, command), "--nodes", str(FEW), "--processes", "1"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "games" in done.stdout
    assert len(Games.load(tmp_path / "games.npz").ends) > 0
