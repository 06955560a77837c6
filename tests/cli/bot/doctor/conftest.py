"""An arena for all bots of a module, each of which is examined under a name of its own."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TypeAlias

import pytest

from meijin.cli.bot.doctor.arena import DoctorArena, open_arena, register
from meijin.cli.bot.doctor.candidate import Candidate
from meijin.cli.bot.doctor.examination import Examination
from meijin.cli.bot.doctor.report import Check

FOLDER = Path(__file__).parent
Examine: TypeAlias = Callable[..., Mapping[str, Check]]
"""Examines a class of `bad_bots`, a mode of `plain_bot` or a command: its checks by name."""


@pytest.fixture(scope="module")
def arena() -> Iterator[DoctorArena]:
    with open_arena(Candidate([]), name="nobody", listen="127.0.0.1:0") as arena:
        yield arena


@pytest.fixture(scope="module")
def examine(arena: DoctorArena) -> Examine:
    """Examines a bot, whose program has ended when that is over."""
    numbers = count(1)

    def examine_one(
        bot: str = "",
        *,
        mode: str = "",
        command: Sequence[str] = (),
        is_quick: bool = True,
        start: float = 60,
    ) -> Mapping[str, Check]:
        if mode:
            command = [sys.executable, str(FOLDER / "plain_bot.py"), mode]
        elif bot:
            run = ("-m", "meijin", "bot", "run")
            command = [sys.executable, *run, f"{FOLDER}/bad_bots.py:{bot}"]
        arena.candidate = Candidate(command)
        arena.name = f"bot-{next(numbers)}"
        arena.token = register(arena.connection, arena.name)
        limits = timedelta(seconds=start), timedelta(minutes=10)
        try:
            checks = Examination(arena, *limits, is_quick).run()
        finally:
            arena.candidate.stop()
        return {check.name: check for check in checks}

    return examine_one
