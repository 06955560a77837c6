"""Chances: what the scores of a bot's versions are worth, by how their games have ended."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np
from sqlalchemy import Connection

from meijin.game.records.chances import ChanceMap, wins_in
from meijin.server.storage import Storage
from meijin.store.games import ToldScores, get_game, newest_games, told_scores
from meijin.store.schema import BotVersionId, Game, GameId, GameState

MOST_GAMES = 100
"""The newest of a version that its map is fitted to."""
MOST_SCORES = 2_000
"""After which no more games are read; they come a few at a time, as bots may say much."""
GAMES_AT_ONCE = 16

MOST_SPREADS = 10.0
"""A score counts as at most so many times the usual one: engines write large ones for wins."""
STEPS, ENOUGH = 30, 1e-4
"""Of Newton's method, each of at most 1; one that moves nothing further is the last."""
LEAST_SLOPE = 0.05
"""Of the logarithm of odds over the usual score: no bot's higher scores are worth less."""

MAX_AGE = timedelta(minutes=10)
"""Of a map that is kept."""
MOST_KEPT = 10_000


class ChanceMaps:
    """The maps of versions, each fitted anew now and then."""

    def __init__(self, storage: Storage, clock: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._kept: OrderedDict[BotVersionId, tuple[float, ChanceMap]] = OrderedDict()

    async def of_game(self, game_id: GameId) -> tuple[ChanceMap, ChanceMap]:
        """The maps of black and white.

        Raises:
            NotFoundError: there is no such game.
        """
        game = await self._storage.read(get_game, game_id)
        return await self._of(game.black_id), await self._of(game.white_id)

    async def _of(self, version_id: BotVersionId) -> ChanceMap:
        made, found = self._kept.get(version_id, (0.0, None))
        if found is None or self._clock() - made > MAX_AGE.total_seconds():
            made, found = self._clock(), await self._storage.read(chance_map, version_id)
            self._kept.pop(version_id, None)
            self._kept[version_id] = made, found
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return found


def chance_map(connection: Connection, version_id: BotVersionId) -> ChanceMap:
    """The map of a version by its newest games."""
    is_finished = Game.state == GameState.FINISHED
    newest = newest_games(connection, [version_id], MOST_GAMES, is_finished)
    games: list[ToldScores] = []
    for first in range(0, len(newest), GAMES_AT_ONCE):
        games += told_scores(connection, version_id, newest[first : first + GAMES_AT_ONCE])
        if sum(len(game.scores) for game in games) >= MOST_SCORES:
            break
    return fit_chances(games)


def fit_chances(games: Sequence[ToldScores]) -> ChanceMap:
    """The logistic map with the largest posterior likelihood, as if against equal opponents.

    What the bot scores on the whole is taken as known beside its scores: else those of a strong bot
    would call an even position won. All scores of a game together count as one, since it ends but
    once. The prior makes one usual score of the bot worth odds of e, give or take as much, and a
    score of 0 even. From 1, 3, 10 and 40 games of nine built-in bots it foretold others with
    0.52, 0.49, 0.42 and 0.38 nats a game; isotonic regression took 0.67, 0.56, 0.43 and 0.37.
    """
    unproven = [
        (game.points, [score for score in game.scores if wins_in(score) is None]) for game in games
    ]
    rows = [(points, score, 1 / len(scores)) for points, scores in unproven for score in scores]
    if not rows:
        return ChanceMap()
    points, scores, weights = np.array(rows).T
    spread = max(1.0, float(np.median(np.abs(scores))))
    usual = np.clip(scores / spread, -MOST_SPREADS, MOST_SPREADS)
    share = (sum(game.points for game in games) + 1) / (len(games) + 2)
    strength = math.log(share / (1 - share))
    design = np.stack([usual, np.ones_like(usual)], axis=1)
    prior = np.array([1.0, 0.0])
    found = prior
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-(design @ found + strength)))
        slope = design.T @ (weights * (points - expected)) - (found - prior)
        curve = (design.T * (weights * expected * (1 - expected))) @ design + np.eye(2)
        step = np.linalg.solve(curve, slope)
        longest = float(np.abs(step).max())
        found = found + step / max(1.0, longest)
        if longest < ENOUGH:
            break
    slope_found, offset = found.tolist()
    told = sum(bool(scores) for _, scores in unproven)
    return ChanceMap(spread / max(slope_found, LEAST_SLOPE), offset, told)
