"""Alpha-beta on the compiled core, as a bot."""

from __future__ import annotations

import importlib.util
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from meijin.bots import RESIGN, AlphaBetaBot, Choice, MissingExtraError, Position, load_bot
from meijin.bots.builtin.alphabeta import LEVELS
from meijin.game import (
    FREESTYLE,
    GOMOKU,
    STANDARD,
    Board,
    Rule,
    TimeControl,
    Variant,
    parse_cell,
)

if TYPE_CHECKING:
    from tests.bots.conftest import Duel

WIN = 30_000


def cells(names: str, variant: Variant = GOMOKU) -> list[int]:
    """The cells called so."""
    return [parse_cell(name, variant) for name in names.split()]


def after(names: str, variant: Variant = GOMOKU) -> Board:
    """The board after these moves, black's first."""
    return Board.from_moves(cells(names, variant), variant)


def choose(board: Board, bot: AlphaBetaBot | None = None, control: str = "60") -> Choice:
    """What a bot chooses; by default a small one."""
    choice = (bot or AlphaBetaBot(depth=2)).choose(Position(board, TimeControl.parse(control)))
    assert isinstance(choice, Choice)
    return choice


def test_begins_in_the_centre() -> None:
    """The first stone goes to h8."""
    assert choose(Board()).cell == 112


WON = [
    "h8 a1 i8 c1 j8 e1 k8 g1",  # black has an open four
    "h8 g8 i8 a1 j8 c1 k8 e1",  # and one that is blocked at one end
    "a1 h8 c3 i9 e1 j10 g3 l12 o15",  # white has a gap to fill
]


@pytest.mark.parametrize("names", WON)
@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
def test_wins_at_once(names: str, rule: Rule) -> None:
    """A side that can make five does so, with the smallest search there is."""
    board = after(names, Variant(rule=rule))
    side = board.side_to_move
    choice = choose(board, AlphaBetaBot(nodes=1))
    board.play(choice.cell)
    assert board.winner is side
    assert choice.analysis is not None
    assert choice.analysis.score == WIN - 1


def test_overline_is_no_win() -> None:
    """Under the standard rule a sixth stone wins nothing, and five is made elsewhere."""
    names = "a8 a1 b8 c1 c8 e1 e8 g1 f8 i1 a12 k1 b12 m1 c12 o1 d12 a15"
    assert choose(after(names)).cell in cells("d8 e12")
    assert choose(after(names, Variant(rule=STANDARD))).cell == cells("e12")[0]


@pytest.mark.parametrize("level", [*LEVELS, 10])
def test_blocks_a_four(level: int) -> None:
    """A four is stopped at every level, whatever else there is to do."""
    board = after("h8 h7 i8 i7 j8 j7 a1 k7")
    bot = AlphaBetaBot(level=level, depth=2)
    assert choose(board, bot).cell in cells("g7 l7")
    board.play(cells("g7")[0])
    board.play(cells("a2")[0])
    assert choose(board, bot).cell == cells("l7")[0]


def test_answers_an_open_three() -> None:
    """An open three would become an open four: it is stopped in time."""
    assert choose(after("h8 a1 i8 o1 j8")).cell in cells("f8 g8 k8 l8")


def test_analysis() -> None:
    """The bot tells its depth, its nodes and the line that it expects."""
    board = after("h8 i9")
    choice = choose(board, AlphaBetaBot(depth=5))
    analysis = choice.analysis
    assert analysis is not None
    assert (analysis.depth, analysis.pv[0]) == (5, choice.cell)
    assert analysis.nodes > 100
    for cell in analysis.pv:
        board.play(cell)


def test_beats_chance(duel: type[Duel]) -> None:
    """Two hundred positions a move are enough to win 20 games of 20."""
    bot = AlphaBetaBot(nodes=200)
    assert duel().points(lambda _: bot, 20) == 20


@pytest.mark.parametrize(
    "variant",
    [
        Variant(rule=STANDARD, width=22, height=22),
        Variant(width=9, height=7),
        Variant(width=10, height=22),
    ],
)
def test_beats_chance_elsewhere(duel: type[Duel], variant: Variant) -> None:
    """It plays on other boards, and by the other rule."""
    bot = AlphaBetaBot(nodes=500)
    assert duel(variant).points(lambda _: bot, 4) == 4


