import pytest

from meijin.cli.bot.engines import _opening_rules, _protocol, _rules, _sizes
from meijin.cli.bot.options import read_option
from meijin.cli.errors import CommandError
from meijin.game import FREESTYLE, STANDARD, SWAP1, SWAP2


def test_sizes() -> None:
    assert (_sizes("15"), _sizes("10-20")) == ((15, 15), (10, 20))
    for text in ("", "big", "4", "20-10", "10-23"):
        with pytest.raises(CommandError):
            _sizes(text)


def test_rules() -> None:
    assert _rules("freestyle, standard") == [FREESTYLE, STANDARD]
    with pytest.raises(CommandError, match="the rules are"):
        _rules("chess")


def test_opening_rules() -> None:
    assert _opening_rules("swap2, swap1") == [SWAP2, SWAP1]
    assert _opening_rules("free") == []
    with pytest.raises(CommandError, match="there are swap2, swap, swap1, free"):
        _opening_rules("pro")


def test_protocols() -> None:
    assert _protocol("gtp") == "gtp"
    with pytest.raises(CommandError, match="there are gomocup, yixin, gtp"):
        _protocol("uci")


def test_options() -> None:
    assert read_option("a=b=c") == ("a", "b=c")
    for text in ("a", "=b", "a=b\nEND"):
        with pytest.raises(CommandError):
            read_option(text)
