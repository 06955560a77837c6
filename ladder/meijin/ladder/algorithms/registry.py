"""The algorithms that this release can compute runs by."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from meijin.ladder.algorithms import rao_kupper_2
from meijin.ladder.rating_table import ALGORITHM, rate
from meijin.ladder.tally import Snapshot, game_line
from meijin.store import StoreError
from meijin.store.ladders.figures import Figures
from meijin.store.ladders.games import FinishedGame

NO_TIME = datetime(1, 1, 1, tzinfo=UTC)


class UnknownAlgorithmError(StoreError):
    """A run was computed by an algorithm that this release does not know."""


class Algorithm(NamedTuple):
    """How a run came about."""

    figures: Callable[[Snapshot], Figures]
    """What it published, by what it was computed from."""
    game_line: Callable[[FinishedGame, int], str]
    """What its chain has of a game and its day."""


def _figures(snapshot: Snapshot) -> Figures:
    return Figures.of(rate(snapshot, NO_TIME))


ALGORITHMS = {
    ALGORITHM: Algorithm(_figures, game_line),
    "rao-kupper-2": Algorithm(rao_kupper_2.figures, rao_kupper_2.game_line),
}


def find_algorithm(name: str, made: str) -> Algorithm:
    """That of a name.

    Args:
        made: What was computed by it.

    Raises:
        UnknownAlgorithmError: it is of another release.
    """
    if name not in ALGORITHMS:
        known = ", ".join(ALGORITHMS)
        raise UnknownAlgorithmError(f"{made} was computed by {name}; this release knows {known}")
    return ALGORITHMS[name]
