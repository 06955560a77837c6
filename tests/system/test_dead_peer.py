"""A bot that hangs is noticed, and its silence costs it the game."""

import signal

from tests.processes import Processes, eventually
from tests.system.server import NO_LADDER, Server

from meijin.game import Color, Ending, Party


def test_a_stopped_bot_is_noticed_and_forfeits(processes: Processes) -> None:
    """After keepalive and its half it counts as away, after the grace it has lost."""
    server = Server(processes, "--open", NO_LADDER, "--grace=4", MEIJIN_KEEPALIVE="PT1S")
    ada, _ = server.start_bots("ada", "grace", delay=0.05)
    server.create_tournament("ada", "grace", rounds=4, time="60/move", variant="15x15")
    eventually(lambda: len(server.books.running()) == 4)
    ada.send(signal.SIGSTOP)
    eventually(lambda: server.connected_bots() == {"grace"})
    eventually(lambda: server.books.finished() == 4)
    for game in server.books.games():
        culprit = Color.BLACK if game.black == ada.name else Color.WHITE
        assert game.ending is Ending.DISCONNECT, game.detail
        assert game.at_fault is Party.of(culprit)
        assert game.result.winner is culprit.other

    ada.send(signal.SIGCONT)
    eventually(lambda: server.connected_bots() == {"ada", "grace"})
    server.create_tournament("ada", "grace", rounds=2)
    eventually(lambda: not server.books.tournaments_running())
    assert {game.ending for game in server.books.games()[4:]} <= {Ending.FIVE, Ending.DRAW}
