"""Pools: slots that play whatever pairs come over a connection, with options of the moment.

For games of one bot or engine with itself, such as those of tuning, which no server needs to know.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait

from meijin.v1.worker_service_pb2 import LeasedGame, LeasedPair
from meijin.worker.players import Player
from meijin.worker.sides import Side
from meijin.worker.slots import Slot


def player_name(label: str, options: Mapping[str, str]) -> str:
    """The name in a game of who plays with these options, such as ``plus depth=3``."""
    return " ".join((label, *(f"{key}={value}" for key, value in options.items())))


def make_pool_player(sides: Mapping[str, Side], name: str, slot: int) -> Player:
    """The player of such a name, of the first side."""
    side = next(iter(sides.values()))
    _, *options = name.split()
    return side.player(slot, dict(word.split("=", 1) for word in options))


def check_options(sides: Mapping[str, Side]) -> None:
    """See that engines take the options in which the sides differ, before any game.

    Raises:
        PlayerError: one doesn't, or can't be asked.
    """
    told = [side.plan.options for side in sides.values()]
    names = [name for name in told[0] if len({options[name] for options in told}) > 1]
    for side in sides.values():
        side.check_options(names)


def serve_pool(connection: Connection, slots: Sequence[Slot]) -> None:
    """Play the pairs that come, each on one slot, until the other end is closed.

    What a slot says of a game is passed on as it is; see `slots`.
    """
    by_connection = {slot.connection: slot for slot in slots}
    waiting: deque[LeasedPair] = deque()
    seconds: dict[int, LeasedGame] = {}
    with suppress(EOFError, OSError):
        while True:
            for ready in wait([connection, *by_connection]):
                assert isinstance(ready, Connection)
                message = ready.recv_bytes()
                if ready is connection:
                    waiting.append(LeasedPair.FromString(message))
                    continue
                connection.send_bytes(message)
                slot = by_connection[ready]
                slot.game = None
                if (game := seconds.pop(slot.number, None)) is not None:
                    slot.play(game)
            for slot in slots:
                if slot.game is None and waiting:
                    first, seconds[slot.number] = waiting.popleft().games
                    slot.play(first)
    for slot in slots:
        slot.end()
