"""How strong one built-in player is against another: a match without a server.

    python benchmarks/strength.py FIRST SECOND [--games 100] [--seconds 0.5] [--variant 15x15]
                                  [--processes 2] [--json]

A player is one of

    alphabeta             the engine; `alphabeta:vcf=off,table=off` leaves parts of it out (vcf,
                          table, reductions, futility), `alphabeta:depth=4` limits it, and
                          `alphabeta:level=3` is a weaker player, 1 to 9
    guided, pure          the two forms of mcts
    reference:depth=2     the readable alpha-beta, whose depth is 2 unless said otherwise; depth 4
                          takes some seconds a move
    random

With `alphabeta:nodes=20000` or `guided:playouts=5000` a move may cost so much, however long that
takes: such a match does not depend on what else the machine does. Players without such a limit
have --seconds. The variant is written as for `meijin match`: `renju 15x15`.

Each balanced opening is played twice, with the colours reversed. Every player starts its games
anew. Rows: wins, draws and losses of FIRST; its score; Elo with a 95 % interval, from the variance
of the pairs' points (an opening's two games are not independent).
"""

import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from report import parser_of, report

from meijin.bots.builtin.alphabeta import LEVELS, STRONGEST
from meijin.bots.core.engine import Engine
from meijin.bots.core.limits import MAX_DEPTH, NO_LIMIT, Options, SearchLimits, TreeLimits
from meijin.bots.core.puct import GuidedTree
from meijin.bots.core.uct import PureTree
from meijin.bots.reference import alphabeta
from meijin.bots.reference.gomoku import NEAR, GomokuGame, by_promise
from meijin.game import GOMOKU, Board, Color, Variant
from meijin.game.openings.balanced import openings_for

ALWAYS = 1 << 30
Z_95 = 1.96
REFERENCE_DEPTH = 2
SWITCHES = ("vcf", "table", "reductions", "futility")
OPTIONS: Mapping[str, Sequence[str]] = {
    "alphabeta": ("depth", "level", "nodes", *SWITCHES),
    "guided": ("playouts",),
    "pure": ("playouts",),
    "reference": ("depth",),
    "random": (),
}
"""What may be said of each player."""

Player = Callable[[Board], int]


@dataclass(frozen=True, slots=True)
class Pair:
    """One opening, played with both colours."""

    points: tuple[float, float]
    """Of the first player, when it is black and when it is white."""


def player(spec: str, seconds: float, seed: int, variant: Variant = GOMOKU) -> Player:
    """Make a player for one game.

    Raises:
        ValueError: there is no such player, or it has no such option.
    """
    name, options = read_player(spec)
    if name == "alphabeta":
        return engine_player(options, seconds, variant)
    if name in {"guided", "pure"}:
        tree = GuidedTree(variant) if name == "guided" else PureTree(variant, seed)
        visits = options.get("playouts")
        limits = TreeLimits(visits) if visits else TreeLimits(ALWAYS, timedelta(seconds=seconds))
        return lambda board: tree.search(board.moves, limits).cell
    if name == "reference":
        depth = options.get("depth", REFERENCE_DEPTH)
        return lambda board: read_choice(board, depth)
    rng = random.Random(seed)
    return lambda board: rng.choice(board.legal_cells())


def read_choice(board: Board, depth: int) -> int:
    """What the readable alpha-beta chooses."""
    game = GomokuGame(board, maximiser=board.side_to_move, reach=NEAR)
    return alphabeta(game, depth, order=by_promise(board)).move


def engine_player(options: Mapping[str, int], seconds: float, variant: Variant) -> Player:
    """Make the engine of a level, with parts left out, or with limits."""
    switches = {key: bool(options[key]) for key in SWITCHES if key in options}
    settings = Options(**switches)
    limits = SearchLimits(
        depth=options.get("depth", MAX_DEPTH),
        nodes=options.get("nodes", NO_LIMIT),
        time=None if "nodes" in options else timedelta(seconds=seconds),
    )
    level = LEVELS.get(options.get("level", STRONGEST))
    if level is not None:
        settings = level.options()
        limits = SearchLimits(depth=level.depth, nodes=level.nodes)
    engine = Engine(variant, settings)
    return lambda board: engine.search_board(board, limits).cell


