"""GTP: commands, vertices, times, and a whole engine."""

import pytest
from tests.bots.bridge.conftest import CLOCK, TIME, brain, cells, hold, play_game, wrapped

from meijin.bots import RESIGN
from meijin.bots.bridge.dialogue import EngineRefusedError, EngineReply, NewGame, ReplyKind
from meijin.bots.bridge.gtp import GtpProtocol, parse_vertex, vertex
from meijin.game import Variant

START = ("=", "=", "=")


def begun(**options: str) -> GtpProtocol:
    protocol = GtpProtocol(options)
    hold(protocol, protocol.new_game(NewGame(Variant(), TIME)), *START, *("=" for _ in options))
    return protocol


def test_vertices() -> None:
    """Letters without I, rows from below; what is off the board is a point all the same."""
    variant = Variant()
    assert [vertex(cell, variant) for cell in (0, 8, 112, 224)] == ["A15", "J15", "H8", "P1"]
    for cell in range(variant.cells):
        assert parse_vertex(vertex(cell, variant).lower(), variant) == (cell % 15, cell // 15)
    assert parse_vertex("Q16", variant) == (15, -1)
    for text in ("I8", "pass", "", "H", "8H", "H123"):
        assert parse_vertex(text, variant) is None


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("=12 H8", ReplyKind.OK, "H8"),
        ("?", ReplyKind.ERROR, ""),
        ("? unknown command", ReplyKind.ERROR, "unknown command"),
        ("thinking", ReplyKind.MESSAGE, "thinking"),
    ],
)
def test_replies(line: str, kind: ReplyKind, text: str) -> None:
    """A number may stand behind the sign; other lines are for people."""
    assert GtpProtocol({}).read(line) == EngineReply(kind, text)


def test_an_option_that_is_no_command_is_found() -> None:
    protocol = begun(level="3", width="2")
    refused, sent = hold(protocol, protocol.find_refused(Variant()), "=", "? unknown command")
    assert sent == ["level 3", "width 2"]
    assert refused == {"width": "? unknown command"}


def test_a_game() -> None:
    """The board, the moves that the engine hasn't seen, and its own."""
    protocol = GtpProtocol({"level": "3"})
    _, sent = hold(protocol, protocol.new_game(NewGame(Variant(), TIME)), *START, "=")
    assert sent == ["boardsize 15", "clear_board", "level 3", "time_settings 0 4 1"]
    point, sent = hold(protocol, protocol.choose([0, 1], TIME), "=", "=", "= H8")
    assert (point, sent) == ((7, 7), ["play black A15", "play white B15", "genmove black"])
    _, sent = hold(protocol, protocol.choose([0, 1, 112, 2], TIME), "=", "= J9")
    assert sent == ["play white C15", "genmove black"]
    _, sent = hold(protocol, protocol.choose([5], TIME), "=", "=", "= A1")
    assert sent == ["clear_board", "play black F15", "genmove white"]
    assert hold(protocol, protocol.choose([5, 210], TIME), "= resign")[0] is RESIGN


def test_time() -> None:
    """A clock is told of in whole seconds, before each move; never again to who has no clock."""
    protocol = GtpProtocol({})
    _, sent = hold(protocol, protocol.new_game(NewGame(Variant(), CLOCK)), *START)
    assert sent[-1] == "time_settings 60 0 0"
    _, sent = hold(protocol, protocol.choose([], CLOCK), "? no", "= H8")
    assert sent == ["time_left black 59 0", "genmove black"]
    _, sent = hold(protocol, protocol.choose([112, 0], CLOCK), "=", "= J8")
    assert sent == ["play white A15", "genmove black"]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (["= pass"], "genmove with = pass"),
        (["? illegal"], r"genmove with \? illegal"),
        ([], "doesn't answer genmove"),
    ],
)
def test_move_that_is_none(answers: list[str], words: str) -> None:
    """A pass is no move of Gomoku."""
    protocol = begun()
    with pytest.raises(EngineRefusedError, match=words):
        hold(protocol, protocol.choose([], TIME), *answers)


def test_boards() -> None:
    """A size that the engine lacks, and boards that are not square."""
    protocol = GtpProtocol({})
    with pytest.raises(EngineRefusedError, match=r"boardsize 15 with \? unacceptable size"):
        hold(protocol, protocol.start(Variant()), "? unacceptable size")
    with pytest.raises(EngineRefusedError, match="GTP has no boards of 9x15"):
        hold(protocol, protocol.start(Variant(width=9)))


@pytest.mark.usefixtures("family")
def test_engine() -> None:
    """A whole engine is known by its answers, and plays."""
    bot = wrapped(brain("Gtp"), protocol=None, sizes=None)
    bot.prepare()
    assert (bot.version, bot.capabilities.min_size, bot.capabilities.max_size) == ("0.3", 9, 19)
    bot.close()
    assert cells(play_game(brain("Gtp"), protocol="gtp")) == [0, 1, 2, 3]
