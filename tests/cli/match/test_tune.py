"""The command that tunes: what it refuses, what it prints, and that it finds a better value."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.cli.match.tune import save_path, sparkline, written
from meijin.local.sides import Side
from meijin.local.tuning.parameter import parse_parameters
from meijin.local.tuning.spsa import Spsa

QUITTER = """
import random
from meijin.bots import RESIGN, Bot
class Quitter(Bot):
    def __init__(self, share: float = 0.9) -> None:
        if share > 1:
            raise ValueError("nobody resigns so often")
        self.share = share
    def choose(self, position):
        return RESIGN if random.random() < self.share else position.legal_cells()[0]
"""

MANY = """
from meijin.bots import Bot
class Many(Bot):
    def __init__(self, k: int = 1) -> None:
        self.k = k
    def choose_many(self, positions):
        return [position.legal_cells()[self.k] for position in positions]
"""


@pytest.fixture
def quitter(tmp_path: Path) -> str:
    """A bot that resigns by chance: the less, the better."""
    path = tmp_path / "quitter.py"
    path.write_text(QUITTER)
    return str(path)


def tune(*words: str) -> Result:
    return CliRunner().invoke(app, ["tune", *words, "--time", "5/move"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["random", "--param", "seed=9..1"], "--param: .* wrong way round"),
        (["random", "--param", "seed=1..1"], "one value"),
        (["random", "--param", "level=1..9"], "level"),
        (["alphabeta", "--param", "level=1..99"], "level"),
        (["random", "--param", "seed=1..9", "--games", "3"], "--games 3 is odd"),
        (["random", "--param", "seed=1..9", "--plot", "x.txt"], "ends in .png"),
        (["nobody", "--param", "seed=1..9"], "nobody"),
    ],
)
def test_what_cannot_be_tuned_is_told_before_anything_starts(
    words: list[str], message: str, tmp_path: Path
) -> None:
    result = tune(*words, "--data", str(tmp_path / "data"))
    assert result.exit_code
    assert re.search(message, f"{result.exception} {result.output}")
    assert not (tmp_path / "data").exists()


def test_a_path_is_a_line_of_bars() -> None:
    assert sparkline([0, 0.5, 1], 0, 1) == "▁▅█"
    assert sparkline([3.0] * 1000, 1, 9) == "▃" * 32


def test_a_side_is_written_as_it_is_read() -> None:
    for spec in ("alphabeta:level=3", "random"):
        assert written(Side.parse(spec)) == spec
    engine = Side.parse("true -x option.k=3")
    assert Side.parse(written(engine)) == engine


@pytest.mark.parametrize("name", ["walk.svg", "walk.png"])
def test_a_picture_shows_each_parameter(tmp_path: Path, name: str) -> None:
    spsa = Spsa(parse_parameters(["depth=1..9", "$x=0..1.0"], {}), 4, seed=1, window=4)
    for trial in spsa.open_trials:
        spsa.note(trial.number, 1)
    save_path(spsa, "mine", tmp_path / name)
    assert (tmp_path / name).stat().st_size
    with pytest.raises(CommandError, match="can't write"):
        save_path(spsa, "mine", tmp_path / "none" / name)


@pytest.mark.long
def test_a_better_value_is_found_by_games(quitter: str, tmp_path: Path) -> None:
    """On processes; when it is over the same command prints the same and plays no more."""
    words = [quitter, "--param", "share=0.0..1.0", "--games", "60", "--seed", "4", "--json"]
    words += ["--concurrency", "2", "--data", str(tmp_path / "data")]
    result = tune(*words)
    assert not result.exit_code, result.output
    told = json.loads(result.stdout)
    (share,) = told["parameters"]
    assert share["start"] == 0.5
    assert share["end"] < 0.4
    assert told["games"] == 60
    assert len(share["path"]) == 31
    again = tune(*words)
    assert json.loads(again.stdout) == told


def test_a_file_that_refuses_an_end_of_the_range_ends_it(quitter: str) -> None:
    """Before any game; the message is the bot's own."""
    result = tune(quitter, "--param", "share=0.0..2.0", "--games", "2")
    assert "nobody resigns so often" in str(result.exception)


def test_a_bot_of_many_games_at_once_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.py"
    path.write_text(MANY)
    result = tune(str(path), "--param", "k=1..9", "--games", "2")
    assert "many-low plays many games at once" in str(result.exception)
