"""GTP: commands, vertices, times, and a whole engine."""

import sys
from pathlib import Path

import pytest
from tests.bots.bridge.conftest import cells, play_game, wrapped
from tests.bots.bridge.test_gomocup import CLOCK, TIME

from meijin.bots import RESIGN
from meijin.bots.bridge.dialogue import SILENCE, Dialogue, EngineTime, Kind, NewGame, Reply, Turn
from meijin.bots.bridge.errors import EngineRefusedError
from meijin.bots.bridge.gtp import GtpProtocol, parse_vertex, vertex
from meijin.game import Variant

ENGINE = Path(__file__).parent / "gtp_engine.py"


def hold(
    protocol: GtpProtocol, dialogue: Dialogue[object], **answers: str
) -> tuple[object, list[str]]:
    """Answer each command by its first word, with ``=`` when left out."""
    sent = []
    try:
        ask = next(dialogue)
        while True:
            (line,) = ask.lines
            sent.append(line)
            answer = answers.get(line.split()[0], "=")
            ask = dialogue.send(protocol.read(answer) if answer else SILENCE)
    except StopIteration as end:
        return end.value, sent


def begun() -> GtpProtocol:
    """A protocol whose engine has begun a game."""
    protocol = GtpProtocol({})
    hold(protocol, protocol.new_game(NewGame(Variant(), TIME)))
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
        ("= H8", Kind.OK, "H8"),
        ("=12 H8", Kind.OK, "H8"),
        ("?", Kind.ERROR, ""),
        ("? unknown command", Kind.ERROR, "unknown command"),
        ("thinking", Kind.MESSAGE, "thinking"),
    ],
)
def test_replies(line: str, kind: Kind, text: str) -> None:
    """A number may stand behind the sign; other lines are for people."""
    assert GtpProtocol({}).read(line) == Reply(kind, text)


def test_a_game() -> None:
    """The board, the moves that the engine hasn't seen, and its own."""
    protocol = GtpProtocol({"level": "3"})
    _, sent = hold(protocol, protocol.new_game(NewGame(Variant(), TIME)))
    assert sent == ["boardsize 15", "clear_board", "level 3", "time_settings 0 4 1"]
    point, sent = hold(protocol, protocol.choose(Turn([0, 1], TIME)), genmove="= H8")
    assert (point, sent) == ((7, 7), ["play black A15", "play white B15", "genmove black"])
    _, sent = hold(protocol, protocol.choose(Turn([0, 1, 112, 2], TIME)), genmove="= J9")
    assert sent == ["play white C15", "genmove black"]
    _, sent = hold(protocol, protocol.choose(Turn([5], TIME)), genmove="= A1")
    assert sent == ["clear_board", "play black F15", "genmove white"]


def test_time() -> None:
    """A clock is told of in whole seconds, before each move; never again to who has no clock."""
    protocol = GtpProtocol({})
    _, sent = hold(protocol, protocol.new_game(NewGame(Variant(), CLOCK)))
    assert sent[-1] == "time_settings 60 0 0"
    _, sent = hold(protocol, protocol.choose(Turn([], CLOCK)), genmove="= H8", time_left="? no")
    assert sent == ["time_left black 59 0", "genmove black"]
    _, sent = hold(protocol, protocol.choose(Turn([112, 0], CLOCK)), genmove="= J8")
    assert "time_left black 59 0" not in sent
    fast = EngineTime(turn_ms=40, match_ms=0, left_ms=None)
    _, sent = hold(protocol := GtpProtocol({}), protocol.new_game(NewGame(Variant(), fast)))
    assert sent[-1] == "time_settings 0 1 1"


def test_resignation() -> None:
    """An engine may resign."""
    protocol = begun()
    assert hold(protocol, protocol.choose(Turn([], TIME)), genmove="= resign")[0] is RESIGN


@pytest.mark.parametrize(
    ("answer", "words"),
    [("= pass", "genmove with = pass"), ("? illegal", r"genmove with \? illegal"), ("", "answer")],
)
def test_move_that_is_none(answer: str, words: str) -> None:
    """A pass is no move of Gomoku."""
    protocol = begun()
    with pytest.raises(EngineRefusedError, match=words):
        hold(protocol, protocol.choose(Turn([], TIME)), genmove=answer)


def test_boards() -> None:
    """A size that the engine lacks, and boards that are not square."""
    protocol = GtpProtocol({})
    with pytest.raises(EngineRefusedError, match=r"boardsize 15 with \? unacceptable size"):
        hold(protocol, protocol.start(Variant()), boardsize="? unacceptable size")
    with pytest.raises(EngineRefusedError, match="GTP has no boards of 9x15"):
        hold(protocol, protocol.start(Variant(width=9)))


@pytest.mark.usefixtures("family")
def test_engine() -> None:
    """A whole engine is known by its answers, and plays."""
    command = [sys.executable, "-S", "-E", str(ENGINE)]
    bot = wrapped(command, protocol=None, sizes=None)
    bot.prepare()
    assert (bot.version, bot.capabilities.min_size, bot.capabilities.max_size) == ("0.3", 9, 19)
    bot.close()
    assert cells(play_game(command, protocol="gtp")) == [210, 211, 212, 213]
