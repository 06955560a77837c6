"""The tuner: trials, their log, and the pool that plays them."""

from collections.abc import Callable
from typing import Protocol

from meijin.local.tuning.trial import Trial, Trials
from meijin.local.tuning.tuning_log import TuningLog


class TrialPlayer(Protocol):
    """Plays several trials at once."""

    def play(self, trial: Trial) -> None:
        """Begin one, or put it in a queue."""

    def result(self) -> tuple[int, float]:
        """Wait until any is over: its number and its result."""


def play_trials(
    trials: Trials, log: TuningLog, player: TrialPlayer, on_result: Callable[[], object]
) -> None:
    """Play what is left of trials whose log was taken up.

    Args:
        on_result: Is called when a result is in the log.
    """
    playing: set[int] = set()
    while not trials.is_over:
        for trial in trials.open_trials:
            if trial.number not in playing:
                playing.add(trial.number)
                player.play(trial)
        number, result = player.result()
        playing.remove(number)
        log.note(number, result)
        trials.note(number, result)
        on_result()


def take_up(trials: Trials, log: TuningLog) -> None:
    """Note the results that a log has of trials."""
    for number, result in log.results():
        if number in trials.numbers:
            trials.note(number, result)
