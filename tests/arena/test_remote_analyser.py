"""Positions searched by a bot of a server: in their order, as they come, and in batches."""

from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from typing import cast

import pytest

from meijin.arena.connection import Connection
from meijin.arena.errors import ArenaError
from meijin.arena.remote_analyser import BATCH, RemoteAnalyser
from meijin.game import Board
from meijin.v1 import analysis_service_pb2 as pb
from meijin.v1 import game_pb2


class Service:
    """Answers calls from the last position to the first, each with its number of stones."""

    def __init__(self, *, leaves_out: int = 0) -> None:
        self.analysis = self
        self.Evaluate = None
        self.sizes: list[int] = []
        self._leaves_out = leaves_out

    def watch(self, _: object, request: pb.EvaluateRequest) -> Iterator[pb.EvaluateResponse]:
        """As a connection does."""
        self.sizes.append(len(request.positions))
        for index in reversed(range(self._leaves_out, len(request.positions))):
            stones = len(request.positions[index].moves) // 2
            if stones == 2:
                yield pb.EvaluateResponse(position=index, failure="the bot has left")
            else:
                said = game_pb2.MoveAnalysis(score=stones)
                yield pb.EvaluateResponse(position=index, cell=9, analysis=said)


def analyser(service: Service) -> RemoteAnalyser:
    """One that asks it."""
    return RemoteAnalyser(cast("Connection", service), "ada")


def boards(counts: Sequence[int]) -> list[tuple[int, Board]]:
    """Boards with so many stones, known by their places."""
    return [(place, Board.from_moves(range(count))) for place, count in enumerate(counts)]


def test_findings_come_in_the_order_of_the_positions() -> None:
    """Whatever the order of the answers; failures among them."""
    found = list(analyser(Service()).findings(boards([0, 2, 3])))
    assert [key for key, _ in found] == [0, 1, 2]
    assert [finding.error for _, finding in found] == ["", "the bot has left", ""]
    assert [finding.best for _, finding in found] == [9, None, 9]
    assert [each.analysis and each.analysis.score for _, each in found] == [0, None, 3]


def test_calls_hold_a_batch_at_most() -> None:
    """However many positions wait."""
    service = Service()
    assert len(list(analyser(service).findings(boards([1] * 200)))) == 200
    assert sum(service.sizes) == 200
    assert max(service.sizes) <= BATCH


def test_a_program_may_ask_and_wait() -> None:
    """An answer comes before the next position is there."""
    asked: SimpleQueue[tuple[int, Board] | None] = SimpleQueue()
    found = analyser(Service()).findings(iter(asked.get, None))
    for place, board in boards([0, 1]):
        asked.put((place, board))
        assert next(found)[0] == place
    asked.put(None)
    assert list(found) == []


def test_an_error_of_the_reader_is_raised_where_it_is_read() -> None:
    """After what was found before."""

    def positions() -> Iterator[tuple[int, Board]]:
        yield from boards([0])
        raise ValueError("no position")

    found = analyser(Service()).findings(positions())
    assert next(found)[0] == 0
    with pytest.raises(ValueError, match="no position"):
        next(found)


def test_a_call_that_ends_early_is_no_answer() -> None:
    """Nothing is left out in silence."""
    found = analyser(Service(leaves_out=1)).findings(boards([0]))
    with pytest.raises(ArenaError, match="the server has told of 0 of 1 positions"):
        list(found)
