"""A bot that plays anywhere."""

from __future__ import annotations

from tests.bots.conftest import play

from meijin.bots import Position, RandomBot
from meijin.game import RULES, TIC_TAC_TOE, Board, TimeControl, Variant

CONTROL = TimeControl.parse("1/move")


def test_plays_every_variant_to_its_end() -> None:
    """Every move is legal, up to a full board, on all boards that it claims to play.

    In renju it never loses by a foul, which would be an error.
    """
    assert set(RandomBot.capabilities.rules) == set(RULES.values())
    for rule in RULES.values():
        for size in (3, 4, 5, 6, 15, 22):
            line = 5 if rule.needs_five else 3 if size == 3 else size
            bot = RandomBot(size)
            if line <= size:
                play(bot, bot, Variant(rule=rule, width=size, height=size, line=line))


def test_seed() -> None:
    """The same seed plays the same game, another one another."""

    def game(seed: int) -> tuple[int, ...]:
        return tuple(play(bot := RandomBot(seed), bot, TIC_TAC_TOE).moves)

    assert game(1) == game(1)
    games = {game(seed) for seed in range(20)}
    assert len(games) > 10
    assert RandomBot(1).configuration == {"seed": "1"}
    assert RandomBot().configuration == {}


def test_every_cell_is_as_likely() -> None:
    """Each of the empty cells is drawn about as often as the others."""
    board = Board.from_moves([4, 0], TIC_TAC_TOE)
    position = Position(board, CONTROL)
    bot = RandomBot(1)
    draws = [bot.choose(position) for _ in range(7_000)]
    counts = [draws.count(cell) for cell in board.legal_cells()]
    assert sum(counts) == 7_000
    assert all(850 < count < 1_150 for count in counts)


def test_last_cells() -> None:
    """The only cell that is left is found."""
    board = Board(Variant(width=21, height=22, line=22))
    for cell in range(461):
        board.play(cell)
    assert {RandomBot(seed).choose(Position(board, CONTROL)) for seed in range(5)} == {461}


async def test_choose_many() -> None:
    """It answers every position of a batch."""
    boards = [Board.from_moves(range(count), TIC_TAC_TOE) for count in range(5)]
    answers = await RandomBot(3).choose_many([Position(board, CONTROL) for board in boards])
    assert all(board.is_legal(cell) for board, cell in zip(boards, answers, strict=True))
