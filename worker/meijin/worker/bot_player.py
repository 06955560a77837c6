"""Bot players: bots of the SDK, each in a process of its own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Client, Connection

from meijin.bots.sdk.answer import Choice, Failure, Unchecked
from meijin.game import Outcome, encode_moves
from meijin.game.arbiter.moment import NS_PER_SECOND
from meijin.worker.host_messages import Ask, Died, End, Ready, Started
from meijin.worker.players import GameStart, Player, PlayerError, Thought, Turn

_NS_PER_MS = 1_000_000


class BotPlayer(Player):
    """A bot of the SDK in a process of its own, forked by its host."""

    def __init__(self, name: str, path: str, options: Sequence[str]) -> None:
        self._name = name
        self._path = path
        self._options = options
        self._connection: Connection | None = None
        self._pid = 0
        self._is_thinking = False
        self._game_id = ""

    def connect(self) -> Ready:
        """Have a process of the bot; what it says of itself.

        Raises:
            PlayerError: it can't be loaded; the message says why.
        """
        connection: Connection = Client(self._path, "AF_UNIX")
        connection.send(self._options)
        told = _received(connection)
        if not isinstance(told, Ready):
            connection.close()
            words = told.message if isinstance(told, Failure) else _end(told)
            raise PlayerError(f"{self._name} can't be loaded: {words}")
        self._connection, self._pid = connection, told.pid
        return told

    def get_ready(self, game: GameStart) -> None:
        if self._connection is None:
            self.connect()
        self._game_id = game.game_id
        if not self._begins(game):  # it has ended since its last game
            self._drop()
            self.connect()
            if not self._begins(game):
                self._drop()
                raise PlayerError(f"{self._name} ends whenever a game begins; see its log")

    def _begins(self, game: GameStart) -> bool:
        """Whether its process has begun a game, and is there."""
        connection = self._connection
        assert connection is not None
        with suppress(OSError):
            connection.send(game)
        return isinstance(_received(connection), Started)

    def think(self, turn: Turn) -> Thought:
        connection = self._connection
        assert connection is not None
        ask = Ask(
            turn.color,
            encode_moves(turn.board.moves),
            turn.own_ns // _NS_PER_MS,
            turn.opponent_ns // _NS_PER_MS,
            turn.task,
        )
        self._is_thinking = True
        asked_ns = time.monotonic_ns()
        told: object
        try:
            connection.send(ask)
            told = _received(connection) if connection.poll(turn.limit_ns / NS_PER_SECOND) else None
        except OSError:
            told = _received(connection)
        answered_ns = time.monotonic_ns()
        self._is_thinking = told is None
        if isinstance(told, Died):
            self._drop()
            told = Failure(f"its process has ended, {_end(told)}")
        return _thought(asked_ns, answered_ns, told)

    def end(self, outcome: Outcome | None) -> None:
        if self._connection is None:
            return
        if self._is_thinking:
            self._drop()
            return
        with suppress(OSError):
            self._connection.send(End(self._game_id, outcome))

    def close(self) -> None:
        self._drop()

    def _drop(self) -> None:
        """End its process, whatever it does."""
        if self._connection is not None:
            with suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)
            self._connection.close()
        self._connection, self._is_thinking = None, False


def _received(connection: Connection) -> object:
    """What its process says next, or that it has ended."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return Died(0)


def _end(told: object) -> str:
    """How a process has ended, in words."""
    status = told.status if isinstance(told, Died) else 0
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}"


def _thought(asked_ns: int, answered_ns: int, told: object) -> Thought:
    if isinstance(told, Choice):
        return Thought(asked_ns, answered_ns, told.cell, told.analysis)
    if isinstance(told, Unchecked):
        return Thought(asked_ns, answered_ns, told.cell)
    if isinstance(told, Failure):
        evidence = {"traceback": told.traceback} if told.traceback else {}
        return Thought(asked_ns, answered_ns, told, evidence=evidence)
    return Thought(asked_ns, answered_ns, told)  # type: ignore[arg-type]
