"""The command that tunes: what it refuses, what it prints, and that it finds a better value."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.cli.match.tune import written
from meijin.cli.match.tuning_results import (
    Comparison,
    GridFit,
    Search,
    Walk,
    save_picture,
    sparkline,
)
from meijin.local.sides import Side
from meijin.local.tuning.grid import Grid, grid_levels
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
        (["random", "--param", "seed=1..9", "--games", "0"], "--games.*greater than or equal to 2"),
        (["random", "--param", "seed=1..9", "--compare", "3"], "--compare 3 is odd"),
        (["random", "--param", "seed=1..9", "--grid", "10000"], "10000 points, and at most 1000"),
        (["random", "--param", "seed=1..9", "--grid", "5", "--games", "20"], "give --games 40"),
        (["alphabeta", "--param", "level=1.0..5.0"], '"2.52786" is no int, as level has to be'),
        (["alphabeta:level=2.5", "--param", "level=1..5"], "--param: level starts at 2.5"),
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


def ended(method: str) -> Search:
    """A tuning in which the lower values have won."""
    parameters = parse_parameters(["depth=1..9", "$x=0..1.0"], {})
    search: Search = Walk(Spsa(parameters, 50, seed=1, window=4))
    if method == "grid":
        grid = Grid(parameters, grid_levels(parameters, 5, 50), seed=1)
        search = GridFit(grid, 50, seed=1, window=4)
    while not search.trials.is_over:
        for trial in search.trials.open_trials:
            ahead = float(trial.minus["depth"]) - float(trial.plus["depth"])
            search.trials.note(trial.number, max(-2, min(2, ahead)))
    return search


@pytest.mark.parametrize("method", ["spsa", "grid"])
@pytest.mark.parametrize("name", ["tuned.svg", "tuned.png"])
def test_a_picture_shows_each_parameter(tmp_path: Path, method: str, name: str) -> None:
    search = ended(method)
    save_picture(search, "mine", tmp_path / name)
    assert (tmp_path / name).stat().st_size
    with pytest.raises(CommandError, match="can't write"):
        save_picture(search, "mine", tmp_path / "none" / name)


def test_what_is_found_is_told_with_its_doubts() -> None:
    search = ended("grid")
    told = json.loads(json.dumps(search.fields()))
    depth, other = told["parameters"]
    assert (depth["value"], depth["best_high"]) == ("1", pytest.approx(1))
    assert (other["low"], other["high"], len(other["levels"])) == (0, 1, 5)
    assert told["doubts"] == search.doubts()
    assert (
        "depth is best at the end of its range, 1: better values may lie beyond it"
        in told["doubts"]
    )


def test_no_difference_is_said_in_one_line() -> None:
    parameters = parse_parameters(["k=1..9"], {})
    search = GridFit(
        Grid(parameters, grid_levels(parameters, 5, 40), seed=1), 40, seed=1, window=40
    )
    for trial in search.trials.open_trials:
        search.trials.note(trial.number, (-1) ** (trial.number // 2))
    (line,) = search.doubts()
    assert re.fullmatch(r"no difference shows between any of these values \(p = 0\.\d+\): .*", line)


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([], "not compared with those at the start"),
        ([2, 2], r"above -19 Elo \(95%\) against depth=5, \$x=0.5 over 4 games"),
        ([-2] * 50, r"below -607 Elo \(95%\) against .* over 100 games"),
        ([0, 0], "Elo unknown, all pairs ended alike, against"),
        ([2, 0, 1, -1] * 25, r"\+89 ± 41 Elo against depth=5, \$x=0.5 over 200 games"),
    ],
)
def test_what_is_found_is_compared_with_the_start(results: list[int], words: str) -> None:
    """By games of its own: their pairs have numbers of their own, and openings too."""
    search = ended("spsa")
    comparison = Comparison(search, len(results), window=4)
    assert comparison.trials.numbers == range(50, 50 + len(results))
    for number, result in zip(comparison.trials.numbers, results, strict=True):
        comparison.trials.note(number, result)
    assert re.search(words, comparison.line()), comparison.line()
    assert comparison.fields()["games"] == 2 * len(results)


def test_the_values_of_the_start_are_not_compared() -> None:
    search = Walk(Spsa(parse_parameters(["k=1..9"], {}), 50, seed=1, window=4))
    comparison = Comparison(search, 20, window=4)
    assert comparison.trials.is_over
    assert "k=5; they are those at the start, so nothing is compared" in comparison.line()


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
    comparison = told["comparison"]
    assert (comparison["games"], comparison["against"]) == (14, {"share": "0.5"})
    assert sum(comparison["pairs"]) == 7
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
