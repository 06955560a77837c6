"""Games made up for tests of the mathematics."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from meijin.ladder.statistics import elo
from meijin.ladder.statistics.fit.bradley_terry import Fit, Outcomes, Prior
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts

OUTCOMES = Outcomes(advantage=60.0, draws=40.0)
FREE = Prior(math.inf, math.inf, math.inf)
NO_ADVANTAGE = Prior(math.inf, 0, math.inf)

Row = tuple[int, int, float, float, float]
"""First, second, wins, draws, losses."""


def counts(rows: Iterable[Row], openings: list[int] | None = None) -> PairCounts:
    first, second, wins, draws, losses = np.array([*rows], dtype=float).reshape(-1, 5).T
    began = None if openings is None else np.array(openings, dtype=np.int64)
    players = first.astype(np.int64), second.astype(np.int64)
    return PairCounts(*players, wins, draws, losses, began)


def rows_at(games: PairCounts, places: Any) -> PairCounts:
    """Some of the rows, in the order of their places or where a mask has them."""
    columns = {each.name: getattr(games, each.name) for each in fields(games)}
    chosen: Any = {name: None if c is None else c[places] for name, c in columns.items()}
    return PairCounts(**chosen)


def shuffled(games: PairCounts) -> tuple[PairCounts, Integers]:
    """The same rows in another order, and from which places they come."""
    order = np.random.default_rng(1).permutation(len(games.first))
    return rows_at(games, order), order


def swapped(games: PairCounts) -> PairCounts:
    results = games.losses, games.draws, games.wins
    return PairCounts(games.second, games.first, *results, games.openings)


def played(leads: Floats, pairs: Integers, games: int, rng: np.random.Generator) -> PairCounts:
    """This many games of each pair by lot, a row a pair.

    Args:
        leads: By how much everyone is the stronger of each two; shape (n, n).
        pairs: Who meets whom; shape (k, 2).
    """
    first, second = pairs.T
    wins, losses = OUTCOMES.wins(leads[first, second]), OUTCOMES.losses(leads[first, second])
    results = rng.multinomial(games, np.column_stack((wins, 1 - wins - losses, losses)))
    return PairCounts(first, second, *results.T.astype(float))


def random_pairs(players: int, pairs: int, rng: np.random.Generator) -> Integers:
    first = rng.integers(0, players, pairs)
    return np.column_stack((first, (first + rng.integers(1, players, pairs)) % players))


def all_pairs(players: int) -> Integers:
    return np.argwhere(~np.eye(players, dtype=bool))


def leads_of(strengths: Floats) -> Floats:
    leads: Floats = strengths[:, None] - strengths
    return leads


def expected_games(leads: Floats, games: float) -> PairCounts:
    """This many games of each two and colour, which end exactly as they should."""
    first, second = all_pairs(len(leads)).T
    wins, losses = OUTCOMES.wins(leads[first, second]), OUTCOMES.losses(leads[first, second])
    return PairCounts(first, second, games * wins, games * (1 - wins - losses), games * losses)


def contents(result: Fit) -> list[object]:
    found = [array.tobytes() for array in (result.players, result.elo)]
    return [*found, result.outcomes, result.log_likelihood, result.level]


P = TypeVar("P", bound=Hashable)


def replay(results: Iterable[tuple[P, P, float]]) -> dict[P, float]:
    """Everyone's classic Elo after games in order: first, second, and the first one's points."""
    ratings: defaultdict[P, float] = defaultdict(lambda: elo.START)
    games: Counter[P] = Counter()
    for first, second, points in results:
        one, other = ((ratings[each], games[each]) for each in (first, second))
        ratings[first], ratings[second] = elo.exchange(one, other, points)
        games.update((first, second))
    return dict(ratings)
