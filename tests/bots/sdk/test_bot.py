"""The class to subclass."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from meijin.bots import Bot, Chooser, FunctionBot, Position, RandomBot, find_bot
from meijin.bots.sdk.bot import as_bot, kebab_case
from meijin.game import Board, TimeControl

SOURCE = """
from meijin.bots import Bot

class SomeBot(Bot):
    def choose(self, position):
        return {cell}
"""


class Configured(Bot):
    """Has options."""

    def __init__(self, **options: str) -> None:
        self.options = options

    @property
    def configuration(self) -> Mapping[str, str]:
        return self.options


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("Bot9", "bot9"),
        ("MyBot", "my-bot"),
        ("MCTSBot", "mcts-bot"),
        ("AlphaBetaV2Bot", "alpha-beta-v2-bot"),
        ("snake_case", "snake-case"),
        ("_Hidden", "hidden"),
    ],
)
def test_kebab_case(class_name: str, name: str) -> None:
    """A bot is called like its class, in lower case with hyphens."""
    assert kebab_case(class_name) == name


def test_name_is_not_inherited() -> None:
    """A subclass of a built-in bot is another bot."""

    class LuckyBot(RandomBot):
        pass

    class NamedBot(RandomBot):
        name = "fortuna"

    assert LuckyBot.name == "lucky-bot"
    assert NamedBot().name == "fortuna"


def test_digest_follows_the_configuration() -> None:
    """Other options are another version, in whatever order they are given."""
    assert Configured().digest == Configured().digest
    assert Configured(depth="8").digest != Configured(depth="9").digest
    assert Configured(a="1", b="2").digest == Configured(b="2", a="1").digest
    assert len(Configured().digest) <= 64


def test_digest_follows_the_source(tmp_path: Path) -> None:
    """Another program is another version, as is one that inherits its search from another."""

    def digests(name: str, cell: int) -> tuple[str, str]:
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"base_{name}.py").write_text(SOURCE.format(cell=cell))
        source = f"import base_{name} as base\nclass Child(base.SomeBot): pass\n"
        (folder / "child.py").write_text(source)
        base, child = (find_bot(str(folder / file)) for file in (f"base_{name}.py", "child.py"))
        return base().digest, child().digest

    one, same, other = digests("one", 1), digests("same", 1), digests("other", 2)
    assert one[0] == same[0] != other[0]
    assert one[1] != other[1]


def test_digest_without_source() -> None:
    """Where there is no file, name and version tell versions apart."""
    scope: dict[str, type[Bot]] = {"Bot": Bot}
    exec("class Typed(Bot): version = '1'\nclass Newer(Bot): name, version = 'typed', '2'", scope)
    for kind in (scope["Typed"], scope["Newer"]):
        kind.__module__ = "typed_at_a_prompt"
    assert "typed_at_a_prompt" not in sys.modules
    assert scope["Typed"]().digest == scope["Typed"]().digest
    assert scope["Typed"]().digest != scope["Newer"]().digest


def test_choose_is_missing() -> None:
    """The base class says what to write."""
    with pytest.raises(NotImplementedError, match="Configured needs a choose"):
        Configured().choose(Position(Board(), TimeControl.parse("1/move")))
    with pytest.raises(NotImplementedError, match="Configured has no choose_many"):
        Configured().choose_many([])


# -- functions ----------------------------------------------------------------------


def plays_first(position: Position) -> int:
    return position.legal_cells()[0]


def plays_at(_position: Position, point: str = "a1") -> str:
    return point


def test_a_function_is_a_bot() -> None:
    """By cells, or by the names of points; a bot is one already."""
    position = Position(Board(), TimeControl.parse("1/move"))
    assert as_bot(plays_first).choose(position) == 0
    assert as_bot(plays_at).choose(position) == 210
    bot = RandomBot()
    assert as_bot(bot) is bot
    with pytest.raises(TypeError, match="give an instance of a subclass of Bot, or a function"):
        as_bot(RandomBot)  # type: ignore[arg-type]


class PlaysMore:
    """What can be called."""

    def __call__(self, _position: Position) -> str:
        return "h8"


def test_a_function_has_its_own_name() -> None:
    """One that can be a bot's; a partial's keywords are its options."""
    bots: list[Chooser] = [plays_first, lambda _: 7, PlaysMore(), partial(plays_at, point="b1")]
    assert [FunctionBot(bot).name for bot in bots] == [
        "plays-first",
        "lambda",
        "plays-more",
        "plays-at",
    ]
    assert FunctionBot(bots[3]).configuration == {"point": "b1"}
    bots[1].__name__ = "名人"
    assert FunctionBot(bots[1]).name == "function"


def test_functions_have_digests_of_their_own() -> None:
    """Of one file too, and by their options."""
    bots: list[Chooser] = [plays_first, plays_at, partial(plays_at, point="b1")]
    digests = [FunctionBot(bot).digest for bot in bots]
    assert len(set(digests)) == 3
    assert digests == [FunctionBot(bot).digest for bot in bots]
