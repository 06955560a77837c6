"""Sequential tests of bots that end alike when an opening comes again, and whose games end late.

    python benchmarks/sprt_units.py [--runs 400] [--worlds alike images same order]
                                    [--most-pairs 4000] [--processes 2] [--json]

Two bots are tested for 0 against `elo1` normalised Elo, with risks of 5 %, and are truly `truth`
apart. A game ends by lot when its opening is played for the first time with its colours; openings
favour black by 60 Elo, give or take 150. When an opening or an image of it comes again, the game
ends as that one with the chance `alike`, and else by lot.

--runs        tests in each row
--worlds      `alike`: other games that end alike, as of bots with clocks and threads; `images`: they
              do so where the opening is the same and not an image; `same`: the games themselves, as
              of deterministic bots; `order`: all by lot, where a win of the bot that is tested
              takes one minute and every other game five
--most-pairs  after which a test is left off

openings   40 given ones or 320 and their images, or 1,040, the server's own for 15x15
at once    how many games are played at a time
h1, h0     tests in a hundred that accepted `elo1` and 0; `used up`: that ended undecided
pairs      the mean number that a test counts, and the units that they are worth
of wald    games that ended before the decision, relative to Wald's (Sequential tests of statistical
           hypotheses, 1945)
former     the same where each new pair counts in full when its games end; `times`: games relative
           to it
"""

import heapq
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from random import Random

import numpy as np
from report import Row, parser_of, pool_of, report
from stopped_tests import PER_DEVIATION, WORLDS

from meijin.game import GOMOKU, Color, Result, decode_moves, encode_moves
from meijin.game.board.symmetry import images_of
from meijin.game.openings.deck import OpeningDeck
from meijin.ladder.statistics.sequential.sprt import Sprt, likelihood_ratios
from meijin.server.tournaments.formats.sprt import SprtRun
from meijin.server.tournaments.formats.sprt_settings import SprtDecision, SprtSettings
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import PairingResult

OURS, THEIRS = BotId(1), BotId(2)
UNEVEN = WORLDS["uneven"]
strength_of = cache(UNEVEN.strength)
SERVER = 1040
"""Openings of the server's own."""
BLOCK = 128
"""Pairs that are played before it is seen whether the test has ended."""


@dataclass(frozen=True, slots=True)
class Case:
    """One row."""

    world: str
    alike: float
    openings: int
    elo1: float
    truth: float
    """0 or 1: which of the two is true."""
    at_once: int = 1


