"""The bot that evaluates all its games at once."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from tests.examples.conftest import EXAMPLES

from meijin.bots import Bot, Position, RandomBot, find_bot
from meijin.game import GOMOKU, STANDARD, Board, TimeControl, Variant, parse_cell
from meijin.testing import run_server

CONTROL = TimeControl.parse("10/move")
VARIANTS = (
    GOMOKU,
    Variant(STANDARD, 7, 9),
    Variant(width=5, height=12),
    Variant(width=6, height=5),
)


@pytest.fixture(scope="module")
def kind() -> type[Bot]:
    """The bot's class."""
    return find_bot(str(EXAMPLES / "numpy-batch" / "numpy_bot.py"))


def scatter(variant: Variant, rng: Random) -> Position:
    """A game of random moves that goes on."""
    board = Board(variant)
    for cell in rng.sample(range(variant.cells), rng.randrange(variant.cells // 2)):
        board.play(cell)
        if board.is_over:
            board.undo()
            break
    return Position(board, CONTROL)


def best_cells(position: Position) -> set[int]:
    """The cells of the highest value, counted line by line."""
    board, own = position.board, position.color
    own_values, their_values = (1, 20, 400, 8_000, 1_000_000), (1, 10, 200, 4_000, 100_000)
    width, height = board.variant.width, board.variant.height
    values = dict.fromkeys(board.legal_cells(), 0)
    for y in range(height):
        for x in range(width):
            for dx, dy in ((1, 0), (0, 1), (1, 1), (-1, 1)):
                if not (0 <= x + 4 * dx < width and y + 4 * dy < height):
                    continue
                line = [(y + n * dy) * width + x + n * dx for n in range(5)]
                stones = [board.stone(cell) for cell in line]
                mine, theirs = stones.count(own), stones.count(own.other)
                if mine and theirs:
                    continue
                for cell in values.keys() & set(line):
                    values[cell] += own_values[mine] if mine else their_values[theirs]
    return {cell for cell, value in values.items() if value == max(values.values())}


def test_many_games_of_all_sizes_at_once(kind: type[Bot]) -> None:
    """Each game gets a cell that is best when it is looked at alone, line by line."""
    rng = Random(1)
    positions = [scatter(rng.choice(VARIANTS), rng) for _ in range(60)]
    answers: Any = kind().choose_many(positions)
    for position, answer in zip(positions, answers, strict=True):
        assert answer in best_cells(position), position.board


@pytest.mark.parametrize(
    ("moves", "expected"),
    [("h8 a1 i8 a2 j8 a4 k8 a6", {"g8", "l8"}), ("a1 h8 a3 i8 o15 j8 g8 k8", {"l8"})],
)
def test_fives(kind: type[Bot], moves: str, expected: set[str]) -> None:
    """It makes its own five, and stops the opponent's."""
    board = Board.from_moves(parse_cell(name, GOMOKU) for name in moves.split())
    (answer,) = list[Any](kind().choose_many([Position(board, CONTROL)]))  # type: ignore[arg-type]
    assert answer in {parse_cell(name, GOMOKU) for name in expected}


def test_beats_random(kind: type[Bot], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20 games on a server, which it plays in batches, it wins nearly all."""
    sizes = []
    choose_many: Any = kind.choose_many

    def count(bot: Bot, positions: Sequence[Position]) -> Sequence[int]:
        sizes.append(len(positions))
        answers: Sequence[int] = choose_many(bot, positions)
        return answers

    monkeypatch.setattr(kind, "choose_many", count)
    with run_server() as server:
        batch, random = server.add_bot(kind()), server.add_bot(RandomBot(seed=1))
        games = server.play(batch, random, games=20, time="10/move")
    assert [game.at_fault for game in games] == [None] * 20
    assert sum(game.winner == batch for game in games) >= 18
    assert max(sizes) > 1
