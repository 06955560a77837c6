"""Bots that search with the compiled core: their compilation, and openings by their search."""

import importlib
import importlib.util
import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import numba
import pytest
from tests.bots.conftest import after

from meijin.bots import AlphaBetaBot, MctsBot, Position
from meijin.bots.builtin.compiled import COMPILING, NOTICE_INTERVAL, CompiledBot, Progress
from meijin.game import (
    OPENING_RULES,
    SWAP1,
    SWAP2,
    TIC_TAC_TOE,
    YAMAGUCHI,
    Board,
    Color,
    Offer,
    Task,
    TimeControl,
    Variant,
)
from meijin.game.position import central_cells

SOURCE = """
from meijin.bots.core.jit import int64, jit

@jit(int64(int64))
def add_one(number):
    return number + 1

@jit(int64(int64))
def add_two(number):
    return add_one(add_one(number))
"""


class TinyBot(CompiledBot):
    """A bot whose search is two functions in a file."""

    def __init__(self, source: Path) -> None:
        super().__init__()
        self._source = source

    def warm_up(self) -> None:
        """Import the file anew, as another process would."""
        spec = importlib.util.spec_from_file_location("tiny", self._source)
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))

    def choose(self, position: Position) -> int:
        raise NotImplementedError(position)


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> pytest.LogCaptureFixture:
    """What bots have said; compiled code is kept in a folder of the test's own."""
    importlib.import_module("meijin.bots.core.jit")  # sets the folder when it is first imported
    monkeypatch.setitem(vars(numba.config), "CACHE_DIR", str(tmp_path / "cache"))
    caplog.set_level(logging.INFO, "meijin.bots")
    return caplog


COMPILED = [f"{COMPILING}, once; it takes a minute, or more on a busy machine"]
COMPILED += ["compiled the search: 2 functions"]


def test_says_that_it_compiles(tmp_path: Path, said: pytest.LogCaptureFixture) -> None:
    """What is compiled already is loaded without a word, but for another installation it is new."""
    for folder, words in (("one", COMPILED), ("one", []), ("another", COMPILED)):
        source = tmp_path / folder / "tiny.py"
        if not source.exists():
            source.parent.mkdir()
            source.write_text(SOURCE)
        said.clear()
        TinyBot(source).prepare()
        assert said.messages == words


def test_says_it_again_while_it_lasts(said: pytest.LogCaptureFixture) -> None:
    """Not with every function, but as time goes by."""
    later = NOTICE_INTERVAL.total_seconds()
    times = iter((0.0, 1.0, later, later + 1))
    progress = Progress(lambda: next(times))
    for functions in range(1, 5):
        progress.begin(functions)
    progress.end()
    assert said.messages == [
        COMPILED[0],
        f"{COMPILING}: 3 functions so far",
        "compiled the search: 4 functions",
    ]


SWAPPED = Variant(opening_rule=SWAP2)
MINUTE = TimeControl.parse("60")
BOTS: list[Callable[[], CompiledBot]] = [
    lambda: AlphaBetaBot(nodes=5_000),
    lambda: MctsBot(playouts=500),
]


class Judge(CompiledBot):
    """Finds black better by as much as the cells of its stones add up to."""

    name = "judge"

    def __init__(self) -> None:
        self.times: list[timedelta] = []
        self.values: dict[tuple[int, ...], int] = {}

    def advantage(self, position: Position, board: Board, time: timedelta) -> float:
        self.times.append(time)
        assert position.board.ply <= board.ply
        value = sum(board.moves[::2]) - sum(board.moves[1::2])
        self.values[tuple(board.moves)] = abs(value)
        return value if board.side_to_move is Color.BLACK else -value


def position(names: str = "", variant: Variant = SWAPPED, game: str = "1") -> Position:
    return Position(after(names, variant), MINUTE, game_id=game)


@pytest.mark.parametrize("make", BOTS, ids=["alphabeta", "mcts"])
@pytest.mark.parametrize(
    ("names", "side"),
    [
        ("h8 a15 i8", Color.BLACK),  # two together, and white is far away
        ("a1 h8 o15", Color.WHITE),  # white has the middle and the move
    ],
)
def test_takes_the_better_side(make: Callable[[], CompiledBot], names: str, side: Color) -> None:
    """By its own search, whatever the colour of the move; and it places what is asked for."""
    assert make().choose_side(position(names), 2) is side
    cells = make().place_opening(at := position(), 3)
    assert not at.board.moves
    assert Board.from_moves(cells, SWAPPED).ply == 3


