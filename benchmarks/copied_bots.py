"""Signals of copied bots: what they call copies, and how often they name the innocent.

    python benchmarks/copied_bots.py [--classes 200] [--bots 20] [--openings 12] [--plies 6]
                                     [--changes 0.05 0.1 0.2 0.4] [--risk 0.01] [--schools 4]
                                     [--shared 0.5] [--seed 1000] [--processes 2] [--json]

--classes    simulated, half of them with one copied bot and half without any
--bots       of a class
--openings   that each bot plays, with both colours, against each of two anchors
--plies      of its own that a bot plays in each game
--changes    how much of its play a copy has changed; the classes take turns
--risk       the chance to name anybody in a class without a copy
--schools    of a class: bots of one school, such as those who have read the same page, share
             a part of their taste
--shared     that part
--seed       of the first class; the threshold of agreement was chosen on the seeds below 1000
--processes  at a time

A position has eight moves worth playing, each of a quality drawn by lot. A bot plays the move whose
quality, times the bot's strength, is the best together with the bot's own taste in this position;
one move in twenty it plays another. A copy has the taste of the original but in the share of the
positions that it has changed, and nearly its strength. The rows tell of each change how many copies
are called copied or alike, and how many pairs who have copied nothing.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from report import Row, parser_of, pool_of, report

from meijin.ladder.statistics.diagnosis.copied_play import Choices, Likeness, agreement, signals
from meijin.ladder.statistics.fit.pair_counts import Floats

MOVES = 8
ANCHORS = 2
SLIPS = 0.05
"""The share of moves that a bot plays otherwise than by its taste."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a class is like."""

    seed: int
    bots: int
    openings: int
    plies: int
    schools: int
    shared: float
    change: float | None
    """What the last bot has changed of the first one, whose copy it is; ``None`` for no copy."""
    risk: float


@dataclass(frozen=True, slots=True)
class Player:
    """A policy."""

    strength: float
    taste: int
    """Seeds what it likes in each position."""
    school: int
    shared: float
    """The part of its taste that is its school's."""
    original: int | None = None
    """The taste that it has where it has changed nothing."""
    change: float = 0.0

    def liking(self, position: int) -> Floats:
        """What it likes, besides quality."""
        own = np.random.default_rng((self.taste, position))
        is_original = self.original is not None and own.random() >= self.change
        taste = self.original if is_original and self.original is not None else self.taste
        own_part, shared_part = np.sqrt(2 * np.array((1 - self.shared, self.shared)))
        drawn, common = _drawn(taste, position), _drawn(self.school, position)
        likes: Floats = own_part * drawn + shared_part * common
        return likes


def _drawn(seed: int, position: int) -> Floats:
    return np.random.default_rng((seed, position, 1)).normal(size=MOVES)


