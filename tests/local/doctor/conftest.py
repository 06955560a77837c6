"""An arena for all bots of a module, each of which is examined under a name of its own."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TypeAlias

import pytest

from meijin.cli.bot.doctor.wrapped import wrapped_engine
from meijin.local.doctor.arena import DoctorArena, register
from meijin.local.doctor.check import Check
from meijin.local.doctor.examination import Examination
from meijin.local.doctor.hosted import hosted_arena
from meijin.local.doctor.process_candidate import ProcessCandidate

FOLDER = Path(__file__).parent
Examine: TypeAlias = Callable[..., Mapping[str, Check]]
"""Examines a class of `bad_bots`, a mode of `plain_bot` or a command: its checks by name."""


def command_of(bot: str) -> Sequence[str]:
    """What runs a class of `bad_bots`."""
    return [sys.executable, "-m", "meijin", "bot", "run", f"{FOLDER}/bad_bots.py:{bot}"]


@pytest.fixture(scope="module")
def arena() -> Iterator[DoctorArena]:
    with hosted_arena(ProcessCandidate([]), "nobody") as arena:
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
        kind: Callable[..., Examination] = Examination,
    ) -> Mapping[str, Check]:
        if mode:
            command = [sys.executable, str(FOLDER / "plain_bot.py"), mode]
        elif bot:
            command = command_of(bot)
        candidate, engine = ProcessCandidate(command), wrapped_engine(command)
        if engine is not None:
            candidate.show_dialogue()
        arena.candidate = candidate
        arena.name = f"bot-{next(numbers)}"
        arena.token = register(arena.connection, arena.name)
        limits = timedelta(seconds=start), timedelta(minutes=10)
        try:
            checks = kind(arena, *limits, is_quick, engine=engine).run()
        finally:
            arena.candidate.stop()
        return {check.name: check for check in checks}

    return examine_one