def test_draws_with_itself_on_the_smallest_board(duel: type[Duel]) -> None:
    """On 5x5 nobody can win who is answered."""
    bot = AlphaBetaBot(nodes=2000)
    assert duel(Variant(width=5, height=5)).play(bot, bot).is_draw


@pytest.mark.parametrize("level", [1, 3])
def test_weak_levels_beat_chance(duel: type[Duel], level: int) -> None:
    """The weakest player still knows what it is about."""
    bot = AlphaBetaBot(level=level)
    assert duel().points(lambda _: bot, 4) == 4


def test_levels(duel: type[Duel]) -> None:
    """A high level wins both games against a low one."""
    strong, weak = AlphaBetaBot(level=7), AlphaBetaBot(level=2)
    room = duel()
    assert room.play(strong, weak).winner == 1
    assert room.play(weak, strong).winner == 2


@pytest.mark.parametrize("seconds", [0.05, 0.3])
def test_time_limit(seconds: float) -> None:
    """The search ends when its time is up; the bound is for busy machines."""
    bot = AlphaBetaBot(time_limit=timedelta(seconds=seconds))
    bot.prepare()
    start = time.monotonic()
    choose(after("h8 i9 j10"), bot)
    assert time.monotonic() - start < seconds + 0.5


def test_node_limit() -> None:
    """The search visits no more positions than it may; the same limit, the same choice."""
    board = after("h8 i9 j10")
    first, second = (choose(board, AlphaBetaBot(nodes=5000)) for _ in range(2))
    assert first == second
    assert first.analysis is not None
    assert first.analysis.nodes <= 5000 + 200  # what one look for fours may take


LOST = "h8 g8 i8 a1 j8 c1 k8 l8 a15 h7 o1 i7 o15 j7 c15"
"""White has an open three and is to move; black's four is stopped."""


def test_resigns_only_when_asked_to() -> None:
    """A lost game is played on, unless the bot was told to resign."""
    board = after(LOST + " k7")
    position = Position(board, TimeControl.parse("60"))
    assert isinstance(AlphaBetaBot(depth=4).choose(position), Choice)
    assert AlphaBetaBot(depth=4, resign=True).choose(position) is RESIGN
    even = Position(after("h8 i9"), TimeControl.parse("60"))
    assert isinstance(AlphaBetaBot(depth=4, resign=True).choose(even), Choice)


def test_set_up_position() -> None:
    """It plays on from stones whose order nobody knows."""
    rows = ["." * 15] * 15
    rows[7] = "...xxxx........"
    rows[9] = "...oo.........."
    board = Board.parse("\n".join(rows))
    assert not board.moves
    assert board.side_to_move == 2
    assert choose(board).cell in (7 * 15 + 2, 7 * 15 + 7)


def test_configuration() -> None:
    """Its options are part of the version that is rated."""
    bot = AlphaBetaBot(time_limit=timedelta(seconds=0.5), depth=4)
    assert bot.configuration == {"time_limit": "0:00:00.500000", "depth": "4"}
    assert AlphaBetaBot().configuration == {}
    assert load_bot("alphabeta", ["level=3", "resign=yes"]).configuration == {
        "level": "3",
        "resign": "True",
    }
    assert bot.digest != AlphaBetaBot().digest


def test_level_out_of_range() -> None:
    """A wrong level is answered with the range."""
    with pytest.raises(ValueError, match="level 11 is out of range: 1 to 10"):
        AlphaBetaBot(level=11)


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without numba the bot says what to install."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"needs numba; pip install 'meijin\[bots\]'"):
        load_bot("alphabeta")


LIMITS = [{"nodes": 300}, {"depth": 3}]


@pytest.mark.parametrize("limits", LIMITS, ids=["nodes", "depth"])
def test_a_limited_search_repeats_its_games(limits: dict[str, int]) -> None:
    """Whatever it has searched in games before; within a game it remembers."""
    names = "h8 i9 g7 i7 g9"
    fresh, used = AlphaBetaBot(**limits), AlphaBetaBot(**limits)  # type: ignore[arg-type]  # ints
    for game_id, bots in (("1", (used,)), ("2", (fresh, used))):
        found = [[searched(bot, game_id, names[:end]) for end in (8, 14)] for bot in bots]
        assert found[0] == found[-1]


def searched(bot: AlphaBetaBot, game_id: str, names: str) -> Choice:
    """What a bot chooses in a game."""
    choice = bot.choose(Position(after(names.strip()), TimeControl.parse("60"), game_id=game_id))
    assert isinstance(choice, Choice)
    return choice