class World:
    """The positions of a class, and what is played in them."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._qualities: dict[int, Floats] = {}
        self._favourites: dict[tuple[int, int], int] = {}

    def move(self, player: Player, position: int) -> int:
        """What a player plays."""
        if self._rng.random() < SLIPS:
            return int(self._rng.integers(MOVES))
        key = player.taste, position
        if key not in self._favourites:
            worth = player.strength * self._quality(position) + player.liking(position)
            self._favourites[key] = int(worth.argmax())
        return self._favourites[key]

    def _quality(self, position: int) -> Floats:
        if position not in self._qualities:
            self._qualities[position] = np.random.default_rng((7, position)).normal(size=MOVES)
        return self._qualities[position]


@dataclass(frozen=True, slots=True)
class Named:
    """What pairs of a class are called."""

    copies: Counter[Likeness] = field(default_factory=Counter)
    innocent: Counter[Likeness] = field(default_factory=Counter)
    largest: float = 0.0
    """The largest share of an innocent pair that is named."""


def judge(settings: Settings) -> Named:
    """Play a class, and look who is called what."""
    rng = np.random.default_rng(settings.seed)
    found = agreement(_choices(settings, rng), settings.bots)
    copied = None if settings.change is None else (0, settings.bots - 1)
    all_signals = signals(found, settings.risk)
    innocent = [each for each in all_signals if (each.first, each.second) != copied]
    return Named(
        Counter(each.likeness for each in all_signals if each not in innocent),
        Counter(each.likeness for each in innocent),
        max((each.share for each in innocent), default=0.0),
    )


def _choices(settings: Settings, rng: np.random.Generator) -> Choices:
    world = World(rng)
    players = list(_players(settings, rng))
    anchors = [_new_player(rng, settings, school=0) for _ in range(ANCHORS)]
    rows = []
    games = product(enumerate(players), anchors, range(settings.openings), range(2))
    for (bot, player), anchor, opening, side in games:
        position = hash((settings.seed, opening, side))
        for ply in range(2 * settings.plies):
            is_own = ply % 2 == side
            move = world.move(player if is_own else anchor, position & 0xFFFFFFFF)
            if is_own:
                rows.append((position, bot, move))
            position = hash((position, move))
    columns = np.array(rows, dtype=np.int64).T
    return Choices(columns[0], columns[1], columns[2])


def _players(settings: Settings, rng: np.random.Generator) -> Iterator[Player]:
    players = [
        _new_player(rng, settings, school=1 + number % settings.schools)
        for number in range(settings.bots)
    ]
    if settings.change is not None:
        first, last = players[0], players[-1]
        players[-1] = Player(
            strength=first.strength * float(rng.uniform(0.9, 1.1)),
            taste=last.taste,
            school=first.school,
            shared=settings.shared,
            original=first.taste,
            change=settings.change,
        )
    yield from players


def _new_player(rng: np.random.Generator, settings: Settings, *, school: int) -> Player:
    strength, taste = float(rng.gamma(4.0, 0.5)), int(rng.integers(1 << 31))
    return Player(strength, taste, school, settings.shared)


def summary(all_settings: list[Settings], results: list[Named]) -> list[Row]:
    """A row for the classes without a copy, and one for each change."""
    rows: list[Row] = []
    for change in sorted({each.change for each in all_settings}, key=lambda each: each or -1.0):
        of_change = [
            result
            for settings, result in zip(all_settings, results, strict=True)
            if settings.change == change
        ]
        row: dict[str, str | int | float] = {
            "copy": "none" if change is None else f"{change:.0%} changed",
            "classes": len(of_change),
        }
        for word in Likeness:
            row[f"copies_{word.value}"] = sum(each.copies[word] for each in of_change)
            row[f"innocent_{word.value}"] = sum(each.innocent[word] for each in of_change)
            row[f"classes_{word.value}"] = sum(each.innocent[word] > 0 for each in of_change)
        row["largest_innocent_share"] = max(each.largest for each in of_change)
        rows.append(row)
    return rows


def main() -> None:
    """Judge all classes."""
    parser = parser_of(__doc__)
    parser.add_argument("--classes", type=int, default=200)
    parser.add_argument("--bots", type=int, default=20)
    parser.add_argument("--openings", type=int, default=12)
    parser.add_argument("--plies", type=int, default=6)
    parser.add_argument("--changes", type=float, nargs="+", default=[0.05, 0.1, 0.2, 0.4])
    parser.add_argument("--risk", type=float, default=0.01)
    parser.add_argument("--schools", type=int, default=4)
    parser.add_argument("--shared", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    all_settings = [
        Settings(
            seed=seed,
            bots=options.bots,
            openings=options.openings,
            plies=options.plies,
            schools=options.schools,
            shared=options.shared,
            change=None if seed % 2 else options.changes[seed // 2 % len(options.changes)],
            risk=options.risk,
        )
        for seed in range(options.seed, options.seed + options.classes)
    ]
    with pool_of(options.processes) as processes:
        results = list(processes.map(judge, all_settings, chunksize=4))
    report("Copied bots", summary(all_settings, results), as_json=options.json)


if __name__ == "__main__":
    main()
