"""What a move costs by stage, on few games."""

from random import Random

import pytest
from stages import STAGES, drawn_order, measure

from meijin.game import Board
from meijin.store import Durability


def test_every_stage_is_measured() -> None:
    """A row has each stage's time, and their sum."""
    row = measure(3, 4, 2, Durability.PROCESS)
    assert list(row) == ["games", *STAGES, "total"]
    assert row["games"] == 3
    stages = [float(row[stage]) for stage in STAGES]
    assert all(stage >= 0 for stage in stages)
    assert float(row["commit"]) > 0
    assert float(row["total"]) == pytest.approx(sum(stages), abs=0.01)


def test_a_game_that_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose games do not go on measures something else, and stops."""
    monkeypatch.setattr("stages.drawn_order", lambda _rng: [7, 7])
    error = pytest.RaisesExc(RuntimeError, match="0 moves went on in 0 running games")
    with pytest.RaisesGroup(error):
        measure(2, 2, 1, Durability.PROCESS)


@pytest.mark.parametrize("seed", range(8))
def test_an_order_makes_no_five(seed: int) -> None:
    """Nobody wins until the last cell but one, so no game ends while it is measured."""
    order = drawn_order(Random(seed))
    board = Board.from_moves(order)
    assert len(order) == 224
    assert board.winner is None
