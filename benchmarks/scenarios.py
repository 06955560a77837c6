"""Worlds of bots whose strengths are known, and finished games of them, drawn by lot.

Nothing of the ladder's statistics is used here: a judge that shared code with the fit would share
its mistakes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from meijin.store.ladders.games import FinishedGame
from meijin.store.schema import BotVersionId

FIRST_MOVE = 60.0
"""What the first move is worth, in Elo."""
DRAWS = 40.0
"""By how many Elo a bot has to be better to win every second game: equals draw one in ten."""
MANY_DRAWS = 382.0
"""Equals draw four games in five."""
DEVIATION = 220.0
"""Of the bots' strengths, in Elo; Student's t with this many degrees of freedom:"""
FREEDOM = 5
LINKS = 0.01
"""The share of pairs that lead out of a cluster."""
LAST = 0.2
"""The share of the games that nobody joins in."""
FRESH = 0
"""This many openings: whatever is dealt was never dealt before."""
DAYS = 20
"""That a ladder's games are spread over."""
WIN, DRAW, LOSS = 2, 1, 0
"""Points of who moves first."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Jump:
    """Some bots are stronger from some moment on."""

    elo: float = 200.0
    bots: int = 3
    after: float = 0.5
    """The share of the games that are over by then."""


@dataclass(frozen=True, slots=True)
class World:
    """How pairings and results come about. Without more, bots are dice."""

    bots: int = 20
    games: int = 2_000
    is_adaptive: bool = False
    """The ladder's matchmaker pairs, and otherwise chance."""
    beginners: int | None = None
    """Bots who are there from the first game on, while the others join until the last fifth."""
    cluster: int = 0
    """Bots that meet each other alone, but for one pair in a hundred; 0 for all."""
    draws: float = DRAWS
    openings: int = FRESH
    opening_deviation: float = 0.0
    """Of the first-move advantage from opening to opening, in Elo."""
    are_paired: bool = True
    """Both games of a pair begin with one opening."""
    repetition: float = 0.0
    """Where players, colours and opening come again, the chance of the very game of before."""
    alikeness: float = 0.0
    """The chance, likewise, of another game that ends as the first did."""
    cycle: float = 0.0
    """Every bot is rock, paper or scissors by lot, and this many Elo better against the one kind,
    and worse against the other."""
    pair_deviation: float = 0.0
    """Every pair has an effect of its own, with this deviation in Elo."""
    odd_pair: float = 0.0
    """One bot in the middle of the field is this many Elo better against the next one alone."""
    colour_deviation: float = 0.0
    """Of what moving first is worth, from bot to bot, in Elo."""
    trend: float = 0.0
    """The bots with even numbers get this many Elo stronger with each of their games."""
    learner: float = 0.0
    """So does the first bot alone."""
    walk: float = 0.0
    """After each of its games a bot's strength takes a random step of this deviation, in Elo."""
    jump: Jump | None = None
    far: float = 0.0
    """The first bot is this many Elo above the mean of the others' distribution."""
    has_thrower: bool = False
    """The second bot throws all its games against the first."""


SCENARIOS: Mapping[str, World] = {
    "dice": World(),
    "dice-matchmaker": World(is_adaptive=True),
    "draws": World(draws=MANY_DRAWS),
    "3-bots-30": World(bots=3, games=30),
    "3-bots-200": World(bots=3, games=200),
    "5-bots-100": World(bots=5, games=100),
    "5-bots-160": World(bots=5, games=160),
    "8-bots-600": World(bots=8, games=600),
    "20-bots-600": World(games=600),
    "20-bots-20000": World(games=20_000),
    "50-bots-5000": World(bots=50, games=5_000),
    "newcomers": World(bots=30, games=5_000, beginners=8),
    "40-openings": World(openings=40),
    "20-openings-150": World(openings=20, opening_deviation=150),
    "400-openings-150": World(openings=400, opening_deviation=150),
    "fresh-openings-300": World(opening_deviation=300),
    "lone-openings-300": World(opening_deviation=300, are_paired=False),
    "jump": World(jump=Jump()),
    "late-jump": World(jump=Jump(after=0.9)),
    "trend-0.1": World(trend=0.1),
    "trend-2": World(trend=2),
    "learner-2": World(learner=2),
    "walks-2": World(walk=2),
    "walks-2-20000": World(walk=2, games=20_000),
    "circle": World(cycle=100),
    "circle-matchmaker": World(cycle=100, is_adaptive=True),
    "circle-4-bots": World(bots=4, games=600, cycle=100),
    "upsets": World(pair_deviation=100),
    "odd-pair": World(odd_pair=400),
    "deterministic": World(openings=20, repetition=1),
    "repeats": World(bots=8, games=3_000, openings=40, repetition=0.9),
    "ends-alike": World(bots=8, games=3_000, openings=40, alikeness=0.9),
    "colours": World(colour_deviation=100),
    "far": World(far=1_500),
    "clusters": World(cluster=5),
    "collusion": World(has_thrower=True),
}
"""Numbers in names are of bots, games or Elo."""


