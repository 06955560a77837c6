"""Yixin's extension."""

import pytest
from tests.bots.bridge.test_gomocup import TIME, choose, hold

from meijin.bots.bridge.dialogue import NewGame
from meijin.bots.bridge.yixin import INFO_KEYS, YixinProtocol
from meijin.game import Variant


def begun(**options: str) -> YixinProtocol:
    """A protocol whose engine has begun a game."""
    protocol = YixinProtocol(options)
    hold(protocol, protocol.new_game(NewGame(Variant(), TIME)), "OK")
    return protocol


@pytest.mark.parametrize("key", ["max_depth", "max_node", "thread_num", "hash_size"])
def test_limits_are_told_of(key: str) -> None:
    """Options are INFO, as in the Gomocup protocol."""
    assert key in INFO_KEYS
    protocol = YixinProtocol({key: "7"})
    _, sent = hold(protocol, protocol.new_game(NewGame(Variant(), TIME)), "OK")
    assert sent[-1][-1] == f"INFO {key} 7"


def test_stop() -> None:
    """The move of a search that is stopped is dropped, and the next position shown whole."""
    protocol = begun()
    choose(protocol, [], "7,7")
    assert hold(protocol, protocol.stop(), "8,8")[1] == [["yxstop"]]
    assert choose(protocol, [112, 0], "9,9")[1][0] == "BOARD"


def test_position_without_a_move() -> None:
    """`yxboard` shows a position that nothing is answered to; the next move is a TURN."""
    protocol = begun()
    _, sent = hold(protocol, protocol.show([0, 16]))
    assert sent == [["yxboard", "0,0,1", "1,1,2", "DONE"]]
    assert choose(protocol, [0, 16, 32], "9,9")[1] == ["TURN 2,2"]
