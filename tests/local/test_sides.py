"""Sides of a local match, as people write them."""

import shlex
import sys
from pathlib import Path

import pytest

from meijin.bots.sdk.errors import BotLoadError
from meijin.game import RENJU, Variant
from meijin.local.match_settings import MatchSettings
from meijin.local.sides import Side, names_of, read_sides, read_words, set_own_clocks
from meijin.wire.values import time_control_from_proto


@pytest.mark.parametrize(
    ("spec", "bot", "options", "name"),
    [
        ("alphabeta", "alphabeta", {}, "alphabeta"),
        ("alphabeta:level=5", "alphabeta", {"level": "5"}, "alphabeta"),
        ("alphabeta option.level=5 name=strong", "alphabeta", {"level": "5"}, "strong"),
        ("my.bot.py", "my.bot.py", {}, "my.bot"),
        ("my.bot.py:MyBot", "my.bot.py:MyBot", {}, "my.bot"),
        ("my.bot.py:MyBot:a=1,b=x=y", "my.bot.py:MyBot", {"a": "1", "b": "x=y"}, "my.bot"),
    ],
)
def test_a_bot_is_read(  # noqa: PLR0917 - of a table
    spec: str,
    bot: str,
    options: dict[str, str],
    name: str,
    tmp_path: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its options stand behind the last colon, or as words of their own."""
    monkeypatch.chdir(str(tmp_path))
    with open("my.bot.py", "w", encoding="utf-8"):  # noqa: PTH123 - there in the current folder
        side = Side.parse(spec)
    assert (side.bot, side.options, side.own_name, side.command) == (bot, options, name, ())


def test_an_engine_is_read() -> None:
    """A command that is there, with what fastchess users say of an engine."""
    program = shlex.quote(sys.executable)
    side = Side.parse(f"{program} -c 'print(1)' name=new tc=10+0.1 option.Hash=16 memory=2")
    assert side.command == [sys.executable, "-c", "print(1)"]
    assert (side.own_name, str(side.time), side.options) == ("new", "10+0.1", {"Hash": "16"})
    assert side.memory == 2 << 20
    assert Side.parse(f"cmd='{program} -u' proto=gtp").command[1:] == ["-u"]


@pytest.mark.parametrize(
    ("mode", "text", "kind"),
    [
        (0o755, "#!/usr/bin/env python3\nprint('OK')", "engine"),
        (0o755, "#!/usr/bin/env python3\nfrom meijin.bots import Bot", "bot"),
        (0o755, "print('OK')", "bot"),
        (0o644, "#!/usr/bin/env python3\nprint('OK')", "bot"),
    ],
)
def test_an_engine_may_be_written_in_python(
    mode: int, text: str, kind: str, tmp_path: Path
) -> None:
    """A file that can be executed and doesn't know the SDK is an engine, not a bot."""
    path = tmp_path / "mine.py"
    path.write_text(text)
    path.chmod(mode)
    assert ("engine" if Side.parse(str(path)).command else "bot") == kind


def test_words_about_every_side_go_behind_its_own() -> None:
    words = read_words(["tc=5/move option.level=2", "name=all"])
    side = Side.parse("alphabeta option.level=3", words)
    assert (str(side.time), side.options, side.own_name) == ("5/move", {"level": "3"}, "all")


def test_names_say_what_differs() -> None:
    sides = [Side.parse(spec) for spec in ("alphabeta:nodes=30", "alphabeta:nodes=15", "random")]
    assert names_of(sides) == ["alphabeta:nodes=30", "alphabeta:nodes=15", "random"]
    assert names_of([Side.parse("random"), Side.parse("random")]) == ["random-1", "random-2"]


@pytest.mark.parametrize(
    ("spec", "each", "words"),
    [
        ("alphabeta:level=5,fast", (), "write it as name=value"),
        ("alphabeta level=5", (), "options are option.NAME="),
        ("alphabeta", ("level=5",), "write it as option.level=5"),
        ("name=x", (), "names no bot and no engine"),
        ("bto=random", (), '"bto=random" says nothing about a side; there are cmd=, bot='),
        (f"{sys.executable} proto=uci", (), "there are gomocup, yixin, gtp"),
        (f"{sys.executable} margin=soon", (), "is no number"),
    ],
)
def test_what_is_no_side_is_told(spec: str, each: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Side.parse(spec, each)


def test_what_is_not_there_is_told() -> None:
    for spec, words in (("alphabetta", "no bot"), ("./nowhere", "no program ./nowhere")):
        with pytest.raises(BotLoadError, match=words):
            Side.parse(spec)


def test_a_side_has_its_own_clock() -> None:
    """The other has the match's; those that were asked for otherwise stay."""
    one, other = Side.parse("random tc=5/move"), Side.parse("random")
    wanted = MatchSettings(time="60").tournament()
    set_own_clocks(wanted, [other, None])
    assert list(wanted.time_controls) == []
    set_own_clocks(wanted, [other, one])
    clocks = [str(time_control_from_proto(each)) for each in wanted.time_controls]
    assert clocks == ["60", "5/move"]
    set_own_clocks(wanted, [one, one])
    assert [str(time_control_from_proto(each)) for each in wanted.time_controls] == clocks
    with pytest.raises(ValueError, match="soon"):
        Side.parse("random tc=soon")


def test_a_name_that_is_given_twice_is_refused() -> None:
    sides = [Side.parse("random name=ada"), Side.parse("alphabeta name=ada")]
    with pytest.raises(ValueError, match='two sides have the name "ada"'):
        names_of(sides)


def test_an_engine_is_connected_with_all_that_was_said_of_it() -> None:
    """Where a side plays over the network, the command that wraps it is told the same."""
    said = "proto=gtp margin=20 memory=3 with=net.bin option.k=1"
    words = Side.parse(f"{shlex.quote(sys.executable)} -u {said}").connecting(
        "mine", "host:1", Variant(RENJU)
    )
    assert words[:2] == ["bot", "wrap"]
    wanted = {"--option=k=1", "--with=net.bin", "--protocol=gtp", "--margin=20", "--memory=3"}
    assert wanted | {"--rules=renju", "--name=mine", "--server=host:1"} <= set(words)
    assert words[-3:] == ["--", sys.executable, "-u"]
    assert Side.parse("random:seed=1").connecting("r", "host:1", Variant(RENJU)) == [
        *("bot", "run", "random", "--option=seed=1", "--name=r", "--server=host:1")
    ]


def test_sides_of_a_file(tmp_path: Path) -> None:
    """Its keys are the words, in the forms that TOML has for them."""
    path = tmp_path / "sides.toml"
    path.write_text(
        f"""
        [[side]]
        cmd = "'{sys.executable}' -u"
        name = "it's new"
        with = ["a.bin", "b.bin"]
        option.threads = 2
        [[side]]
        bot = "random"
        [side.option]
        seed = 5
        [[side]]
        bot = "random"
        "option.seed" = 6
        """
    )
    engine, one, other = read_sides(path, ["option.hash=1", "tc=1/move"])
    assert (engine.command, engine.name) == ([sys.executable, "-u"], "it's new")
    assert (engine.options, engine.files) == ({"hash": "1", "threads": "2"}, ["a.bin", "b.bin"])
    assert (one.options["seed"], other.options["seed"], str(other.time)) == ("5", "6", "1/move")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[side]\n", "sides.toml: Expected"),
        ("side = 3", "has no sides; write a table"),
        ("", "has no sides; write a table"),
        ("[[side]]\nbot='random'\n[[side]]\nname='x'", "side 2: .* names no bot and no engine"),
        ("[[side]]\nbot='random'\nnmae='x'", 'side 1: "nmae=x" says nothing about a side'),
        ("[[side]]\nbot='random'\nmargin='ten'", 'side 1: margin="ten" is no number'),
        ("[[side]]\ncmd='./nowhere'", "side 1: no program ./nowhere"),
    ],
)
def test_a_file_that_can_not_be_read_says_where(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "sides.toml"
    path.write_text(text)
    with pytest.raises((ValueError, BotLoadError), match=words):
        read_sides(path)