ALL = (40, 320, SERVER)
CASES = [
    *(Case("order", 0.0, SERVER, 50.0, 0.0, at_once) for at_once in (2, 16, 128)),
    *(
        Case("alike", alike, openings, elo1, truth)
        for truth, openings, elo1, alike in product(
            (0.0, 1.0), ALL, (50.0, 20.0), (0.0, 0.5, 0.9, 0.99)
        )
    ),
    *(Case("order", 0.0, SERVER, 20.0, 0.0, at_once) for at_once in (16, 128)),
    *(Case("images", alike, 40, 20.0, 0.0) for alike in (0.5, 0.9)),
    *(Case("same", *each, 20.0, 0.0) for each in ((0.9, 40), (1.0, 40), (0.9, SERVER))),
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one test ended."""

    decision: SprtDecision
    pairs: int
    units: float
    games: int
    """That had ended by then."""


@cache
def deck_of(openings: int) -> tuple[OpeningDeck, dict[bytes, bytes]]:
    """A deck, and what each of its openings is an image of."""
    server = OpeningDeck.of(GOMOKU, ())
    own = [*server.base, *server.generated]
    deck = server if openings == SERVER else OpeningDeck.of(GOMOKU, own[:openings])
    originals = {each: each for each in own}
    for each in (*deck.base, *deck.generated):
        for image in images_of(decode_moves(each), GOMOKU):
            originals[encode_moves(image)] = each
    return deck, originals


class Bots:
    """Two bots, and what they have played."""

    def __init__(self, case: Case, rng: Random) -> None:
        self._case, self._rng = case, rng
        self._strength = strength_of(case.truth * case.elo1)
        self._bias: dict[bytes, float] = {}
        self._first: dict[tuple[bytes, int], tuple[float, int]] = {}
        """By opening and colours: the luck of a game that was the first, and its number."""

    def play(self, number: int, opening: bytes) -> PairingResult:
        """A game, in which our bot has black where its number is odd."""
        ours, luck, game = number % 2, self._rng.random(), number
        first = self._first.setdefault((opening, ours), (luck, number))
        if first[1] < number and self._rng.random() < self._case.alike:
            luck, game = first[0], first[1] if self._case.world == "same" else number
        if opening not in self._bias:
            self._bias[opening] = self._rng.gauss(UNEVEN.advantage, UNEVEN.deviation)
        ahead = (self._strength if ours else -self._strength) + self._bias[opening]
        players = (OURS, THEIRS) if ours else (THEIRS, OURS)
        return PairingResult(number, *players, _result(luck, ahead), game)


def _result(luck: float, ahead: float) -> Result:
    """Of a game whose black is this many Elo ahead, the worst for it where luck is near 0."""
    lost, _, won = UNEVEN.game(ahead)
    if luck < lost:
        return Result.WHITE_WINS
    return Result.BLACK_WINS if luck >= 1 - won else Result.DRAW


def ends_of(games: Iterable[PairingResult], at_once: int, rng: Random) -> Iterator[PairingResult]:
    """Games in the order in which they end, where each begins when a place is free."""
    playing: list[tuple[float, PairingResult]] = []
    now = 0.0
    for game in games:
        if len(playing) == at_once:
            now, ended = heapq.heappop(playing)
            yield ended
        won = game.result is (Result.BLACK_WINS if game.black_id == OURS else Result.WHITE_WINS)
        heapq.heappush(playing, (now + rng.uniform(0.8, 1.2) * (1 if won else 5), game))
    while playing:
        yield heapq.heappop(playing)[1]


def former(case: Case, ends: Iterator[PairingResult], most_pairs: int) -> Outcome:
    """The test where each pair of new games counts in full, in the order of the ends."""
    test, games, counts = Sprt(0, case.elo1), 0, [0] * 5
    seen: set[int | None] = set()
    waiting: dict[int, int | None] = {}
    while sum(counts) < most_pairs and (block := list(islice(ends, 2 * BLOCK))):
        path, places = [], []
        for game in block:
            games += 1
            points = None if game.fingerprint in seen else _half_points(game)
            seen.add(game.fingerprint)
            pair = (game.number + 1) // 2
            other = waiting.pop(pair, -1)
            if other == -1:
                waiting[pair] = points
            elif points is not None and other is not None:
                counts[points + other] += 1
                path.append(tuple(counts))
                places.append(games)
        ratios = likelihood_ratios(test, path) if path else np.zeros(0)
        for ratio, place, found in zip(ratios, places, path, strict=True):
            if (decision := SprtDecision(test.decide(ratio))) is not SprtDecision.OPEN:
                return Outcome(decision, sum(found), sum(found), place)
    return Outcome(SprtDecision.OPEN, sum(counts), sum(counts), games)


def _half_points(game: PairingResult) -> int:
    ours = Color.BLACK if game.black_id == OURS else Color.WHITE
    return round(2 * game.result.points(ours))


def run_test(
    case: Case, openings: Sequence[bytes], ends: Iterator[PairingResult], most_pairs: int
) -> Outcome:
    """Play a test to its end, by what it is told of games as they end."""
    run = SprtRun(SprtSettings(Sprt(0, case.elo1)), OURS, GOMOKU, openings)
    told: list[int] = []
    standing = run.standing()
    while len(told) < 2 * most_pairs and standing.decision is SprtDecision.OPEN:
        block = list(islice(ends, 2 * BLOCK))
        told += [game.number for game in block]
        counted = run.add(block)
        standing = run.standing(is_live=True)
    pairs = sum(standing.pairs)
    last = counted[-1][0].last
    return Outcome(standing.decision, pairs, standing.units, told.index(last) + 1)


def play(case: Case, seed: int, most_pairs: int) -> tuple[Outcome, Outcome]:
    """A test as it is, and as it was formerly, of the same games."""
    deck, originals = deck_of(case.openings)
    dealt = list(islice(deck.deal(seed, {}), most_pairs + 2 * BLOCK))

    def ends() -> Iterator[PairingResult]:
        rng = Random(f"{case} {seed}")
        bots = Bots(case, rng)
        games = (
            bots.play(2 * pair + place, opening if case.world == "images" else originals[opening])
            for pair, opening in enumerate(dealt)
            for place in (1, 2)
        )
        return ends_of(games, case.at_once, rng)

    now = run_test(case, dealt, ends(), most_pairs)
    return now, former(case, ends(), most_pairs)


def row_of(case: Case, runs: int, most_pairs: int) -> Row:
    """Play a case's tests, in percent."""
    played = [play(case, seed, most_pairs) for seed in range(runs)]
    now, former = ([each[place] for each in played] for place in (0, 1))

    def mean(values: Iterable[float]) -> float:
        return float(np.mean(list(values)))

    def share(outcomes: Sequence[Outcome], *decisions: SprtDecision) -> float:
        return round(100 * mean(each.decision in decisions for each in outcomes), 1)

    games, before = (mean(each.games for each in outcomes) for outcomes in (now, former))
    return {
        "world": case.world,
        "alike": case.alike,
        "openings": case.openings,
        "elo1": case.elo1,
        "truth": case.truth * case.elo1,
        "at_once": case.at_once,
        "h1": share(now, SprtDecision.ELO1),
        "h0": share(now, SprtDecision.ELO0),
        "used_up": share(now, SprtDecision.NOTHING_NEW, SprtDecision.OPEN),
        "pairs": round(mean(each.pairs for each in now)),
        "units": round(mean(each.units for each in now)),
        "of_wald": round(games / wald_games(case.elo1), 2),
        "former_h1": share(former, SprtDecision.ELO1),
        "former_h0": share(former, SprtDecision.ELO0),
        "times": round(games / before, 2),
    }


def wald_games(elo1: float) -> float:
    """Those that a test of normal results takes on average, where either hypothesis is true."""
    drift = (elo1 / PER_DEVIATION) ** 2 / 2
    return 2 * (0.95 - 0.05) * math.log(19) / drift


def main() -> None:
    """Play all rows."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--worlds", nargs="+", default=["alike", "images", "same", "order"])
    parser.add_argument("--most-pairs", type=int, default=4000)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    cases = [case for case in CASES if case.world in options.worlds]
    counts = ([options.runs] * len(cases), [options.most_pairs] * len(cases))
    with pool_of(options.processes) as processes:
        rows = []
        for row in processes.map(row_of, cases, *counts):
            print(*row.values(), file=sys.stderr, flush=True)
            rows.append(row)
    report("Sequential tests by units", rows, as_json=options.json)


if __name__ == "__main__":
    main()