@dataclass(slots=True)
class Opening:
    """What was dealt, and what has come of it."""

    key: int
    advantage: float
    """Of the first move, in Elo."""
    first_points: dict[tuple[int, int], int] = field(default_factory=dict)
    """Of the first game of each two on it, by who moves first and second."""


class WorldGames:
    """Games so far of bots numbered 0, 1, ... in a world; the version of bot n is n + 1."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.world = world
        self._rng = rng
        spread = DEVIATION * (1 - 2 / FREEDOM) ** 0.5
        self.strengths: Floats = spread * rng.standard_t(FREEDOM, world.bots)
        """Those of now."""
        if world.far:
            self.strengths[0] = world.far
        self.games: list[FinishedGame] = []
        """The newest last; those too that repeat others."""
        self._effects = _pair_effects(world, self.strengths, rng)
        self._colours = rng.normal(0, world.colour_deviation / 2, world.bots)
        self._openings = [self._new_opening(key) for key in range(world.openings)]
        self._steps = np.where(np.arange(world.bots) % 2, 0.0, world.trend)
        self._steps[0] += world.learner
        self._jumps_at = int(world.games * world.jump.after) if world.jump else -1

    def draw_pair(self) -> tuple[int, int]:
        """Two bots who are to meet, by lot."""
        bots, near = self._present(), self.world.cluster
        one = int(self._rng.integers(bots))
        if near and self._rng.random() >= LINKS:
            start = one - one % near
            return one, start + (one - start + int(self._rng.integers(1, near))) % near
        return one, (one + int(self._rng.integers(1, bots))) % bots

    def _present(self) -> int:
        """The number of bots that have joined."""
        bots, beginners = self.world.bots, self.world.beginners
        if beginners is None:
            return bots
        passed = len(self.games) / (self.world.games * (1 - LAST))
        return min(bots, beginners + int((bots - beginners) * passed))

    def play_both(self, one: int, other: int) -> None:
        """Play a pair of games, with either colour."""
        opening = self._deal()
        self._play(one, other, opening)
        self._play(other, one, opening if self.world.are_paired else self._deal())

    def rated(self) -> list[FinishedGame]:
        """Those that repeat no other."""
        return [game for game in self.games if not game.is_repeat]

    def _deal(self) -> Opening:
        if self.world.openings:
            return self._openings[int(self._rng.integers(self.world.openings))]
        return self._new_opening(len(self.games))

    def _new_opening(self, key: int) -> Opening:
        return Opening(key, FIRST_MOVE + self._rng.normal(0, self.world.opening_deviation))

    def _play(self, first: int, second: int, opening: Opening) -> None:
        before = opening.first_points.get((first, second))
        points, is_repeat = self._points(first, second, opening.advantage), False
        if before is not None:
            luck = self._rng.random()
            is_repeat = luck < self.world.repetition
            points = before if luck < self.world.repetition + self.world.alikeness else points
        opening.first_points.setdefault((first, second), points)
        number = len(self.games)
        day = f"2026-01-{1 + number * DAYS // self.world.games:02}"
        black, white = BotVersionId(first + 1), BotVersionId(second + 1)
        self.games.append(
            FinishedGame(number + 1, day, black, white, opening.key, points, 0, is_repeat)
        )
        self._go_on(first, second)

    def _points(self, first: int, second: int, advantage: float) -> int:
        if self.world.has_thrower and first + second == 1:
            return LOSS if first else WIN
        lead = self.strengths[first] - self.strengths[second] + self._effects[first, second]
        lead += advantage + self._colours[first] + self._colours[second]
        luck = self._rng.random()
        if luck < _chance(lead - self.world.draws):
            return WIN
        return LOSS if luck > 1 - _chance(-lead - self.world.draws) else DRAW

    def _go_on(self, *players: int) -> None:
        """Let strengths change after a game."""
        for bot in players:
            self.strengths[bot] += self._steps[bot]
            if self.world.walk:
                self.strengths[bot] += self._rng.normal(0, self.world.walk)
        if self.world.jump and len(self.games) == self._jumps_at:
            self.strengths[: self.world.jump.bots] += self.world.jump.elo


def _pair_effects(world: World, strengths: Floats, rng: np.random.Generator) -> Floats:
    """What each bot is better by against each, beyond their strengths; shape (n, n)."""
    kinds = rng.integers(0, 3, world.bots)
    sides = (kinds[:, None] - kinds + 1) % 3 - 1
    own = np.triu(rng.normal(0, world.pair_deviation, (world.bots, world.bots)), 1)
    effects: Floats = world.cycle * sides + own - own.T
    if world.odd_pair:
        one, other = np.argsort(strengths)[world.bots // 2 :][:2]
        effects[one, other] += world.odd_pair
        effects[other, one] -= world.odd_pair
    return effects


def _chance(lead: float) -> float:
    """Of a win, by Elo's formula."""
    return float(1 / (1 + 10 ** (-lead / 400)))
