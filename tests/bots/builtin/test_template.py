"""The file that a new author starts from."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bots.conftest import play

from meijin.bots import Bot, RandomBot, bot_source, load_bot


@pytest.mark.parametrize(
    ("name", "class_name"),
    [
        ("mine", "Mine"),
        ("my-first_bot.v2", "MyFirstBotV2"),
        ("9dan", "My9dan"),
        ("bot", "MyBot"),
        ("none", "MyNone"),
        ("---", "MyBot"),
        ("GoBang", "GoBang"),
    ],
)
def test_every_name_makes_a_bot(name: str, class_name: str, tmp_path: Path) -> None:
    """The file holds one bot of that name, whatever characters are in it."""
    path = tmp_path / "own.py"
    path.write_text(bot_source(name))
    bot = load_bot(str(path))
    assert bot.name == name
    assert type(bot).__name__ == class_name


def test_source_is_short() -> None:
    """A new author has little to read."""
    lines = [line for line in bot_source("mine").splitlines() if line.strip()]
    assert 12 <= len(lines) <= 25
    assert all(len(line) <= 100 for line in lines)


def test_new_bot_plays(tmp_path: Path) -> None:
    """It plays whole games, with either colour, without an illegal move."""
    path = tmp_path / "own.py"
    path.write_text(bot_source("mine"))
    bot: Bot = load_bot(str(path))
    assert play(bot, RandomBot(1)).is_over
    assert play(RandomBot(1), bot).is_over


def test_impossible_name() -> None:
    """A name that no server takes makes no file."""
    with pytest.raises(ValueError, match="1 to 40 letters"):
        bot_source('x"; import os')
