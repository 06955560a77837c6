"""Games of the built-in engines against themselves under every rule, each move judged.

    python benchmarks/self_play.py [--rules renju,caro] [--engines alphabeta,guided,pure]
                                   [--games 100] [--time 0.01] [--size 15] [--seed 1] [--json]

A game begins with an opening of ours, or with none on small boards, and three more moves at
random. Every move is judged by the board, which knows nothing of the search; the first that is
illegal ends the benchmark with the position.

rule        of the games
engine      on both sides
games       played to their end
black, white, draws   how they ended
moves       found by the engine, all of them legal
ms          for each, on average
worst_ms    and the worst
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from report import parser_of, report

from meijin.bots.core.engine import Engine
from meijin.bots.core.limits import SearchLimits, TreeLimits
from meijin.bots.core.puct import GuidedTree
from meijin.bots.core.uct import PureTree
from meijin.game import RULES, Board, Color, Variant, openings_for

RANDOM_MOVES = 3
MAX_VISITS = 1 << 30

Row = dict[str, str | int | float]
Player = Callable[[Board], int]
"""Finds a move."""


def alphabeta(variant: Variant, limit: timedelta) -> Player:
    """The engine of `alphabeta`."""
    engine = Engine(variant)
    engine.warm_up()
    return lambda board: engine.search_board(board, SearchLimits(time=limit)).cell


def guided(variant: Variant, limit: timedelta) -> Player:
    """That of `mcts`."""
    tree = GuidedTree(variant)
    return lambda board: tree.search(list(board.moves), TreeLimits(MAX_VISITS, limit)).cell


def pure(variant: Variant, limit: timedelta) -> Player:
    """That of `mcts` with random playouts."""
    tree = PureTree(variant)
    return lambda board: tree.search(list(board.moves), TreeLimits(MAX_VISITS, limit)).cell


ENGINES = {"alphabeta": alphabeta, "guided": guided, "pure": pure}


def start(variant: Variant, rng: random.Random) -> Board:
    """An opening and some random moves."""
    board = Board.from_moves(rng.choice(openings_for(variant)), variant)
    for _ in range(RANDOM_MOVES):
        board.play(rng.choice(board.legal_cells()))
        if board.is_over:
            board.undo()
    return board


def play(board: Board, player: Player) -> list[float]:
    """Play a game to its end, and return the milliseconds of each move."""
    spent = []
    while not board.is_over:
        before = time.perf_counter()
        cell = player(board)
        spent.append((time.perf_counter() - before) * 1e3)
        if not board.is_legal(cell):
            raise SystemExit(f"illegal: cell {cell} after {list(board.moves)} of {board!r}")
        board.play(cell)
    return spent


def row(name: str, variant: Variant, games: int, limit: timedelta, seed: int) -> Row:
    """The games of one engine under one rule."""
    player, rng = ENGINES[name](variant, limit), random.Random(seed)
    ends = dict.fromkeys((*Color, None), 0)
    spent: list[float] = []
    for _ in range(games):
        board = start(variant, rng)
        spent += play(board, player)
        ends[board.winner] += 1
    return {
        "rule": variant.rule.name,
        "engine": name,
        "games": games,
        "black": ends[Color.BLACK],
        "white": ends[Color.WHITE],
        "draws": ends[None],
        "moves": len(spent),
        "ms": round(sum(spent) / len(spent), 2),
        "worst_ms": round(max(spent), 1),
    }


def rows(
    rules: Sequence[str],
    engines: Sequence[str],
    *,
    games: int,
    limit: timedelta,
    size: int = 15,
    seed: int = 1,
) -> Iterator[Row]:
    """A row for each rule and engine."""
    for rule in rules:
        for name in engines:
            yield row(name, Variant(RULES[rule], size, size), games, limit, seed)


def main() -> None:
    """Run as a script."""
    parser = parser_of(__doc__)
    parser.add_argument("--rules", default=",".join(RULES))
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--games", type=int, default=100, help="of each engine under each rule")
    parser.add_argument("--time", type=float, default=0.01, help="seconds for a move")
    parser.add_argument("--size", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made = list(
        rows(
            options.rules.split(","),
            options.engines.split(","),
            games=options.games,
            limit=timedelta(seconds=options.time),
            size=options.size,
            seed=options.seed,
        )
    )
    report("Games against itself", made, as_json=options.json)


if __name__ == "__main__":
    main()
