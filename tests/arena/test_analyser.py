"""Positions searched in threads: in their order, as they come, whatever the bot is like."""

import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue

import pytest

from meijin.arena.analyser import BATCH, Analyser, Finding
from meijin.bots import RESIGN, Analysis, Bot, Choice, Position
from meijin.game import Board, TimeControl

CONTROL = TimeControl.parse("2/move")
PATIENCE = 30


class First(Bot):
    """Plays the first free cell, and tells its clock as its score."""

    def choose(self, position: Position) -> Choice:
        """Take it."""
        cell = position.legal_cells()[0]
        return Choice(cell, Analysis(score=position.move_ms, depth=len(position.board.moves)))


class Meeting(First):
    """Waits at its first two positions until another thread searches too."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(2)

    def choose(self, position: Position) -> Choice:
        """Wait, and take the first cell."""
        if position.board.ply < 2:
            self.barrier.wait(PATIENCE)
        return super().choose(position)


class Slow(First):
    """Is ``async``."""

    async def choose(self, position: Position) -> Choice:  # type: ignore[override]
        """Take the first cell."""
        return super().choose(position)


class Batches(Bot):
    """Notes how many positions it is given at once."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
        """Take the first cell of each."""
        self.sizes.append(len(positions))
        return [position.legal_cells()[0] for position in positions]


class Moody(Bot):
    """Gives up, fails, answers nonsense, and answers."""

    def choose(self, position: Position) -> object:  # type: ignore[override]
        """Do one of them, by the number of moves."""
        if position.board.ply == 1:
            raise RuntimeError("no idea")
        return [RESIGN, 0, 225, None, 5][position.board.ply]


def boards(count: int) -> Iterator[tuple[int, Board]]:
    """Boards with 0 to 8 stones, again and again."""
    for number in range(count):
        yield number, Board.from_moves(range(number % 9))


def found(bot: Bot, count: int, threads: int = 1) -> list[tuple[int, Finding]]:
    """What a bot finds on so many boards."""
    return list(Analyser(bot, CONTROL, threads=threads).findings(boards(count)))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", [First, Slow])
def test_findings_come_in_order(kind: type[Bot], threads: int) -> None:
    """More of them than may wait at once."""
    findings = found(kind(), 8, threads)
    assert [key for key, _ in findings] == list(range(8))
    for key, finding in findings:
        assert (finding.best, finding.analysis) == (key, Analysis(score=2000, depth=key))
        assert finding.seconds >= 0


def test_threads_search_side_by_side() -> None:
    """Each waits for the other here, which one thread could not."""
    assert [finding.best for _, finding in found(Meeting(), 6, threads=2)] == list(range(6))


def test_batches_are_what_waits() -> None:
    """At most so many at once, and each position once."""
    bot, count = Batches(), 3 * BATCH // 2
    wanted = [number % 9 for number in range(count)]
    assert [finding.best for _, finding in found(bot, count)] == wanted
    assert sum(bot.sizes) == count
    assert max(bot.sizes) <= BATCH


@pytest.mark.parametrize("bot", [First(), Batches()])
def test_a_finding_waits_for_no_further_position(bot: Bot) -> None:
    """Whoever asks one by one gets an answer to each before the next."""
    asked: SimpleQueue[tuple[int, Board] | None] = SimpleQueue()
    findings = Analyser(bot, CONTROL, threads=2).findings(iter(asked.get, None))
    for each in boards(3):
        asked.put(each)
        assert next(findings)[0] == each[0]
    asked.put(None)
    assert list(findings) == []


def test_a_bot_that_fails_is_told_of() -> None:
    """At the position where it does; the others are searched."""
    gives_up, fails, impossible, nothing, answers = (each for _, each in found(Moody(), 5))
    assert (gives_up.best, gives_up.error) == (None, "")
    assert fails.error == "the bot failed: RuntimeError: no idea"
    assert impossible.error == "choose returned 225: cell 225 is off the 15x15 board"
    assert "choose returned None" in nothing.error
    assert (answers.best, answers.error) == (5, "")


def test_what_stops_the_reading_is_raised() -> None:
    """After what was found before."""

    def broken() -> Iterator[tuple[int, Board]]:
        yield from boards(2)
        raise OSError("gone")

    findings = Analyser(First(), CONTROL).findings(broken())
    assert [next(findings)[0], next(findings)[0]] == [0, 1]
    with pytest.raises(OSError, match="gone"):
        next(findings)


def test_no_thread_searches_nothing() -> None:
    """One at least."""
    with pytest.raises(ValueError, match="0 threads can't search"):
        Analyser(First(), CONTROL, threads=0)
