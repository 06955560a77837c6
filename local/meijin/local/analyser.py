"""Analysis of positions in batches: what any bot would play, and what its search found.

Positions are read while others are searched, and findings come in the order of the positions, each
as soon as it is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import Any, TypeAlias, TypeVar

from meijin.bots import Analysis, Bot, Choice, Position
from meijin.bots.sdk.answer import Evaluated, Failure
from meijin.bots.sdk.evaluator import evaluate, has_batches, is_on_loop
from meijin.bots.sdk.searcher import run_in_thread
from meijin.game import Board, TimeControl, encode_moves
from meijin.local.connection import Connection
from meijin.local.errors import ArenaError
from meijin.v1 import analysis_service_pb2 as pb
from meijin.wire.values import analysis_from_proto, variant_to_proto

T = TypeVar("T")

AHEAD = 4
"""Positions, or batches, that wait for each thread: none idles while a file is read."""
BATCH = 64
"""The most positions that a bot with `choose_many`, or one of a server, is given at once."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a bot found in a position."""

    best: int | None
    """The cell that it would play; ``None`` where it would resign, or has failed."""
    analysis: Analysis | None
    """``None`` where it says nothing."""
    seconds: float
    """What the search took, or its share of a batch."""
    error: str = ""
    """Why there is nothing, where the bot has failed."""


Search: TypeAlias = Callable[[Sequence[Board]], Iterable[Finding]]
_Waiting: TypeAlias = "SimpleQueue[tuple[Board, Future[Finding]] | None]"
"""Positions, and where it is told what is found; ``None`` is the end."""


def _searched(
    search: Search, positions: Iterable[tuple[T, Board]], *, threads: int, batch: int
) -> Iterator[tuple[T, Finding]]:
    """What is found in each position, in their order, beside what it is known by.

    Positions are read in a thread, and searched in others, at most a batch at once.
    """
    ordered: SimpleQueue[Any] = SimpleQueue()  # keys, and where it is told what is found
    waiting: _Waiting = SimpleQueue()
    room, is_left = Semaphore(AHEAD * threads * batch), Event()

    def read() -> None:
        try:
            for key, board in positions:
                room.acquire()
                if is_left.is_set():
                    break
                found: Future[Finding] = Future()
                ordered.put((key, found))
                waiting.put((board, found))
        except BaseException as error:  # noqa: BLE001 - raised where the findings are read
            failed: Future[Finding] = Future()
            failed.set_exception(error)
            ordered.put((None, failed))
        ordered.put(None)
        waiting.put(None)

    jobs: list[Callable[[], None]] = [read, *[partial(_search, search, waiting, batch)] * threads]
    for job in jobs:
        Thread(target=job, name="analyser", daemon=True).start()
    try:
        for key, found in iter(ordered.get, None):
            yield key, found.result()
            room.release()
    finally:
        is_left.set()
        room.release()


def _search(search: Search, waiting: _Waiting, most: int) -> None:
    while batch := _next_batch(waiting, most):
        boards, told = zip(*batch, strict=True)
        try:
            for found, finding in zip(told, search(boards), strict=True):
                found.set_result(finding)
        except BaseException as error:  # noqa: BLE001 - as above
            for found in told:
                if not found.done():
                    found.set_exception(error)


def _next_batch(waiting: _Waiting, most: int) -> list[tuple[Board, Future[Finding]]]:
    """Wait for a position, and take those that are there with it; none at the end."""
    batch: list[tuple[Board, Future[Finding]]] = []
    while not batch or (len(batch) < most and not waiting.empty()):
        if (each := waiting.get()) is None:
            waiting.put(None)  # for who looks next
            break
        batch.append(each)
    return batch


class Analyser:
    """Has a bot search positions in threads; the compiled searches run side by side.

    A bot with an ``async def choose`` or with `choose_many` has one thread, and the latter is
    given all the positions that wait.
    """

    def __init__(self, bot: Bot, control: TimeControl, *, threads: int = 1) -> None:
        """Take a bot that is ready; `control` is what its clocks show at each position."""
        if threads < 1:
            raise ValueError(f"{threads} threads can't search; give 1 or more")
        self._bot = bot
        self._control = control
        self._run = asyncio.run if is_on_loop(bot) else run_in_thread
        self._threads = 1 if has_batches(bot) or is_on_loop(bot) else threads

    def findings(self, positions: Iterable[tuple[T, Board]]) -> Iterator[tuple[T, Finding]]:
        """What is found in each position, beside what it is known by.

        The games must go on: no position is over.

        Raises:
            Exception: what `positions` raised when it was read.
        """
        batch = BATCH if has_batches(self._bot) else 1
        return _searched(self._found, positions, threads=self._threads, batch=batch)

    def _found(self, boards: Sequence[Board]) -> list[Finding]:
        positions = [Position(board.copy(), self._control) for board in boards]
        return [_finding(each) for each in self._run(evaluate(self._bot, positions))]


def _finding(found: Evaluated) -> Finding:
    match found.answer:
        case Failure(message, traceback=traceback):
            text = f"the bot failed: {message}" if traceback else message
            return Finding(None, None, found.seconds, text)
        case Choice(cell, analysis):
            return Finding(cell, analysis, found.seconds)
        case answer:
            return Finding(answer if isinstance(answer, int) else None, None, found.seconds)


class RemoteAnalyser:
    """Has a bot on a server search positions, a batch of those that wait in each call."""

    def __init__(
        self, connection: Connection, bot: str, *, time: timedelta | None = None, nodes: int = 0
    ) -> None:
        """Ask the bot of that name; `time` and `nodes` limit each search.

        Without a time it is what the server says: a second, or a minute where there are nodes.
        """
        self._connection = connection
        self._bot = bot
        self._time_ms = 0 if time is None else max(time // timedelta(milliseconds=1), 1)
        self._nodes = nodes

    def findings(self, positions: Iterable[tuple[T, Board]]) -> Iterator[tuple[T, Finding]]:
        """Do as `Analyser.findings` does.

        Raises:
            ArenaError: the server has ended a call before all was told.
            grpc.RpcError: the server refuses.
            Exception: what `positions` raised when it was read.
        """
        return _searched(self._evaluated, positions, threads=1, batch=BATCH)

    def _evaluated(self, boards: Sequence[Board]) -> Iterator[Finding]:
        """What is found on each board; what comes before its turn waits."""
        found: dict[int, Finding] = {}
        following = 0
        request = self._request(boards)
        for response in self._connection.watch(self._connection.analysis.Evaluate, request):
            found[response.position] = _remote_finding(response)
            while following in found:
                yield found.pop(following)
                following += 1
        if following < len(boards):
            raise ArenaError(f"the server has told of {following} of {len(boards)} positions")

    def _request(self, boards: Sequence[Board]) -> pb.EvaluateRequest:
        positions = [
            pb.EvaluatedPosition(
                variant=variant_to_proto(board.variant), moves=encode_moves(board.moves)
            )
            for board in boards
        ]
        return pb.EvaluateRequest(
            bot=self._bot, positions=positions, time_ms=self._time_ms, nodes=self._nodes
        )


def _remote_finding(response: pb.EvaluateResponse) -> Finding:
    seconds = response.search_time.ToTimedelta().total_seconds()
    if response.failure:
        return Finding(None, None, seconds, response.failure)
    return Finding(
        best=response.cell if response.HasField("cell") else None,
        analysis=analysis_from_proto(response.analysis) if response.HasField("analysis") else None,
        seconds=seconds,
    )
