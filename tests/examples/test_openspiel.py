"""Bots of OpenSpiel in the arena."""

from pathlib import Path
from typing import Any

import pytest
from tests.examples.conftest import EXAMPLES

from meijin.bots import BotLoadError, Position, RandomBot, load_bot
from meijin.game import TIC_TAC_TOE, Board, TimeControl, Variant
from meijin.testing import run_server

FILE = str(EXAMPLES / "openspiel" / "openspiel_bot.py")
CONTROL = TimeControl.parse("60/move")
FIRST = """
class First:
    told = []

    def __init__(self, game, player):
        self.game, self.player = game, player

    def restart_at(self, state):
        self.told.append(("start", state.history()))

    def inform_action(self, state, player, action):
        self.told.append((player, action))

    def step(self, state):
        return state.legal_actions()[0]


class Bare:
    def __init__(self, game, player):
        self.game = game

    def step(self, state):
        return state.history()[0]
"""


@pytest.fixture
def own_bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with bots that take the first cell, and a cell that is taken."""
    name = f"bots_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(FIRST)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def adapter(*options: str) -> Any:
    return load_bot(FILE, options)


def test_state_is_told_of(own_bots: str) -> None:
    """A bot is told where the game begins for it, and of the opponent's stones alone."""
    bot = adapter(f"bot={own_bots}:First")
    position = Position(Board.from_moves([7, 8], Variant(width=6, height=5)), CONTROL)
    for stones in ([], [0, 20], [1, 21]):
        for cell in stones:
            position.board.play(cell)
        assert bot.choose(position) == len(position.board.moves) // 2 - 1
    (table,) = bot._tables.values()
    assert table.bot.told == [("start", [7, 8]), (1, 20), (1, 21)]
    assert table.bot.player == 0
    assert (table.bot.game.num_distinct_actions(), table.state.history()[-1]) == (30, 2)


def test_lost_answer(own_bots: str) -> None:
    """Where the bot's stone did not arrive it is asked again, from what the server has."""
    bot = adapter(f"bot={own_bots}:First")
    position = Position(Board.from_moves([0], Variant(width=6, height=5)), CONTROL, game_id="1")
    assert [bot.choose(position), bot.choose(position)] == [1, 1]
    assert bot._tables["1"].state.history() == [0, 1]
    bot.game_ended("1", None)
    assert bot._tables == {}


def test_illegal_action(own_bots: str) -> None:
    """A cell that is taken is the bot's failure, and no move."""
    bot = adapter(f"bot={own_bots}:Bare")
    with pytest.raises(ValueError, match="plays 4, which is no legal action"):
        bot.choose(Position(Board.from_moves([4]), CONTROL))


def test_unknown_bot() -> None:
    """It is told which there are."""
    with pytest.raises(BotLoadError, match=r'no bot "none"; there is mcts, .*uniform_random'):
        adapter("bot=none")


def test_search_finds_the_win() -> None:
    """The search of OpenSpiel's own completes a row of tic-tac-toe."""
    board = Board.from_moves([0, 3, 1, 4], TIC_TAC_TOE)
    assert adapter("simulations=200").choose(Position(board, CONTROL)) == 2


def test_whole_games() -> None:
    """Two of its kinds, and one of ours, play games on boards of any size without a fault."""
    with run_server() as server:
        mcts = server.add_bot(adapter("simulations=5"), name="mcts")
        uniform = server.add_bot(adapter("bot=uniform_random"), name="uniform")
        random = server.add_bot(RandomBot(seed=1))
        matches = [(uniform, "4x3, 3 in a row"), (random, "5x8"), (uniform, "8x5")]
        for other, variant in matches:
            games = server.play(mcts, other, games=2, time="60/move", variant=variant)
            assert [game.at_fault for game in games] == [None, None]
