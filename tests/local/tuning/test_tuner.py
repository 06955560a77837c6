"""A tuning that is killed anywhere goes on to the same values."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from tests.local.tuning.test_spsa import PARAMETERS, played

from meijin.local.errors import ArenaError
from meijin.local.tuning.grid import Grid, grid_levels
from meijin.local.tuning.spsa import Spsa
from meijin.local.tuning.trial import Schedule, Trial
from meijin.local.tuning.tuner import play_trials, take_up
from meijin.local.tuning.tuning_log import FILE, TuningLog

PAIRS, WINDOW = 40, 6


class KilledError(Exception):
    """A kill."""


class Player:
    """Ends trials in an order of its own; is killed after so many results."""

    def __init__(self, kills_after: int = PAIRS) -> None:
        self._waiting: list[Trial] = []
        self._left = kills_after
        self._order = random.Random(kills_after)

    def play(self, trial: Trial) -> None:
        self._waiting.append(trial)

    def result(self) -> tuple[int, float]:
        if not self._left:
            raise KilledError
        self._left -= 1
        trial = self._waiting.pop(self._order.randrange(len(self._waiting)))
        return trial.number, played(trial)


def run(folder: Path, player: Player, seed: int = 7) -> list[tuple[float, ...]]:
    """One command: the path at its end."""
    with TuningLog(folder, {"side": "x"}, {"seed": seed}) as log:
        spsa = Spsa(PARAMETERS, PAIRS, seed=log.drawn["seed"], window=WINDOW)
        take_up(spsa, log)
        with suppress(KilledError):
            play_trials(spsa, log, player, lambda: None)
        return spsa.path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[float, ...]]:
    """The path of a tuning that nobody has stopped."""
    return run(tmp_path_factory.mktemp("whole"), Player())


@pytest.mark.parametrize("results", range(0, PAIRS, 7))
def test_a_killed_tuning_goes_on_to_the_same_values(
    tmp_path: Path, whole: list[tuple[float, ...]], results: int
) -> None:
    """Its seed is that of the file; what was in play is played again."""
    run(tmp_path, Player(results))
    assert run(tmp_path, Player(PAIRS - results), seed=99) == whole


def run_grid(folder: Path, player: Player) -> dict[int, float]:
    """The same of a grid, and three pairs of a comparison: all results at its end."""
    with TuningLog(folder, {"side": "x"}, {"seed": 7}) as log:
        grid = Grid(PARAMETERS, grid_levels(PARAMETERS, 3, 50), seed=log.drawn["seed"])
        schedules = (
            Schedule(range(PAIRS), grid.trial, window=WINDOW),
            Schedule(range(PAIRS, PAIRS + 3), lambda number: Trial(number, {}, {}), window=WINDOW),
        )
        with suppress(KilledError):
            for schedule in schedules:
                take_up(schedule, log)
                play_trials(schedule, log, player, lambda: None)
        return {number: each.results[number] for each in schedules for number in each.results}


@pytest.mark.parametrize("results", [5, PAIRS + 1])
def test_a_killed_grid_goes_on_with_the_same_results(tmp_path: Path, results: int) -> None:
    """In its trials, and in the games that follow them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.local.tuning.test_tuner.played", lambda trial: trial.number % 5 - 2)
        whole = run_grid(tmp_path / "whole", Player(PAIRS + 3))
        run_grid(tmp_path / "killed", Player(results))
        assert run_grid(tmp_path / "killed", Player(PAIRS + 3 - results)) == whole
    assert len(whole) == PAIRS + 3


def test_half_a_line_is_no_result(tmp_path: Path, whole: list[tuple[float, ...]]) -> None:
    """As a kill leaves it while it is written."""
    run(tmp_path, Player(10))
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[:-5])
    assert run(tmp_path, Player(PAIRS - 9)) == whole


def test_another_tuning_has_another_folder(tmp_path: Path) -> None:
    run(tmp_path, Player(3))
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(ArenaError, match="another tuning"):
        TuningLog(tmp_path, {"side": "y"}, {"seed": 7})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / FILE).write_text("hello\n")
    with pytest.raises(ArenaError, match="holds no tuning"):
        TuningLog(tmp_path / "other", {"side": "x"}, {"seed": 7})
    assert (tmp_path / FILE).read_bytes() == before


def test_one_command_at_a_time(tmp_path: Path) -> None:
    """A second one is refused, and cuts no line of the first; when that has ended it may go on."""
    with TuningLog(tmp_path, {"side": "x"}, {"seed": 7}) as log:
        before = (tmp_path / FILE).read_bytes()
        with pytest.raises(ArenaError, match="another command is tuning in"):
            TuningLog(tmp_path, {"side": "x"}, {"seed": 7})
        log.note(0, 1)
        assert (tmp_path / FILE).read_bytes().startswith(before)
    with TuningLog(tmp_path, {"side": "x"}, {"seed": 8}) as log:
        assert dict(log.results()) == {0: 1}
        assert log.drawn == {"seed": 7}


def test_the_folder_of_a_match_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meijin.db").touch()
    with pytest.raises(ArenaError, match="holds a match"):
        TuningLog(tmp_path, {"side": "x"}, {"seed": 7})
    assert not (tmp_path / FILE).exists()
