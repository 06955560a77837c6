"""The bot that searches by Monte Carlo."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.bots.conftest import after, chosen, play

from meijin.bots import MctsBot
from meijin.bots.builtin.mcts import FORMS, MAX_TREES
from meijin.game import TIC_TAC_TOE, Board, Color


def test_the_tree_is_kept_between_moves() -> None:
    """The visits of the expected line count for the next move."""
    bot, board = MctsBot(playouts=2_000), after("h8 i9")
    first = chosen(bot, board, "1").analysis
    assert first is not None
    for cell in first.pv[:2]:
        board.play(cell)
    bot._playouts = 2
    kept, fresh = chosen(bot, board, "1").analysis, chosen(MctsBot(playouts=2), board).analysis
    assert kept is not None
    assert fresh is not None
    assert (kept.nodes or 0) > 10 > (fresh.nodes or 0) == 2


def test_trees_of_many_games_do_not_pile_up() -> None:
    """The games played last keep theirs, and an ended game leaves none."""
    bot = MctsBot(playouts=2)
    for game in range(MAX_TREES + 3):
        chosen(bot, Board(), str(game))
    assert list(bot._trees) == [str(game) for game in range(3, MAX_TREES + 3)]
    bot.game_ended("4", None)
    assert "4" not in bot._trees


def test_seed() -> None:
    """The same seed plays the same, another one its own games."""
    bots = (MctsBot("pure", seed, playouts=500) for seed in (5, 5, 6))
    first, same, other = (chosen(bot, after("h8 i9")) for bot in bots)
    assert first == same != other


@pytest.mark.parametrize("form", FORMS)
def test_draws_at_tic_tac_toe(form: str) -> None:
    """It sees the end of so small a game: it draws with itself."""
    for seed in range(3):
        one, other = (MctsBot(form, seed, playouts=5_000) for _ in range(2))
        assert play(one, other, TIC_TAC_TOE).winner is None


def test_patterns_beat_chance_in_the_tree() -> None:
    """With the same number of visits the guided form wins every game against the pure one."""
    guided, pure = MctsBot(playouts=400), MctsBot("pure", 1, playouts=400)
    assert play(guided, pure).winner is Color.BLACK
    assert play(pure, guided).winner is Color.WHITE


def test_configuration() -> None:
    """Form, seed and limits are part of the version that is rated; a wrong form is refused."""
    bot = MctsBot("pure", seed=3, time_limit=timedelta(seconds=2), playouts=9)
    told = {"form": "pure", "seed": "3", "time_limit": "0:00:02", "playouts": "9"}
    assert bot.configuration == told
    assert MctsBot().configuration == {}
    with pytest.raises(ValueError, match='no form "wild"; the forms are guided and pure'):
        MctsBot("wild")