def read_player(spec: str) -> tuple[str, dict[str, int]]:
    """Take ``name:option=value,option=value`` apart; a switch is 1 or 0.

    Raises:
        ValueError: there is no such player, or it has no such option.
    """
    name, _, rest = spec.partition(":")
    if name not in OPTIONS:
        raise ValueError(f'no player "{name}"; there are {", ".join(OPTIONS)}')
    options = {}
    for option in filter(None, rest.split(",")):
        key, _, text = option.partition("=")
        if key not in OPTIONS[name]:
            known = ", ".join(OPTIONS[name]) or "none"
            raise ValueError(f'{name} has no option "{key}"; its options: {known}')
        if key in SWITCHES and text not in {"on", "off"}:
            raise ValueError(f'{key} is "on" or "off", not "{text}"')
        if key not in SWITCHES and not (text.isdecimal() and int(text)):
            raise ValueError(f'{key} is a number from 1 on, not "{text}"')
        options[key] = int(text == "on") if key in SWITCHES else int(text)
    return name, options


def play(board: Board, black: Player, white: Player) -> float:
    """Play a game to its end; the points of black."""
    while not board.is_over:
        board.play((black if board.side_to_move is Color.BLACK else white)(board))
    return 0.5 if board.winner is None else float(board.winner is Color.BLACK)


def play_pair(
    number: int, first: str, second: str, seconds: float, variant: Variant = GOMOKU
) -> Pair:
    """Play both games of a pair; its number names the opening."""
    openings = openings_for(variant)
    opening = openings[number % len(openings)]
    make = partial(player, seconds=seconds, seed=number + 1, variant=variant)
    black = play(Board.from_moves(opening, variant), make(first), make(second))
    white = 1 - play(Board.from_moves(opening, variant), make(second), make(first))
    return Pair((black, white))


def pairs(
    first: str,
    second: str,
    *,
    count: int,
    seconds: float,
    processes: int,
    variant: Variant = GOMOKU,
) -> Iterator[Pair]:
    """Play this many pairs, in the order in which they end."""
    with ProcessPoolExecutor(processes) as pool:
        running = [pool.submit(play_pair, n, first, second, seconds, variant) for n in range(count)]
        for future in as_completed(running):
            yield future.result()


def elo(score: float) -> float:
    """The difference in Elo that an expected score means; infinite for 0 and 1."""
    if score in {0.0, 1.0}:
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)


def summary(first: str, second: str, played: Sequence[Pair]) -> dict[str, str | int | float]:
    """One row for the table."""
    points = [point for pair in played for point in pair.points]
    shares = [sum(pair.points) / 2 for pair in played]
    score = statistics.mean(shares)
    error = statistics.stdev(shares) / math.sqrt(len(shares)) if len(shares) > 1 else 0.5
    low, high = (min(max(score + sign * Z_95 * error, 0.0), 1.0) for sign in (-1, 1))
    return {
        "first": first,
        "second": second,
        "wins": points.count(1.0),
        "draws": points.count(0.5),
        "losses": points.count(0.0),
        "score": round(score, 3),
        "elo": round(elo(score), 1),
        "elo_low": round(elo(low), 1),
        "elo_high": round(elo(high), 1),
    }


def main() -> None:
    """Play the match."""
    parser = parser_of(__doc__)
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--variant", default=str(GOMOKU))
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    try:
        variant = Variant.parse(options.variant)
        for spec in (options.first, options.second):
            player(spec, options.seconds, 1, variant)
    except ValueError as error:
        parser.error(str(error))
    match = pairs(
        options.first,
        options.second,
        count=max(1, options.games // 2),
        seconds=options.seconds,
        processes=options.processes,
        variant=variant,
    )
    played: list[Pair] = []
    for pair in match:
        played.append(pair)
        points = sum(sum(pair.points) for pair in played)
        print(f"{2 * len(played)} games, {points:g} points", file=sys.stderr)
    report("Match", [summary(options.first, options.second, played)], as_json=options.json)


if __name__ == "__main__":
    main()
