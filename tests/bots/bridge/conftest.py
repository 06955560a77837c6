"""Engines of the tests at work, and what is left of them."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from meijin.bots import Position
from meijin.bots.bridge import gomocup, probe
from meijin.bots.bridge.dialogue import SILENCE, Dialogue, EngineProtocol, EngineTime, NewGame
from meijin.bots.bridge.gomocup import GomocupProtocol
from meijin.bots.bridge.settings import WrapSettings
from meijin.bots.bridge.wrapped import WrappedBot
from meijin.bots.sdk.answer import Answer, Choice, Unchecked
from meijin.game import GOMOKU, Board, TimeControl, Variant

_Result = TypeVar("_Result")

TIME = EngineTime(turn_ms=4900, match_ms=0, left_ms=None)
CLOCK = EngineTime(turn_ms=1000, match_ms=60_000, left_ms=59_000)

BRAINS = Path(__file__).parent / "brains.py"
PATIENCE = 30.0
"""Seconds that anything may take which has no limit of its own."""


def brain(mode: str = "Brain") -> list[str]:
    """The command of one of the tests' brains; the usual one behaves."""
    return [sys.executable, "-S", "-E", str(BRAINS), mode]


def hold(
    protocol: EngineProtocol, dialogue: Dialogue[_Result], *answers: str | None
) -> tuple[_Result, list[str]]:
    """Answer a dialogue's questions, and then no more; return its result and what was sent.

    ``None`` leaves one unanswered.
    """
    waiting = list(answers)
    sent: list[str] = []
    try:
        ask = next(dialogue)
        while True:
            sent += ask.lines
            answer = waiting.pop(0) if ask.expects and waiting else None
            ask = dialogue.send(SILENCE if answer is None else protocol.read(answer))
    except StopIteration as end:
        assert waiting == []
        return end.value, sent


def begun() -> GomocupProtocol:
    protocol = GomocupProtocol({})
    hold(protocol, protocol.new_game(NewGame(Variant(), TIME)), "OK")
    return protocol


class Family:
    """The processes of a test's engines, known by a mark in their environment."""

    def __init__(self, mark: str) -> None:
        self._mark = f"MEIJIN_TEST_MARK={mark}".encode()
        self._seen: set[int] = set()

    def pids(self) -> set[int]:
        found = set()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if self._mark in (process / "environ").read_bytes():
                    found.add(int(process.name))
        self._seen |= found
        return found

    def is_any_suspended(self) -> bool:
        return "T" in map(_state, self.pids())

    def assert_ended(self) -> None:
        """None of those that ran runs; the dead may not be buried yet."""
        deadline = time.monotonic() + PATIENCE
        # By their states: one that is ending has lost its environment before its files.
        while left := {pid for pid in self._seen if _state(pid) not in {"Z", "X", ""}}:
            assert time.monotonic() < deadline, f"processes {left} run"
            os.sched_yield()

    def assert_gone(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while left := self.pids():
            assert time.monotonic() < deadline, f"processes {left} are left"
            os.sched_yield()


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Family]:
    """The processes that a test starts, none of which may be left at its end."""
    monkeypatch.setenv("MEIJIN_TEST_MARK", str(tmp_path))
    family = Family(str(tmp_path))
    yield family
    family.assert_gone()


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines of which a test knows that they don't answer are not waited for long."""
    for module, name in (
        (probe, "TRIAL_PATIENCE"),
        (probe, "LOAD_PATIENCE"),
        (gomocup, "RESTART_PATIENCE"),
    ):
        monkeypatch.setattr(module, name, timedelta(seconds=0.5))


def _state(pid: int) -> str:
    """The letter of a process's state; none if there is no such process."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


class Table:
    """A bot at the board, without a server; the opponent plays the cells from the end."""

    def __init__(self, bot: WrappedBot) -> None:
        self.bot = bot
        self.games = 0

    def position(
        self, time_control: str = "5/move", variant: Variant = GOMOKU, moves: Sequence[int] = ()
    ) -> Position:
        self.games += 1
        board = Board.from_moves(moves, variant)
        return Position(board, TimeControl.parse(time_control), game_id=f"game-{self.games}")

    async def play(self, position: Position, plies: int) -> list[Answer]:
        """Play this many plies, the bot beginning; stop at an answer that is no legal move."""
        self.bot.game_started(position)
        answers: list[Answer] = []
        try:
            for _ in range(0, plies, 2):
                async with asyncio.timeout(PATIENCE):
                    answer = await self.bot.choose(position)
                answers.append(answer)
                if isinstance(answer, Unchecked):
                    break
                cell = answer.cell if isinstance(answer, Choice) else answer
                assert isinstance(cell, int)
                position.board.play(cell)
                position.board.play(position.legal_cells()[-1])
        finally:
            await self.bot.game_ended(position.game_id, None)
        return answers


def play_game(command: Sequence[str], plies: int = 8, **settings: Any) -> list[Answer]:
    """Play a game with the engine of `command`, and return its answers."""
    control = settings.pop("time", "5/move")
    return at_table(command, lambda table: table.play(table.position(control), plies), **settings)


def at_table(
    command: Sequence[str], play: Callable[[Table], Coroutine[Any, Any, _Result]], **settings: Any
) -> _Result:
    """What comes of playing with the engine of `command`, which is ended afterwards."""
    bot = wrapped(command, **settings)
    try:
        bot.prepare()
        return asyncio.run(play(Table(bot)))
    finally:
        bot.close()


def wrapped(command: Sequence[str], **settings: Any) -> WrappedBot:
    """A bot of which everything is known, so that nothing is asked."""
    known = {"protocol": "gomocup", "sizes": (15, 15), "pause": timedelta(0), "opening_rules": ()}
    return WrappedBot(WrapSettings(command=command, **{**known, **settings}))


def cells(answers: Sequence[Answer]) -> list[int]:
    found = []
    for answer in answers:
        if isinstance(answer, int):
            found.append(answer)
        else:
            assert isinstance(answer, Choice | Unchecked)
            found.append(answer.cell)
    return found
