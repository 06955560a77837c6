"""Storms of connections, and bots that keep time themselves."""

from __future__ import annotations

import socket

import pytest
from connection_storm import KINDS, storm
from innocents import Innocents, Turn

from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

COUNT = 20


@pytest.mark.parametrize("kind", KINDS)
def test_a_storm_opens_what_it_is_told_to(kind: str) -> None:
    """The system takes them, though nobody accepts them."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(2 * COUNT)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        found = storm(kind, address, COUNT, seconds=0.3, sources=3)
        assert found["opened"] == COUNT
        assert found["closed"] == 0
        hosts = set()
        for _ in range(COUNT):
            accepted, (host, _) = listener.accept()
            accepted.close()
            hosts.add(host)
    assert hosts == {"127.0.0.1", "127.0.0.2", "127.0.0.3"}


def test_a_storm_hears_that_it_is_hung_up_on() -> None:
    """Connections to nobody are closed, not opened."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        found = storm("idle", address, COUNT, seconds=0.2, sources=1)
    assert (found["opened"], found["closed"]) == (0, COUNT)


@pytest.mark.parametrize(
    ("turn", "ending", "forfeits", "robbed"),
    [
        (Turn(told=0.5, read=10.0, written=10.1), game_pb2.ENDING_TIME, 1, 1),
        (Turn(told=0.5, read=10.0, written=10.6), game_pb2.ENDING_TIME, 1, 0),
        (Turn(told=0.5, read=10.0), game_pb2.ENDING_TIME, 1, 0),
        (Turn(told=0.5, read=10.0, written=10.1), game_pb2.ENDING_FIVE, 0, 0),
    ],
)
def test_who_is_robbed(
    turn: Turn, ending: game_pb2.Ending.ValueType, forfeits: int, robbed: int
) -> None:
    """Whoever lost on time and had answered within what it was told, told by both players once."""
    innocents = Innocents("nowhere:1")
    innocents._asked[1] = turn
    ended = pb.GameEnded(game=1, outcome=game_pb2.Outcome(ending=ending))
    for _ in range(2):
        innocents._judge(ended, now=11.0)
    assert len(innocents.time_forfeits) == forfeits
    assert len(innocents.robbed) == robbed
