"""Games to learn from, and training of the network."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
import selfplay
import train
from gradients import POSITION, as_record, draw_numbers
from train import Games, Trainer

from meijin.bots.core import lookup
from meijin.bots.core.engine import Engine
from meijin.bots.core.jit import new_record
from meijin.bots.core.limits import Options
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.network import POINTS, POLICY_POINTS, policy_score, value
from meijin.bots.core.state import STATE, init, make
from meijin.game import GOMOKU, Board
from meijin.game.records.chances import PROVEN_SCORE

FEW = 60


def records(count: int) -> list[selfplay.Record]:
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
        assert board.is_over or abs(record.scores[-1]) >= PROVEN_SCORE
        if board.winner is not None:
            assert record.result == float(len(record.moves) % 2 == 1)


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


def forget_tables() -> None:
    """Have the next search made with the network that is there then."""
    lookup._tables_of_rule.cache_clear()
    tables_of.cache_clear()


def test_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core computes with whole numbers what training computed with fractions."""
    parameters = as_record(draw_numbers(7))
    monkeypatch.setattr(
        "meijin.bots.core.lookup.load_network", lambda: train.whole_numbers(parameters)
    )
    forget_tables()
    tables, state = tables_of(GOMOKU), new_record(STATE)
    forget_tables()
    init(state, tables)
    moves = Random(4).sample(range(225), 20)
    for cell in moves:
        make(state, tables, cell)
    rows = np.zeros(1, POSITION)
    rows["board"][0][moves[::2]], rows["board"][0][moves[1::2]] = 1, 2
    rows["move"] = next(cell for cell in range(225) if cell not in moves)
    trainer = Trainer(7)
    trainer.check(rows, np.arange(1))
    work = trainer._work
    assert value(state, tables) == pytest.approx(POINTS * work.value, abs=2)
    shown = dict(zip(work.cells[: work.active], work.chances[: work.active], strict=True))
    first, second = list(shown)[:2]
    gap = policy_score(state, tables, first) - policy_score(state, tables, second)
    expected = POLICY_POINTS * np.log(shown[first] / shown[second])
    assert gap == pytest.approx(expected, abs=2)


def test_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command makes a network of a few games that the core can load."""
    played = records(25)
    games, network = tmp_path / "games.npz", tmp_path / "network.npz"
    selfplay.save(games, played)
    monkeypatch.setattr("sys.argv", ["train.py", str(network), str(games), "--epochs", "2"])
    train.main()
    assert capsys.readouterr().out.count("held out") == 2
    tables = tables_of(GOMOKU)
    with np.load(network) as whole:
        for name in set(whole) - {"rows", "policy"}:  # which are laid out for both colours
            assert whole[name].shape == np.shape(tables[name])
            assert whole[name].dtype == tables.dtype[name].base
