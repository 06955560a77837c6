"""What every bot that searches can do, whichever search it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.bots.conftest import after, cells, chosen, play

from meijin.bots import (
    AlphaBetaBot,
    Analysis,
    Bot,
    Choice,
    MctsBot,
    RandomBot,
    ReferenceBot,
)
from meijin.game import RENJU, RULES, STANDARD, TIC_TAC_TOE, Board, Color, Rule, Variant

Make = Callable[[], Bot]

SMALL = Variant(width=7, height=6, line=4)
PLAYERS: dict[str, Make] = {
    "alphabeta": lambda: AlphaBetaBot(nodes=2_000),
    "guided": lambda: MctsBot(playouts=3_000),
    "pure": lambda: MctsBot("pure", seed=1, playouts=10_000),
    "readable alphabeta": lambda: ReferenceBot(depth=2),
    "readable minimax": lambda: ReferenceBot("minimax", depth=2),
    "readable uct": lambda: ReferenceBot("uct", playouts=500, seed=1),
}


def players(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("make", [PLAYERS[name] for name in names], ids=names)


def asked(make: Make, names: str) -> tuple[Board, Choice, Analysis]:
    """The board after these moves, and what a bot chooses."""
    board = after(names)
    choice = chosen(make(), board, "1")
    assert choice.analysis is not None
    return board, choice, choice.analysis


@players(*PLAYERS)
@pytest.mark.parametrize(
    "names",
    [
        "h8 a1 i8 c1 j8 e1 k8 g1",  # black has an open four
        "a1 h8 c3 i9 e1 j10 g3 l12 o15",  # white has a gap to fill
    ],
)
def test_wins_at_once(make: Make, names: str) -> None:
    """A side that can make five does so and thinks well of it, with either colour."""
    board, choice, analysis = asked(make, names)
    side = board.side_to_move
    board.play(choice.cell)
    assert board.winner is side
    assert analysis.score is not None
    assert analysis.score >= 99


@players("alphabeta", "guided", "readable alphabeta", "readable minimax", "readable uct")
def test_begins_in_the_centre(make: Make) -> None:
    """The first stone goes to h8."""
    assert asked(make, "")[1].cell in cells("h8")


@players("alphabeta", "guided", "pure", "readable alphabeta", "readable minimax")
def test_blocks_a_four(make: Make) -> None:
    """A four is stopped, whatever else there is to do."""
    assert asked(make, "h8 h7 i8 i7 j8 j7 g7 k7")[1].cell in cells("l7")


@players("alphabeta", "guided")
def test_answers_an_open_three(make: Make) -> None:
    """An open three would become an open four: it is stopped in time."""
    assert asked(make, "h8 a1 i8 o1 j8")[1].cell in cells("f8 g8 k8 l8")


@players(*PLAYERS)
def test_analysis(make: Make) -> None:
    """The line begins with the move and can be played; how much was looked at is told."""
    board, choice, analysis = asked(make, "h8 i9")
    assert analysis.pv[0] == choice.cell
    assert (analysis.nodes or 0) > 100
    assert (analysis.depth or 0) >= 1
    Board.from_moves([*board.moves, *analysis.pv])


@pytest.mark.parametrize(
    ("bot_for", "variant"),
    [
        (lambda _: AlphaBetaBot(nodes=200), Variant()),
        (lambda _: AlphaBetaBot(nodes=500), Variant(STANDARD, 22, 22)),
        (lambda _: AlphaBetaBot(nodes=500), Variant(width=9, height=7)),
        (lambda seed: MctsBot("guided", seed, playouts=60), Variant()),
        (lambda seed: MctsBot("pure", seed, playouts=2_000), Variant(width=9, height=9)),
        (lambda seed: MctsBot(seed=seed, playouts=2_000), Variant(STANDARD, 22, 22)),
        (lambda seed: MctsBot(seed=seed, playouts=2_000), Variant(width=9, height=7, line=4)),
        (lambda _: ReferenceBot("alphabeta"), SMALL),
        (lambda _: ReferenceBot("minimax"), SMALL),
        (lambda seed: ReferenceBot("uct", playouts=300, seed=seed), SMALL),
    ],
)
def test_beats_chance(bot_for: Callable[[int], Bot], variant: Variant) -> None:
    """Six games of six, with both colours."""
    for seed in range(3):
        assert play(bot_for(seed), RandomBot(seed), variant).winner is Color.BLACK
        assert play(RandomBot(seed), bot_for(seed), variant).winner is Color.WHITE


@players(*PLAYERS)
@pytest.mark.parametrize("variant", [TIC_TAC_TOE, Variant(width=5, height=5), SMALL])
def test_plays_to_the_end(make: Make, variant: Variant) -> None:
    """Games on small boards are played by the rules, up to a full board."""
    bot = make()
    if bot.name == "alphabeta" and variant.line != 5:
        pytest.skip("it plays five in a row alone")
    assert play(bot, RandomBot(1), variant).is_over


@pytest.mark.parametrize("rule", RULES.values())
@players("alphabeta", "guided", "readable alphabeta")
def test_plays_every_rule(make: Make, rule: Rule) -> None:
    """Without an illegal move; renju takes the readable playouts too long."""
    assert play(make(), RandomBot(1), Variant(rule, 7, 7)).is_over
    assert rule in make().capabilities.rules
    assert RENJU not in ReferenceBot("uct").capabilities.rules


@pytest.mark.parametrize("kind", [AlphaBetaBot, MctsBot, RandomBot, ReferenceBot])
def test_evaluates(kind: type[Bot]) -> None:
    """All of them say so."""
    assert kind().capabilities.evaluates
