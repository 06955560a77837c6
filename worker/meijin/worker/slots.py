"""Slots: processes that play one game at a time each, forked from the worker."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from typing import NoReturn

from meijin.v1.worker_service_pb2 import LeasedGame
from meijin.worker.game_loop import GameLoop
from meijin.worker.players import Player, PlayerError

MakePlayer = Callable[[str, int], Player]
"""Makes the player of a name for the slot of a number."""

PLAYED, FAILED = b"p", b"f"
"""How what a slot says begins: a record, or why it can't play."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(slots=True, eq=False)
class Slot:
    """A process, and what it plays."""

    number: int
    pid: int
    connection: Connection
    game: LeasedGame | None = None
    """``None`` while it waits for one."""

    def play(self, game: LeasedGame) -> None:
        self.game = game
        self.connection.send_bytes(game.SerializeToString())

    def end(self) -> None:
        """End it, whatever it plays; what it has started ends with it."""
        self.connection.close()
        with suppress(OSError):  # it has ended
            os.kill(self.pid, signal.SIGTERM)


def start_slot(number: int, make_player: MakePlayer, *, core: int | None = None) -> Slot:
    """Fork a slot; no other thread may run yet, nor gRPC.

    Args:
        core: The one that it keeps to, with all that it starts; any when left out.
    """
    ours, theirs = Pipe()
    parent = os.getpid()
    pid = os.fork()
    if not pid:
        ours.close()
        _run(theirs, parent, lambda name: make_player(name, number), core)
    theirs.close()
    return Slot(number, pid, ours)


def _run(
    connection: Connection,
    parent: int,
    make_player: Callable[[str], Player],
    core: int | None,
) -> NoReturn:
    """Be a slot."""
    players: dict[str, Player] = {}
    try:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            if core is not None:
                os.sched_setaffinity(0, {core})
        gc.freeze()
        while os.getppid() == parent:
            game = LeasedGame.FromString(connection.recv_bytes())
            _keep_only({game.black, game.white}, players)
            for name in (game.black, game.white):
                if name not in players:
                    players[name] = make_player(name)
            try:
                record = GameLoop(game, players).play()
            except PlayerError as error:
                connection.send_bytes(FAILED + str(error).encode())
            else:
                connection.send_bytes(PLAYED + record.SerializeToString())
    except (EOFError, OSError, SystemExit):
        pass  # nobody has games any more
    finally:
        _keep_only(set(), players)
        sys.stderr.flush()
        os._exit(0)


def _keep_only(names: set[str], players: dict[str, Player]) -> None:
    """End players that the next game doesn't need: their processes hold memory."""
    for name in players.keys() - names:
        players.pop(name).close()
