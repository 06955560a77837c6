"""How often a sequential test of two equal bots errs when they repeat their games.

    python benchmarks/repeats.py [--runs 400] [--most-games 20000] [--processes 2] [--json]

The two are equally strong, and of the bounds 0 and 20 normalised Elo the first is true: a test
may accept the second in 5 of 100 runs. What a game on an opening ends in is drawn by lot when it
is played for the first time with these colours; when it comes again, it is the same game with the
chance `replay` (1 for deterministic bots, 0.9 for those whose clock or threads interfere now and
then, 0 for dice), and else another one. Openings favour black by 60 Elo, give or take 150.

replay     that chance
openings   40 given ones, or the server's deck for 15x15; a mirrored opening is played mirrored
counted    all games, as if each were evidence, or those that repeat no earlier one
elo1, elo0 runs in a hundred that accepted it; `margin` is half of the 95 % interval of the first
nothing    runs in a hundred that ended undecided, with nothing new to learn
used_up    runs in a hundred that ended undecided after the most games
games      median of the games that were played
"""

import asyncio
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from report import Row, parser_of, pool_of, report

from meijin.game import GOMOKU, Result, decode_moves, encode_moves, openings_for
from meijin.game.board.symmetry import canonical
from meijin.game.openings.deck import OpeningDeck
from meijin.ladder.statistics.sequential.sprt import Sprt
from meijin.server.tournaments.formats.base import BotCapacity, Capacity
from meijin.server.tournaments.formats.sprt import SprtFormat
from meijin.server.tournaments.formats.sprt_settings import SprtDecision, SprtSettings, Unit
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import PairingResult

TEST = Sprt(0, 20)
FIRST_MOVE = 60.0
"""What it is worth, in Elo."""
BIAS = 150.0
"""The deviation of what an opening is worth to black, in Elo."""
DRAWS = 0.1
"""Of games between equals."""
PLAYERS = (BotId(1), BotId(2))
NO_STORAGE: Any = None
"""A test reads nothing while it is planned."""

SEATS = Capacity(dict.fromkeys(PLAYERS, BotCapacity(64, 64)), waiting=0, held={}, room=10**9)

GIVEN, SERVER = "40", "server's"


@dataclass(frozen=True, slots=True)
class Scenario:
    """How two equal bots play, on what, and which of their games are counted."""

    replay: float
    openings: str
    counted: str


SCENARIOS = [
    Scenario(1.0, GIVEN, "all"),
    Scenario(1.0, GIVEN, "new"),
    Scenario(1.0, SERVER, "new"),
    Scenario(0.9, GIVEN, "all"),
    Scenario(0.9, GIVEN, "new"),
    Scenario(0.9, SERVER, "new"),
    Scenario(0.0, GIVEN, "new"),
    Scenario(0.0, SERVER, "new"),
]


@dataclass(frozen=True, slots=True)
class Game:
    """One game, and what it is known by."""

    number: int
    result: Result


class EqualBots:
    """Two bots of the same strength that may repeat themselves."""

    def __init__(self, replay: float, rng: Random) -> None:
        self._replay = replay
        self._rng = rng
        self._bias: dict[bytes, float] = {}
        self._first: dict[tuple[bytes, BotId], Game] = {}
        self._games = 0

    def play(self, opening: bytes, black: BotId) -> Game:
        """A game on an opening: the one that was played first on it, or a new one."""
        known = self._first.get((opening, black))
        if known is not None and self._rng.random() < self._replay:
            return known
        self._games += 1
        game = Game(self._games, self._draw(opening))
        return self._first.setdefault((opening, black), game) if known is None else game

    def _draw(self, opening: bytes) -> Result:
        """The result of a game that has not been played before; whoever has black."""
        if opening not in self._bias:
            self._bias[opening] = self._rng.gauss(FIRST_MOVE, BIAS)
        score = 1 / (1 + 10 ** (-self._bias[opening] / 400))
        draw = 4 * DRAWS * score * (1 - score)
        luck = self._rng.random()
        if luck < score - draw / 2:
            return Result.BLACK_WINS
        return Result.DRAW if luck < score + draw / 2 else Result.WHITE_WINS


@dataclass(frozen=True, slots=True)
class Run:
    """How one test ended."""

    scenario: Scenario
    decision: SprtDecision
    games: int


def run_test(scenario: Scenario, seed: int, most_games: int) -> Run:
    """Play a test to its end."""
    rng = Random(f"{scenario.replay} {scenario.openings} {seed}")
    bots = EqualBots(scenario.replay, rng)
    settings = SprtSettings(TEST, Unit.PAIRS, most_games)
    test = SprtFormat(settings, list(zip(PLAYERS, "ab", strict=True)), deck_of(scenario), seed=seed)
    number = 0
    while not test.is_decided:
        for pair in asyncio.run(test.next_pairs(SEATS, NO_STORAGE)):
            opening = encode_moves(canonical(decode_moves(pair.opening), GOMOKU))
            for black, white in ((pair.first, pair.second), (pair.second, pair.first)):
                number += 1
                game = bots.play(opening, black)
                key = game.number if scenario.counted == "new" else None
                test.game_ended(PairingResult(number, black, white, game.result, key))
            if test.is_decided:
                break
    return Run(scenario, test.detail.decision, number)


def deck_of(scenario: Scenario) -> OpeningDeck:
    """The openings of a scenario; where all games count there are no images, as there were none."""
    forty = [encode_moves(opening) for opening in openings_for(GOMOKU)]
    if scenario.counted == "all":
        return OpeningDeck(forty)
    return OpeningDeck.of(GOMOKU, forty if scenario.openings == GIVEN else ())


def rows_of(runs: Sequence[Run]) -> Iterator[Row]:
    """One row for each scenario, in percent."""
    for scenario in dict.fromkeys(run.scenario for run in runs):
        these = [run for run in runs if run.scenario == scenario]
        found = Counter(run.decision for run in these)
        share = {decision: found[decision] / len(these) for decision in SprtDecision}
        wrong = share[SprtDecision.ELO1]
        yield {
            "replay": scenario.replay,
            "openings": scenario.openings,
            "counted": scenario.counted,
            "runs": len(these),
            "elo1": round(100 * wrong, 1),
            "margin": round(196 * math.sqrt(wrong * (1 - wrong) / len(these)), 1),
            "elo0": round(100 * share[SprtDecision.ELO0], 1),
            "nothing": round(100 * share[SprtDecision.NOTHING_NEW], 1),
            "used_up": round(100 * share[SprtDecision.OPEN], 1),
            "games": round(statistics.median(run.games for run in these)),
        }


def main() -> None:
    """Simulate all scenarios."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--most-games", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    tasks = [
        (scenario, seed, options.most_games)
        for scenario in SCENARIOS
        for seed in range(options.runs)
    ]
    with pool_of(options.processes) as processes:
        runs = list(processes.map(run_test, *zip(*tasks, strict=True), chunksize=10))
    report("Tests of two equal bots, 0 against 20", list(rows_of(runs)), as_json=options.json)


if __name__ == "__main__":
    main()
