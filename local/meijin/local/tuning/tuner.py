"""The tuner: a walk, its log, and the pool that plays its trials."""

from collections.abc import Callable
from typing import Protocol

from meijin.local.tuning.spsa import Spsa, Trial
from meijin.local.tuning.tuning_log import TuningLog


class TrialPlayer(Protocol):
    """Plays several trials at once."""

    def play(self, trial: Trial) -> None:
        """Begin one, or put it in a queue."""

    def result(self) -> tuple[int, float]:
        """Wait until any is over: its number and its result."""


def play_trials(
    spsa: Spsa, log: TuningLog, player: TrialPlayer, on_result: Callable[[], object]
) -> None:
    """Play what is left of a tuning whose log was taken up.

    Args:
        on_result: Is called when a result is in the log.
    """
    playing: set[int] = set()
    while not spsa.is_over:
        for trial in spsa.open_trials:
            if trial.number not in playing:
                playing.add(trial.number)
                player.play(trial)
        number, result = player.result()
        playing.remove(number)
        log.note(number, result)
        spsa.note(number, result)
        on_result()


def take_up(spsa: Spsa, log: TuningLog) -> None:
    """Walk where the results of a log lead to."""
    for number, result in log.results():
        spsa.note(number, result)
