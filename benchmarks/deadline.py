"""How late the answer of `alphabeta` comes, beyond the time that it was given.

    python benchmarks/deadline.py [--searches 100] [--limits 50,200,500] [--json]

Half of the positions are balanced openings, half are what the engine makes of them in ten more
plies. The bot has a clock of which a twentieth, its share for one move, is the limit.

player      the engine, or the bot `alphabeta` on a clock
limit_ms    of one search
searches    that ran until their time was up
early       that ended before, with a proof
median_ms   beyond the limit, by the clock; as are
p99_ms      the 99th percentile
worst_ms    and the worst
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import cycle, islice

from report import parser_of, report

from meijin.bots import AlphaBetaBot, Position
from meijin.bots.core.engine import Engine
from meijin.bots.core.limits import SearchLimits
from meijin.bots.sdk.position import MOVES_TO_GO
from meijin.game import GOMOKU, Board, TimeControl
from meijin.game.openings.balanced import openings_for

MIDGAME_PLIES = 10
MIDGAME_NODES = 2_000

Row = dict[str, str | int | float]
Search = Callable[[Board, timedelta], None]
"""Looks for a move for so long."""


def positions(count: int) -> list[Board]:
    """Openings and middle games in turn; fewer than `count` are repeated."""
    engine = Engine(GOMOKU)
    boards = []
    for opening in openings_for(GOMOKU)[: (count + 1) // 2]:
        boards.append(Board.from_moves(opening))
        board = boards[-1].copy()
        for _ in range(MIDGAME_PLIES):
            board.play(engine.search_board(board, SearchLimits(nodes=MIDGAME_NODES)).cell)
            if board.is_over:
                board.undo()
                break
        boards.append(board)
    return list(islice(cycle(boards), count))


def engine_search() -> Search:
    """The engine, asked directly."""
    engine = Engine(GOMOKU)
    engine.warm_up()

    def search(board: Board, limit: timedelta) -> None:
        engine.search_board(board, SearchLimits(time=limit))

    return search


def bot_search() -> Search:
    """The bot, asked as the SDK asks it."""
    bot = AlphaBetaBot()
    bot.prepare()

    def search(board: Board, limit: timedelta) -> None:
        bot.choose(Position(board, TimeControl(limit * MOVES_TO_GO)))

    return search


def row(player: str, search: Search, boards: Sequence[Board], limit: timedelta) -> Row:
    """Search every position."""
    over = []
    for board in boards:
        start = time.perf_counter()
        search(board, limit)
        over.append(1000 * (time.perf_counter() - start - limit.total_seconds()))
    return {"player": player, "limit_ms": round(1000 * limit.total_seconds()), **summary(over)}


def summary(over: Sequence[float]) -> Row:
    """What milliseconds beyond the limit come to; those below it ended early."""
    late = sorted(each for each in over if each >= 0)
    counted: Row = {"searches": len(late), "early": len(over) - len(late)}
    if len(late) < 2:
        return counted | dict.fromkeys(("median_ms", "p99_ms", "worst_ms"), "")
    return counted | {
        "median_ms": round(statistics.median(late), 2),
        "p99_ms": round(statistics.quantiles(late, n=100, method="inclusive")[98], 2),
        "worst_ms": round(late[-1], 2),
    }


def rows(boards: Sequence[Board], limits: Sequence[timedelta]) -> Iterator[Row]:
    """One row for each limit, first of the engine, then of the bot."""
    for player, search in (("engine", engine_search()), ("bot", bot_search())):
        for limit in limits:
            yield row(player, search, boards, limit)


def main() -> None:
    """Search with every limit."""
    parser = parser_of(__doc__)
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--limits", default="50,200,500", help="milliseconds")
    options = parser.parse_args()
    limits = [timedelta(milliseconds=float(each)) for each in options.limits.split(",")]
    made = list(rows(positions(options.searches), limits))
    report("Beyond the deadline", made, as_json=options.json)


if __name__ == "__main__":
    main()
