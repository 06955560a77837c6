"""Finding a bot by its name or in a file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from meijin.bots import (
    BUILT_IN,
    AlphaBetaBot,
    BotLoadError,
    MctsBot,
    RandomBot,
    ReferenceBot,
    find_bot,
    load_bot,
)

ONE_BOT = """
from datetime import timedelta

from meijin.bots import Bot, RandomBot

class OwnBot(Bot):
    def __init__(self, cell: int = 7, speed: "float | None" = None, loud: bool = False,
                 greeting="hello", weights: "list[int] | None" = None,
                 limit: "timedelta | None" = None) -> None:
        if cell > 224:
            raise ValueError("the board is smaller")
        self.cell, self.speed, self.loud, self.greeting = cell, speed, loud, greeting

    def choose(self, position):
        return self.cell
"""
TWO_BOTS = """
from meijin.bots import Bot

class FirstBot(Bot):
    def choose(self, position):
        return 1

class SecondBot(FirstBot):
    pass
"""

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:

    def write_file(text: str) -> Path:
        path = tmp_path / "own.py"
        path.write_text(text)
        return path

    return write_file


def test_built_in() -> None:
    """The bots of this package have short names, and durations are given in seconds."""
    kinds = (RandomBot, ReferenceBot, AlphaBetaBot, MctsBot)
    assert dict(zip(("random", "reference", "alphabeta", "mcts"), kinds, strict=True)) == BUILT_IN
    for name, kind in BUILT_IN.items():
        assert type(load_bot(name)) is kind
        assert kind.name == name
    told = load_bot("alphabeta", ["time_limit=0.5", "depth=3"]).configuration
    assert told == {"time_limit": str(timedelta(seconds=0.5)), "depth": "3"}
    assert load_bot("random", ["seed=4"]).configuration == {"seed": "4"}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("randm", 'did you mean "random"?'),
        ("zzz", "there are random, reference, alphabeta, mcts."),
    ],
)
def test_unknown_name(name: str, hint: str) -> None:
    """A wrong name is answered with the right one, in whole sentences."""
    with pytest.raises(BotLoadError) as raised:
        load_bot(name)
    whole = f'no bot "{name}"; {hint} A bot of your own is given as a .py file'
    assert str(raised.value) == whole


def test_file(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only bot of a file needs no name, and imported ones don't count.

    The file is found without its folder, and may import what lies beside it.
    """
    (tmp_path / "its_weights.py").write_text("CELL = 5")
    source = ONE_BOT.replace("cell: int = 7", "cell: int = its_weights.CELL")
    path = write(f"import its_weights\n{source}")
    bot = load_bot(str(path))
    assert (bot.name, vars(bot)["cell"]) == ("own-bot", 5)
    monkeypatch.chdir(tmp_path)
    assert load_bot("own.py:OwnBot").name == "own-bot"


@pytest.mark.parametrize(
    ("text", "suffix", "message"),
    [
        (TWO_BOTS, "", r'holds FirstBot, SecondBot; say which one, as in "own.py:FirstBot"'),
        (TWO_BOTS, ":ThirdBot", "no bot ThirdBot in .*; it holds FirstBot, SecondBot"),
        ("x = 1", "", "no subclass of Bot in"),
        ("x = 1 +", "", "own.py fails: SyntaxError: .*line 1"),
        ("import nothing_at_all", "", "own.py fails: ModuleNotFoundError"),
    ],
)
def test_file_without_the_bot(write: Write, text: str, suffix: str, message: str) -> None:
    """What is wrong with a file is said in one line."""
    with pytest.raises(BotLoadError, match=message):
        find_bot(f"{write(text)}{suffix}")


def test_files_that_may_have_been_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the folder, by its name without the ending or misspelt."""
    (tmp_path / "neighbour.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BotLoadError, match=r'did you mean the file "neighbour\.py"'):
        find_bot("neighbour")
    with pytest.raises(BotLoadError, match=r"no file nowhere\.py"):
        load_bot("nowhere.py:Bot")
    for misspelt in ("neighbor", "neighbor.py"):
        with pytest.raises(BotLoadError, match=r'did you mean "neighbour\.py"'):
            find_bot(misspelt)


def test_options(write: Write) -> None:
    """Options become what the constructor's annotations say."""
    bot = load_bot(str(write(ONE_BOT)), ["cell=9", "speed=0.5", "loud=yes", "greeting=a=b"])
    assert vars(bot) == {"cell": 9, "speed": 0.5, "loud": True, "greeting": "a=b"}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("cell", '"cell" is no option; write it as name=value'),
        ("cells=9", 'own-bot has no option "cells"; its options are cell, speed'),
        ("cell=x", '"x" is no int, as cell has to be'),
        ("speed=fast", '"fast" is no float, as speed has to be'),
        ("loud=maybe", '"maybe" is no bool, as loud has to be'),
        ("limit=soon", '"soon" is no number of seconds, as limit has to be'),
        ("limit=inf", '"inf" is no number of seconds, as limit has to be'),
        ("weights=1", "weights can't be given as a text"),
        ("cell=225", "the board is smaller"),
    ],
)
def test_wrong_option(write: Write, option: str, message: str) -> None:
    """A wrong option is answered with what it has to be."""
    with pytest.raises(BotLoadError, match=message):
        load_bot(str(write(ONE_BOT)), [option])


def test_options_of_other_bots(write: Write) -> None:
    """A bot that has no options says so; one without a default has to be given."""
    with pytest.raises(BotLoadError, match='has no option "a"; it has none'):
        load_bot(f"{write(TWO_BOTS)}:FirstBot", ["a=1"])
    path = write(ONE_BOT.replace("cell: int = 7", "cell: int").replace("speed:", "*, speed:"))
    with pytest.raises(BotLoadError, match="'cell'"):
        load_bot(str(path))
