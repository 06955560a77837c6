"""Peers that hang: they are noticed, and only a bot's own silence costs it the game."""

import signal
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.system.processes import BOTS, NO_LADDER, Processes, Server, eventually

from meijin.game import Color, Ending, Party
from meijin.store.games import decode_times
from meijin.store.schema import GameState

if TYPE_CHECKING:
    from tests.system.conftest import Books

STOPPED = 3.0
"""Seconds that the server stands still."""


def test_a_stopped_bot_is_noticed_and_forfeits(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """After keepalive and its half it counts as away, after the grace it has lost."""
    server = Server(processes, "--open", NO_LADDER, "--grace=4", MEIJIN_KEEPALIVE="PT1S")
    books = open_books(server.database_url)
    ada, _ = server.start_bots("ada", "grace", delay=0.05)
    server.create_tournament("ada", "grace", rounds=4, time="60/move", variant="15x15")
    eventually(lambda: len(books.running()) == 4)
    ada.send(signal.SIGSTOP)
    eventually(lambda: server.connected_bots() == {"grace"}, patience=5)
    assert books.finished() == 0, "the grace has not run out"
    eventually(lambda: books.finished() == 4, patience=10)
    for game in books.games():
        culprit = Color.BLACK if game.black == ada.name else Color.WHITE
        assert game.ending is Ending.DISCONNECT, game.detail
        assert game.at_fault is Party.of(culprit)
        assert game.result.winner is culprit.other

    ada.send(signal.SIGCONT)
    eventually(lambda: server.connected_bots() == {"ada", "grace"})
    server.create_tournament("ada", "grace", rounds=2)
    eventually(lambda: not books.tournaments_running())
    assert {game.ending for game in books.games()[4:]} <= {Ending.FIVE, Ending.DRAW}


def test_a_stopped_server_costs_nobody_time(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """It stands still for longer than a move may take, and no clock is charged for that."""
    server = Server(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    server.start_bots(*BOTS, delay=0.05)
    server.create_tournament(*BOTS, rounds=2, time="2/move")
    eventually(lambda: len(books.running()) == 6)
    journals = [processes.journal(name) for name in BOTS]  # a turn counts once it was requested
    eventually(lambda: all(journal.exists() and journal.read_text() for journal in journals))
    server.process.send(signal.SIGSTOP)
    time.sleep(STOPPED)
    server.process.send(signal.SIGCONT)
    eventually(lambda: not books.tournaments_running())
    books.assert_each_planned_game_was_played_once(6)
    times = [decode_times(game.times) for game in books.games(GameState.FINISHED)]
    longest = max(max(raw) for raw, _ in times)
    dearest = max(max(charged) for _, charged in times)
    assert timedelta(microseconds=longest // 1000) >= timedelta(seconds=STOPPED - 0.5)
    assert timedelta(microseconds=dearest // 1000) <= timedelta(seconds=2)
