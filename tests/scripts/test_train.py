"""Training of the network."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
import selfplay
import train
from gradients import PARAMETERS, POLICY_SHARE, POSITION, as_record, draw_numbers
from train import Trainer

from meijin.bots.core import lookup
from meijin.bots.core.engine import Engine, Options
from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.network import POINTS, POLICY_POINTS, policy_score, value
from meijin.bots.core.state import STATE, init, make
from meijin.game import GOMOKU

EVERY = np.arange(24)
CENTRE = np.arange(225).reshape(15, 15)[3:12, 3:12].reshape(-1)


def some_positions(count: int = len(EVERY)) -> train.Rows:
    """Random positions with random aims and moves."""
    rng = np.random.default_rng(2)
    rows = np.zeros(count, POSITION)
    for row in rows:
        cells = rng.choice(CENTRE, 26, replace=False)
        row["board"][cells[:12]], row["board"][cells[12:25]] = 1, 2
        row["move"], row["aim"] = cells[25], rng.random()
    return rows


def total_loss(trainer: Trainer, positions: train.Rows) -> float:
    """The loss that is made small."""
    found = trainer.check(positions, EVERY)
    return found["value"] + POLICY_SHARE * found["policy"]


@pytest.mark.parametrize("name", PARAMETERS.names or ())
def test_slopes(name: str) -> None:
    """Slopes are those of finite differences."""
    positions, trainer = some_positions(), Trainer(3)
    trainer._visit(positions, EVERY, learn=True)
    slopes = as_record(trainer._slopes)[name].reshape(-1) / len(EVERY)
    numbers = trainer.parameters[name].reshape(-1)
    if name == "last_bias":  # a scalar of a record is a copy
        numbers = trainer._numbers[-1:]
    for at in np.argsort(-abs(slopes))[:5]:
        before, step = numbers[at], np.float32(1e-3)
        numbers[at] = before + step
        above = total_loss(trainer, positions)
        numbers[at] = before - step
        below = total_loss(trainer, positions)
        numbers[at] = before
        assert slopes[at] == pytest.approx((above - below) / (2 * step), rel=0.1, abs=5e-4)


def test_learning() -> None:
    """What is learnt by heart is known, and the row for nothing stays empty."""
    positions, trainer = some_positions(), Trainer(1)
    before = total_loss(trainer, positions)
    for _ in range(500):
        trainer.learn(positions, EVERY, 1e-2)
    found = trainer.check(positions, EVERY)
    assert found["policy"] < 0.2
    assert found["hits"] > 0.95
    assert found["value"] + POLICY_SHARE * found["policy"] < before / 2
    assert not trainer.parameters["rows"][0].any()


def test_aims() -> None:
    """A proof is certain, whatever the result; without a result the score alone counts."""
    scores = np.array([29_900.0, -29_900.0, 0.0, 0.0, 0.0])
    results = np.array([0.0, 1.0, 1.0, 0.0, -1.0])
    found = train.aims(scores, results)
    share = train.RESULT_SHARE
    np.testing.assert_allclose(found, [1, 0, 0.5 + share / 2, 0.5 - share / 2, 0.5])


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


def test_numbers_too_large() -> None:
    """A number that does not fit is an error, not another number."""
    with pytest.raises(OverflowError, match="does not fit int16"):
        train.rounded(np.array([40.0], np.float32), 1000, np.int16)


def test_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command makes a network of a few games that the core can load."""
    engine, rng = Engine(GOMOKU, Options(table_bits=10)), Random(1)
    played = [record for _ in range(30) if (record := selfplay.play(engine, rng, 50))]
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
