"""What a server makes of engines that fail: the right result, and the right cause."""

import pytest
from tests.bots.bridge.conftest import brain, wrapped

from meijin.bots import RandomBot
from meijin.game import Ending
from meijin.testing import run_server

pytestmark = pytest.mark.usefixtures("family")


def test_forfeits() -> None:
    """Each engine forfeits its game, as what it did; afterwards the server finds it at work again."""
    causes = {
        "Brain": (Ending.FIVE, ""),
        "DiesThird": (Ending.CRASH, "the engine has ended with status 7; it wrote: out of ideas"),
        "Refuses": (Ending.CRASH, "the engine answers BOARD with ERROR I don't like it"),
        "Hangs": (Ending.TIME, ""),
        "EndlessLine": (Ending.TIME, ""),
        "Occupied": (Ending.ILLEGAL, "occupied"),
        "OffBoard": (Ending.ILLEGAL, "off the 15x15 board"),
    }
    with run_server() as server:
        random = server.add_bot(RandomBot(seed=1))
        for mode, (ending, words) in causes.items():
            name = server.add_bot(wrapped(brain(mode)), name=mode)
            for game in server.play(name, random, games=2, time="0.5/move"):
                assert game.outcome.ending is ending, mode
                assert words in game.outcome.detail
                assert game.at_fault == (None if ending is Ending.FIVE else name)