def test_the_most_balanced_candidate_is_placed() -> None:
    """Whoever it favours; and all candidates share the time of a move."""
    judge = Judge()
    cells = judge.place_opening(position(), 3)
    assert len(judge.values) == len(judge.times) == 8
    assert judge.values[tuple(cells)] == min(judge.values.values())
    assert sum(judge.times, timedelta(0)) <= timedelta(seconds=60)
    assert Judge().place_opening(position(game="2"), 3) != cells


@pytest.mark.parametrize("side", Color)
def test_a_level_position_is_the_side_to_moves(side: Color) -> None:
    """Where the search sees no difference, the move is worth something."""
    names = "a1 b1" if side is Color.BLACK else "a1 b1 b2 a2 o1"
    board = position(names).board
    judge = Judge()
    judge.advantage = lambda *_: 0.0  # type: ignore[method-assign]
    assert judge.choose_side(Position(board, MINUTE), 0) is board.side_to_move is side


@pytest.mark.parametrize("variant", [Variant(opening_rule=SWAP1), TIC_TAC_TOE, Variant(width=5)])
@pytest.mark.parametrize("stones", [1, 2, 3])
def test_any_board_has_candidates(variant: Variant, stones: int) -> None:
    """Also one stone, boards without a book, and stones beside others."""
    assert len(Judge().place_opening(position(variant=variant), stones)) == stones
    assert len(Judge().place_opening(position("a1 b1", variant), stones)) == stones


@pytest.mark.parametrize("kind", [AlphaBetaBot, MctsBot])
def test_every_opening_rule_is_claimed(kind: type[CompiledBot]) -> None:
    """By both bots that search."""
    assert kind.capabilities.opening_rules == tuple(OPENING_RULES.values())


def asked(names: str, task: Task, variant: Variant) -> Position:
    """A position in which an opening asks for something."""
    found = position(names, variant)
    found.task = task
    return found


YAMAGUCHIS = Variant(opening_rule=YAMAGUCHI)
FIFTHS = 24


def worth_to_black(cell: int, names: str) -> int:
    """Of a fifth stone, as the judge finds it."""
    moves = [*after(names, YAMAGUCHIS).moves, cell]
    return sum(moves[::2]) - sum(moves[1::2])


def test_the_best_fifths_are_offered() -> None:
    """Those that the search likes for the side that has them, in the time of a move."""
    judge = Judge()
    at = asked("h8 i9 j8 k9", Task(offers=3), YAMAGUCHIS)
    offered = list(judge.offer_cells(at, 3))
    assert len(judge.times) == FIFTHS
    assert sum(judge.times, timedelta(0)) <= timedelta(seconds=60)
    others = {moves[-1] for moves in judge.values} - set(offered)
    assert min(offered) > max(others)  # the judge likes high cells for black


def test_the_fifth_that_is_best_for_white_is_taken() -> None:
    cells = (20, 3, 200)
    at = asked("h8 i9 j8 k9", Task(1, among=cells), YAMAGUCHIS)
    assert Judge().take_offered(at, cells) == 3


@pytest.mark.parametrize("names", ["h8 i9 j8 k9", "h8 a1 j8 k9"])
def test_as_many_are_declared_as_leave_it_even(names: str) -> None:
    """The last of so many fifths is the one that is nearest to nothing."""
    judge = Judge()
    declared = judge.declare_offers(asked(names, Task(most_offers=12), YAMAGUCHIS), 12)
    worth = sorted((worth_to_black(moves[-1], names) for moves in judge.values), reverse=True)[:12]
    assert abs(worth[declared - 1]) == min(map(abs, worth))


def test_offers_are_made_where_the_worst_is_good() -> None:
    """Else a side is chosen, by whose is better."""
    task = Task(may_choose=True, offers=10)
    good = Judge().choose_side(asked("o1 b15 n1 a15", task, YAMAGUCHIS), 0)
    assert isinstance(good, Offer)
    assert len(good.cells) == 10
    assert Judge().choose_side(asked("b15 o1 a15 n1", task, YAMAGUCHIS), 0) is Color.WHITE


@pytest.mark.parametrize("stones", [1, 3])
def test_stones_lie_in_their_squares(stones: int) -> None:
    """Every candidate does."""
    squares = (1, 3, 5)[:stones]
    cells = Judge().place_opening(asked("", Task(stones, squares=squares), YAMAGUCHIS), stones)
    for cell, side in zip(cells, squares, strict=True):
        assert cell in central_cells(side, YAMAGUCHIS)
