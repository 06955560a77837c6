"""Alpha-beta on the compiled core, as a bot."""

from __future__ import annotations

import importlib.util
from datetime import timedelta

import pytest
from tests.bots.conftest import after, cells, chosen, play

from meijin.bots import RESIGN, AlphaBetaBot, Choice, MissingExtraError, Position, load_bot
from meijin.bots.builtin.alphabeta import LEVELS
from meijin.game import Board, TimeControl


@pytest.mark.parametrize("level", [*LEVELS, 10])
def test_blocks_a_four(level: int) -> None:
    """A four is stopped at every level, whatever else there is to do."""
    bot = AlphaBetaBot(level=level, depth=2)
    assert chosen(bot, after("h8 h7 i8 i7 j8 j7 a1 k7")).cell in cells("g7 l7")
    assert chosen(bot, after("h8 h7 i8 i7 j8 j7 a1 k7 g7 a2")).cell == cells("l7")[0]


def test_levels() -> None:
    """A high level wins both games against a low one; another than 1 to 10 is none."""
    strong, weak = AlphaBetaBot(level=7), AlphaBetaBot(level=2)
    assert play(strong, weak).winner == 1
    assert play(weak, strong).winner == 2
    with pytest.raises(ValueError, match="level 11 is out of range: 1 to 10"):
        AlphaBetaBot(level=11)


def test_limits() -> None:
    """A search takes no longer and visits no more than it may; the same limit, the same choice."""
    bot = AlphaBetaBot(time_limit=timedelta(seconds=0.3))
    limits = bot._limits(Position(Board(), TimeControl.parse("60")))
    assert limits.time == timedelta(seconds=0.3)
    first, second = (chosen(AlphaBetaBot(nodes=5000), after("h8 i9 j10")) for _ in range(2))
    assert first == second
    assert first.analysis is not None
    assert (first.analysis.nodes or 0) <= 5000 + 200  # what one look for fours may take


LOST = "h8 g8 i8 a1 j8 c1 k8 l8 a15 h7 o1 i7 o15 j7 c15 k7"
"""White has an open four; black's is stopped."""


def test_resigns_only_when_asked_to() -> None:
    """A lost game is played on, unless the bot was told to resign."""
    lost, even = (Position(after(names), TimeControl.parse("60")) for names in (LOST, "h8 i9"))
    assert isinstance(AlphaBetaBot(depth=4).choose(lost), Choice)
    assert AlphaBetaBot(depth=4, resign=True).choose(lost) is RESIGN
    assert isinstance(AlphaBetaBot(depth=4, resign=True).choose(even), Choice)


def test_configuration() -> None:
    """Its options are part of the version that is rated."""
    bot = AlphaBetaBot(time_limit=timedelta(seconds=0.5), depth=4)
    assert bot.configuration == {"time_limit": "0:00:00.500000", "depth": "4"}
    assert AlphaBetaBot().configuration == {}
    told = load_bot("alphabeta", ["level=3", "resign=yes"]).configuration
    assert told == {"level": "3", "resign": "True"}
    assert bot.digest != AlphaBetaBot().digest


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without numba the bot says what to install."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"needs numba; pip install 'meijin\[bots\]'"):
        load_bot("alphabeta")


@pytest.mark.parametrize("limits", [{"nodes": 300}, {"depth": 3}], ids=["nodes", "depth"])
def test_a_limited_search_repeats_its_games(limits: dict[str, int]) -> None:
    """Whatever it has searched in games before; within a game it remembers."""
    fresh, used = AlphaBetaBot(**limits), AlphaBetaBot(**limits)  # type: ignore[arg-type]  # ints
    for game_id, bots in (("1", (used,)), ("2", (fresh, used))):
        found = [
            [chosen(bot, after(names), game_id) for names in ("h8 i9 g7", "h8 i9 g7 i7 g9")]
            for bot in bots
        ]
        assert found[0] == found[-1]
