"""The bot that searches by Monte Carlo."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from meijin.bots import Choice, MctsBot, Position
from meijin.bots.builtin.mcts import FORMS, MAX_TREES
from meijin.game import (
    FREESTYLE,
    GOMOKU,
    STANDARD,
    TIC_TAC_TOE,
    Board,
    Rule,
    TimeControl,
    Variant,
    parse_cell,
)

if TYPE_CHECKING:
    from tests.bots.conftest import Duel


def cells(names: str) -> list[int]:
    """The cells called so."""
    return [parse_cell(name, GOMOKU) for name in names.split()]


def asked(bot: MctsBot, names: str = "", rule: Rule = FREESTYLE, game: str = "1") -> Choice:
    """What the bot does after these moves, black's first."""
    board = Board.from_moves(cells(names), Variant(rule=rule))
    return bot.choose(Position(board, TimeControl.parse("60/move"), game_id=game))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
def test_wins_at_once(form: str, rule: Rule) -> None:
    """A side that can make five does so."""
    choice = asked(MctsBot(form, playouts=3_000), "h8 a1 i8 c1 j8 e1 k8 g1", rule)
    assert choice.cell in cells("g8 l8")


@pytest.mark.parametrize("form", FORMS)
def test_blocks_a_four(form: str) -> None:
    """A four is stopped, whatever else there is to do."""
    choice = asked(MctsBot(form, playouts=10_000), "h8 h7 i8 i7 j8 j7 g7 k7")
    assert choice.cell == cells("l7")[0]


def test_answers_an_open_three() -> None:
    """An open three has to be stopped."""
    choice = asked(MctsBot(playouts=200), "h8 a1 i8 o1 j8")
    assert choice.cell in cells("f8 g8 k8 l8")


def test_begins_in_the_centre() -> None:
    """The first stone goes to h8."""
    assert asked(MctsBot(playouts=10)).cell == 112


@pytest.mark.parametrize("form", FORMS)
def test_the_analysis_fits_the_move(form: str) -> None:
    """The line begins with the move and can be played; the score is a share of 100."""
    choice = asked(MctsBot(form, playouts=2_000), "h8 i9")
    assert choice.analysis is not None
    assert choice.analysis.nodes == 2_000
    assert 0 <= choice.analysis.score <= 100
    assert choice.analysis.pv[0] == choice.cell
    assert len(choice.analysis.pv) == choice.analysis.depth >= 2
    Board.from_moves([*cells("h8 i9"), *choice.analysis.pv])


def test_the_tree_is_kept_between_moves() -> None:
    """The visits of the expected line count for the next move."""
    bot = MctsBot(playouts=2_000)
    first = asked(bot, "h8 i9")
    assert first.analysis is not None
    line = "h8 i9"
    board = Board.from_moves(cells(line))
    for cell in first.analysis.pv[:2]:
        board.play(cell)
    bot._playouts = 2
    position = Position(board, TimeControl.parse("60/move"), game_id="1")
    kept = bot.choose(position).analysis
    assert kept is not None
    assert kept.nodes > 10
    fresh = MctsBot(playouts=2).choose(position).analysis
    assert fresh is not None
    assert fresh.nodes == 2


def test_trees_of_many_games_do_not_pile_up() -> None:
    """The games played last keep theirs, and an ended game leaves none."""
    bot = MctsBot(playouts=2)
    for game in range(MAX_TREES + 3):
        asked(bot, game=str(game))
    assert list(bot._trees) == [str(game) for game in range(3, MAX_TREES + 3)]
    bot.game_ended("4", None)
    assert "4" not in bot._trees


def test_seed() -> None:
    """The same seed plays the same, another one its own games."""
    first, same, other = (asked(MctsBot("pure", seed, playouts=500), "h8 i9") for seed in (5, 5, 6))
    assert first == same
    assert first != other


@pytest.mark.parametrize("form", FORMS)
def test_draws_at_tic_tac_toe(duel: type[Duel], form: str) -> None:
    """It sees the end of so small a game: it draws with itself."""
    room = duel(TIC_TAC_TOE)
    for seed in range(3):
        bots = [MctsBot(form, seed, playouts=5_000) for _ in range(2)]
        assert room.play(*bots).is_draw


@pytest.mark.parametrize(("form", "playouts"), [("guided", 60), ("pure", 3_000)])
def test_beats_chance(duel: type[Duel], form: str, playouts: int) -> None:
    """It wins 20 games of 20."""
    assert duel().points(lambda seed: MctsBot(form, seed, playouts=playouts), 20) == 20


@pytest.mark.parametrize(
    "variant",
    [
        Variant(rule=STANDARD, width=22, height=22),
        Variant(width=5, height=9),
        Variant(width=9, height=7, line=4),
    ],
)
def test_beats_chance_elsewhere(duel: type[Duel], variant: Variant) -> None:
    """It plays on other boards, by the other rule, and other lengths of line."""
    assert duel(variant).points(lambda seed: MctsBot(seed=seed, playouts=2_000), 4) >= 3.5


def test_patterns_beat_chance_in_the_tree(duel: type[Duel]) -> None:
    """With the same number of visits the guided form wins every game against the pure one."""
    room = duel()
    for seed in range(2):
        guided, pure = MctsBot(playouts=400), MctsBot("pure", seed, playouts=400)
        board = room.play(guided, pure) if seed else room.play(pure, guided)
        assert board.winner is not None
        assert (board.winner.name == "BLACK") is bool(seed)


def test_beats_chance_in_real_time(duel: type[Duel]) -> None:
    """It wins with a tenth of a second a move, and is never late."""
    assert duel(control="0.1/move").points(lambda _seed: MctsBot(), 4) == 4


def test_configuration() -> None:
    """Form, seed and limits are part of the version that is rated."""
    bot = MctsBot("pure", seed=3, time_limit=timedelta(seconds=2), playouts=9)
    assert bot.configuration == {
        "form": "pure",
        "seed": "3",
        "time_limit": "0:00:02",
        "playouts": "9",
    }
    assert MctsBot().configuration == {}


def test_a_form_that_there_is_not() -> None:
    """The message names the ones that there are."""
    with pytest.raises(ValueError, match='no form "wild"; the forms are guided and pure'):
        MctsBot("wild")
