"""Positions searched here or by a bot of a server: in order, as they come, whatever the bot does."""

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import TypeAlias, cast

import pytest

from meijin.bots import RESIGN, Analysis, Bot, Choice, Position
from meijin.game import Board, TimeControl
from meijin.local.analyser import BATCH, Analyser, Finding, RemoteAnalyser
from meijin.local.connection import Connection
from meijin.local.errors import ArenaError
from meijin.v1 import analysis_service_pb2 as pb
from meijin.v1 import game_pb2

CONTROL = TimeControl.parse("2/move")
PATIENCE = 30


class First(Bot):
    """Plays the first free cell, and tells its clock as its score."""

    def choose(self, position: Position) -> Choice:
        cell = position.legal_cells()[0]
        return Choice(cell, Analysis(score=position.move_ms, depth=len(position.board.moves)))


class Meeting(First):
    """Waits at its first two positions until another thread searches too."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(2)

    def choose(self, position: Position) -> Choice:
        if position.board.ply < 2:
            self.barrier.wait(PATIENCE)
        return super().choose(position)


class Slow(First):
    """Is ``async``."""

    async def choose(self, position: Position) -> Choice:  # type: ignore[override]
        return super().choose(position)


class Batches(Bot):
    """Notes how many positions it is given at once."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
        self.sizes.append(len(positions))
        return [position.legal_cells()[0] for position in positions]


class Moody(Bot):
    """Gives up, fails, answers nonsense, and answers."""

    def choose(self, position: Position) -> object:  # type: ignore[override]
        if position.board.ply == 1:
            raise RuntimeError("no idea")
        return [RESIGN, 0, 225, None, 5][position.board.ply]


class Service:
    """A server that answers each call from the last position to the first."""

    def __init__(self, *, leaves_out: int = 0) -> None:
        self.analysis = self
        self.Evaluate = None
        self.sizes: list[int] = []
        self._leaves_out = leaves_out

    def watch(self, _: object, request: pb.EvaluateRequest) -> Iterator[pb.EvaluateResponse]:
        self.sizes.append(len(request.positions))
        for index in reversed(range(self._leaves_out, len(request.positions))):
            stones = len(request.positions[index].moves) // 2
            if stones == 2:
                yield pb.EvaluateResponse(position=index, failure="the bot has left")
            else:
                said = game_pb2.MoveAnalysis(score=stones)
                yield pb.EvaluateResponse(position=index, cell=stones, analysis=said)


def here(bot: Bot, threads: int = 1) -> Analyser:
    return Analyser(bot, CONTROL, threads=threads)


def there(service: Service) -> RemoteAnalyser:
    return RemoteAnalyser(cast("Connection", service), "ada")


def boards(count: int) -> Iterator[tuple[int, Board]]:
    for number in range(count):
        yield number, Board.from_moves(range(number % 9))


Make: TypeAlias = Callable[[], Analyser | RemoteAnalyser]
every_way = pytest.mark.parametrize(
    "make",
    [lambda: here(First(), 2), lambda: here(Batches()), lambda: there(Service())],
    ids=["threads", "batches", "server"],
)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", [First, Slow])
def test_findings_come_in_order(kind: type[Bot], threads: int) -> None:
    """More of them than may wait at once."""
    findings = list(here(kind(), threads).findings(boards(8)))
    assert [key for key, _ in findings] == list(range(8))
    for key, finding in findings:
        assert (finding.best, finding.analysis) == (key, Analysis(score=2000, depth=key))
        assert finding.seconds >= 0


def test_threads_search_side_by_side() -> None:
    """Each waits for the other here, which one thread could not."""
    found = here(Meeting(), 2).findings(boards(6))
    assert [finding.best for _, finding in found] == list(range(6))


def test_a_server_s_findings_come_in_order() -> None:
    """Whatever the order of the answers; failures among them."""
    keys, found = zip(*there(Service()).findings(boards(4)), strict=True)
    assert keys == (0, 1, 2, 3)
    assert [each.error for each in found] == ["", "", "the bot has left", ""]
    assert [each.best for each in found] == [0, 1, None, 3]
    assert [each.analysis and each.analysis.score for each in found] == [0, 1, None, 3]


def test_batches_are_what_waits() -> None:
    """At most this many at once, and each position once."""
    bot, service, count = Batches(), Service(), 3 * BATCH // 2
    found = [finding.best for _, finding in here(bot).findings(boards(count))]
    assert found == [number % 9 for number in range(count)]
    assert len(list(there(service).findings(boards(count)))) == count
    for sizes in (bot.sizes, service.sizes):
        assert sum(sizes) == count
        assert max(sizes) <= BATCH


@every_way
def test_a_finding_waits_for_no_further_position(make: Make) -> None:
    asked: SimpleQueue[tuple[int, Board] | None] = SimpleQueue()
    findings = make().findings(iter(asked.get, None))
    for each in boards(3):
        asked.put(each)
        assert next(findings)[0] == each[0]
    asked.put(None)
    assert list(findings) == []


@every_way
def test_what_stops_the_reading_is_raised(make: Make) -> None:
    """After what was found before."""

    def broken() -> Iterator[tuple[int, Board]]:
        yield from boards(2)
        raise OSError("gone")

    findings = make().findings(broken())
    assert [next(findings)[0], next(findings)[0]] == [0, 1]
    with pytest.raises(OSError, match="gone"):
        next(findings)


def test_a_bot_that_fails_is_told_of() -> None:
    """At the position where it does; the others are searched."""
    found: list[Finding] = [each for _, each in here(Moody()).findings(boards(5))]
    assert [each.best for each in found] == [None, None, None, None, 5]
    gives_up, fails, impossible, nothing, answers = (each.error for each in found)
    assert (gives_up, answers) == ("", "")
    assert fails == "the bot failed: RuntimeError: no idea"
    assert impossible == "choose returned 225: cell 225 is off the 15x15 board"
    assert "choose returned None" in nothing


def test_a_call_that_ends_early_is_no_answer() -> None:
    found = there(Service(leaves_out=1)).findings(boards(1))
    with pytest.raises(ArenaError, match="the server has told of 0 of 1 positions"):
        list(found)


def test_no_thread_searches_nothing() -> None:
    with pytest.raises(ValueError, match="0 threads can't search"):
        here(First(), 0)


def test_threads_end_when_nobody_reads_on() -> None:
    findings = here(First(), 2).findings(boards(10_000))
    next(findings)
    started = [thread for thread in threading.enumerate() if thread.name == "analyser"]
    assert started
    findings.close()  # type: ignore[attr-defined]  # it is a generator
    for thread in started:
        thread.join(PATIENCE)
        assert not thread.is_alive()
