"""Analysis of positions by a bot that is connected to a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import TypeAlias, TypeVar

from meijin.arena.analyser import Finding
from meijin.arena.connection import Connection
from meijin.arena.errors import ArenaError
from meijin.game import Board, encode_moves
from meijin.v1 import analysis_service_pb2 as pb
from meijin.wire import analysis_from_proto, variant_to_proto

T = TypeVar("T")

BATCH = 64
"""Positions of a call: as many as a bot is asked for at once, and few enough for one message."""


@dataclass(frozen=True, slots=True)
class _End:
    """There are no more positions."""

    error: BaseException | None = None
    """Why not, where reading them has failed."""


_Waiting: TypeAlias = "SimpleQueue[tuple[T, Board] | _End]"


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
        """What is found in each position, in their order, beside what it is known by.

        Raises:
            ArenaError: the server has ended a call before all was told.
            grpc.RpcError: the server refuses.
            Exception: what `positions` raised when it was read.
        """
        room, is_left = Semaphore(2 * BATCH), Event()
        waiting: _Waiting[T] = SimpleQueue()

        def feed() -> None:
            try:
                for each in positions:
                    room.acquire()
                    if is_left.is_set():
                        return
                    waiting.put(each)
                waiting.put(_End())
            except BaseException as error:  # noqa: BLE001 - raised where the findings are read
                waiting.put(_End(error))

        Thread(target=feed, name="analyser", daemon=True).start()
        try:
            end = None
            while end is None:
                batch, end = _next_batch(waiting)
                room.release(max(len(batch), 1))
                found = self._evaluated([board for _, board in batch])
                yield from zip((key for key, _ in batch), found, strict=True)
            if end.error is not None:
                raise end.error
        finally:
            is_left.set()
            room.release()

    def _evaluated(self, boards: Sequence[Board]) -> Iterator[Finding]:
        """What is found on each board; what comes before its turn waits."""
        if not boards:
            return
        found: dict[int, Finding] = {}
        following = 0
        request = self._request(boards)
        for response in self._connection.watch(self._connection.analysis.Evaluate, request):
            found[response.position] = _finding(response)
            while following in found:
                yield found.pop(following)
                following += 1
        if following < len(boards):
            raise ArenaError(f"the server has told of {following} of {len(boards)} positions")

    def _request(self, boards: Sequence[Board]) -> pb.EvaluateRequest:
        return pb.EvaluateRequest(
            bot=self._bot,
            positions=[
                pb.EvaluatedPosition(
                    variant=variant_to_proto(board.variant), moves=encode_moves(board.moves)
                )
                for board in boards
            ],
            time_ms=self._time_ms,
            nodes=self._nodes,
        )


def _next_batch(waiting: _Waiting[T]) -> tuple[list[tuple[T, Board]], _End | None]:
    """Wait for a position, and take those that are there with it, up to the end."""
    batch: list[tuple[T, Board]] = []
    while not batch or (len(batch) < BATCH and not waiting.empty()):
        each = waiting.get()
        if isinstance(each, _End):
            return batch, each
        batch.append(each)
    return batch, None


def _finding(response: pb.EvaluateResponse) -> Finding:
    seconds = response.search_time.ToTimedelta().total_seconds()
    if response.failure:
        return Finding(None, None, seconds, response.failure)
    has_analysis = response.HasField("analysis")
    return Finding(
        best=response.cell if response.HasField("cell") else None,
        analysis=analysis_from_proto(response.analysis) if has_analysis else None,
        seconds=seconds,
    )
