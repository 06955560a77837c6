"""Other tools' answers: those made for this project in `tests/data`, real results outside of it."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pytest

from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts

DATA = Path(__file__).parents[2] / "data"
GOLDEN = Path(__file__).parents[4] / "shared" / "golden" / "ratings"
needs_golden = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason=f"the golden ratings are not at {GOLDEN}"
)
GOMOCUP = ["gomocup_2026_renju", "gomocup_2026_standard", "gomocup_renju_all", "gomocup_global"]


@dataclass(frozen=True, slots=True)
class Pool:
    """Named players and what they scored."""

    folder: Path
    name: str
    players: list[str]
    """Sorted; the counts name them by their places."""
    counts: PairCounts

    @classmethod
    def read(cls, name: str) -> Self:
        folder = DATA if (DATA / f"{name}_pairs.csv").exists() else GOLDEN
        with (folder / f"{name}_pairs.csv").open(newline="") as file:
            rows = list(csv.reader(file))[1:]
        players = sorted({player for row in rows for player in row[:2]})
        place = {player: number for number, player in enumerate(players)}
        seats = np.array([[place[player] for player in row[:2]] for row in rows])
        results = np.array([[float(count) for count in row[2:]] for row in rows])
        return cls(folder, name, players, PairCounts(*seats.T, *results.T))

    def column(self, column: str) -> Floats:
        """What a tool says of each player, in the order of `players`."""
        with (self.folder / f"{self.name}_outputs.csv").open(newline="") as file:
            values = {row["player"]: float(row[column]) for row in csv.DictReader(file)}
        return np.array([values[player] for player in self.players])


def with_bayes_elo_prior(counts: PairCounts, prior: float = 2.0) -> PairCounts:
    """The counts and BayesElo's prior: each player's `prior` draws, spread over its opponents."""
    players = len(counts.players)
    games = np.zeros((players, players))
    total = counts.wins + counts.draws + counts.losses
    np.add.at(games, (counts.first, counts.second), total)
    games += games.T
    draws = prior / 4 * games / games.sum(axis=1, keepdims=True)
    draws += draws.T
    first, second = np.nonzero(draws)
    nothing = np.zeros(len(first))
    return PairCounts(
        np.concatenate((counts.first, first)),
        np.concatenate((counts.second, second)),
        np.concatenate((counts.wins, nothing)),
        np.concatenate((counts.draws, draws[first, second])),
        np.concatenate((counts.losses, nothing)),
    )


def with_draws_as_both(counts: PairCounts) -> PairCounts:
    """Every draw as a win and a loss: what a draw parameter held at 0 makes of it."""
    return PairCounts(
        counts.first,
        counts.second,
        counts.wins + counts.draws,
        np.zeros_like(counts.draws),
        counts.losses + counts.draws,
    )


def with_half_draws(counts: PairCounts) -> PairCounts:
    """Every draw as half a win for each, as Ordo counts them."""
    half = counts.draws / 2
    nothing = np.zeros_like(half)
    return PairCounts(
        counts.first, counts.second, counts.wins + half, nothing, counts.losses + half
    )
