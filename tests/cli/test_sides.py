"""The two sides of a match."""

import pytest

from meijin.cli.errors import CommandError
from meijin.cli.sides import Side, names_of


@pytest.mark.parametrize(
    ("spec", "bot", "options", "name"),
    [
        ("alphabeta", "alphabeta", (), "alphabeta"),
        ("alphabeta:level=5", "alphabeta", ("level=5",), "alphabeta"),
        ("bots/my.bot.py", "bots/my.bot.py", (), "my.bot"),
        ("my_bot.py:MyBot", "my_bot.py:MyBot", (), "my_bot"),
        ("my_bot.py:MyBot:a=1,b=x=y", "my_bot.py:MyBot", ("a=1", "b=x=y"), "my_bot"),
        ("C:/bots/one.py:depth=2", "C:/bots/one.py", ("depth=2",), "one"),
    ],
)
def test_a_side_is_read(spec: str, bot: str, options: tuple[str, ...], name: str) -> None:
    """Its options stand behind the last colon, and only there is a sign of equality."""
    side = Side.parse(spec)
    assert side == Side(bot, options)
    assert side.name == name
    assert str(side) == spec


def test_further_options_come_last() -> None:
    """So that they are what counts."""
    side = Side.parse("alphabeta:level=5", ["nodes=100"])
    assert side.words == ["alphabeta", "--option=level=5", "--option=nodes=100"]


@pytest.mark.parametrize("spec", ["alphabeta:level=5,fast", "alphabeta:level=5,"])
def test_an_option_has_a_value(spec: str) -> None:
    """Else it is refused."""
    with pytest.raises(CommandError, match="write it as name=value"):
        Side.parse(spec)


def test_bots_of_one_name_are_told_apart() -> None:
    """By numbers."""
    first, second = Side.parse("v1/bot.py"), Side.parse("v2/bot.py")
    assert names_of(first, second) == ("bot-1", "bot-2")
    assert names_of(first, Side.parse("random")) == ("bot", "random")
