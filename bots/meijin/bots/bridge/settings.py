"""Settings: how an engine is run as a bot, what it may use, and the time that it is told of."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from meijin.bots.bridge.dialogue import EngineStartError, EngineTime
from meijin.bots.sdk.position import Position
from meijin.game import FREESTYLE, OpeningRule, Rule, Variant
from meijin.wire.contract import MAX_THREADS

MARGIN = timedelta(milliseconds=100)
"""Kept back for the way to the server and for an engine that looks at its clock now and then."""


HEADROOM = 1 << 29
"""Bytes of address space for an engine's program, libraries and stacks, beside what it is told of:
an engine that fills its tables with all of that, as Rapfi does, died of its limit else."""


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """What one process of an engine may use; none when left out."""

    memory: int | None = None
    """Bytes that it is told as ``max_memory``; each of its processes has `HEADROOM` more of address
    space."""
    cpu: timedelta | None = None
    """Processor time in one game, in whole seconds; each game then has a process of its own."""
    is_pinned: bool = False
    """Each engine keeps to one core."""
    is_suspended: bool = False
    """The engine stands still while it isn't asked for anything."""

    def arguments(self, core: int | None) -> list[str]:
        """What the launcher is told, and the core if there is to be one."""
        values = {
            "memory": None if self.memory is None else self.memory + HEADROOM,
            "cpu": None if self.cpu is None else max(1, round(self.cpu.total_seconds())),
            "core": core if self.is_pinned else None,
        }
        return [f"--{name}={value}" for name, value in values.items() if value is not None]


NO_LIMITS = EngineLimits()


@dataclass(frozen=True, slots=True)
class WrapSettings:
    """How an engine is run; what is left out is found by asking it."""

    command: Sequence[str]
    """The program and its arguments."""
    protocol: str | None = None
    """One of `probe.PROTOCOLS`."""
    rules: Sequence[Rule] = (FREESTYLE,)
    opening_rules: Sequence[OpeningRule] | None = None
    """Beside the free one."""
    sizes: tuple[int, int] | None = None
    """The shortest and the longest side of a board."""
    variant: Variant | None = None
    """The only one that is played: the engine is asked for nothing else."""
    games: int = 1
    """Games at once, each with a process of its own."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The engine's own."""
    folder: Path | None = None
    """Where it may keep files from game to game."""
    margin: timedelta = MARGIN
    """Kept back of the time that it is told of."""
    pause: timedelta | None = None
    """Between the engine's answer and the next command."""
    limits: EngineLimits = NO_LIMITS
    files: Sequence[Path] = ()
    """Files and folders beside the command's that make it play as it does."""
    supplier: str = ""
    """What an engine says, in any case, when not it but its supplier has failed; nothing if empty."""


_COUNT = re.compile(r"[1-9][0-9]{0,4}")
THREADS = frozenset({"threads", "thread_num"})
"""Options that say how many threads an engine uses, in small letters."""


def threads_of(options: Mapping[str, str]) -> int | None:
    """How many threads an engine is told to use; ``None`` where no option says so."""
    told = [value for name, value in options.items() if name.lower() in THREADS]
    counts = [int(value) for value in told if _COUNT.fullmatch(value)]
    return max((count for count in counts if count <= MAX_THREADS), default=None)


MARGIN_SHARE = 0.2
"""Kept back at most, of what a move may take."""
TURN_SHARE = 6
"""Where the clock is all that limits a move, the engine is told of a share of it and of the
increment: an engine that spends all it is told still has time for its other moves."""
LEAST_MS = 5
"""Engines take 0 for a command to answer at once, or for no limit at all."""
_STEP_MS = 10
"""Limits are told in such steps, so that one that stays the same need not be told again."""
_MILLISECOND = timedelta(milliseconds=1)


def engine_time(
    position: Position, margin: timedelta = MARGIN, overrun: timedelta = timedelta(0)
) -> EngineTime:
    """What to tell of the clock; `overrun` is what the engine lately took beyond what it was told.

    The margin is never more than a share of the move's time, and no more than half of it is kept
    back for the overrun and for what the network cost at the last move beyond the margin.
    """
    control = position.time_control
    available = position.move_ms
    if control.initial is not None:
        share = position.clock_ms // TURN_SHARE + control.increment // _MILLISECOND
        available = min(available, share)
    kept = min(margin // _MILLISECOND, int(available * MARGIN_SHARE))
    late_ms = overrun // _MILLISECOND + max(position.lost_us // 1000 - kept, 0)
    kept += min(late_ms, available // 2)
    turn_ms = max(LEAST_MS, _stepped(available - kept))
    if control.initial is None:
        return EngineTime(turn_ms, 0, None)
    match_ms = max(LEAST_MS, control.initial // _MILLISECOND - kept)
    return EngineTime(turn_ms, match_ms, max(LEAST_MS, position.clock_ms - kept))


def _stepped(milliseconds: int) -> int:
    return milliseconds // _STEP_MS * _STEP_MS if milliseconds >= 10 * _STEP_MS else milliseconds


FORGETTING = 0.9


def worst_overrun(before: timedelta, told: timedelta, taken: timedelta) -> timedelta:
    """What an engine takes beyond the time it is told: the worst of late, forgotten slowly."""
    return max(taken - told, before * FORGETTING)


def program_files(settings: WrapSettings) -> Sequence[Path]:
    """The files that make an engine play as it does: those of its command, and those named beside.

    Raises:
        EngineStartError: one that is named isn't there.
    """
    program, *arguments = settings.command
    found = [Path(word) for word in (shutil.which(program) or program, *arguments)]
    for path in settings.files:
        if not path.exists():
            raise EngineStartError(f"no file {path}")
        found += sorted(path.rglob("*")) if path.is_dir() else [path]
    return [path for path in found if path.is_file()]


def unnamed_files(settings: WrapSettings) -> Sequence[str]:
    """Files beside the engine's program that nobody has named, such as networks."""
    words = [Path(word) for word in settings.command]
    programs = [path for path in words if path.is_file() and not _INTERPRETER.fullmatch(path.stem)]
    if not programs or str(programs[0].absolute().parent) in os.get_exec_path():
        return ()
    named = {path.resolve() for path in program_files(settings)}
    beside = sorted(programs[0].absolute().parent.iterdir())
    return [path.name for path in beside if path.is_file() and path.resolve() not in named]


MAX_NAME = 40
_PREFIX = re.compile(r"^pbrain[-_]", re.IGNORECASE)
_INTERPRETER = re.compile(r"(?:python|wine|node|java|ruby|perl)[0-9.]*", re.IGNORECASE)


def find_command(words: Sequence[str]) -> list[str]:
    """The command with the path of its program, through wine for a Windows program.

    Raises:
        EngineStartError: there is no such program, or no wine to run it.
    """
    if not words:
        raise EngineStartError("which engine? give its command behind --, as in: -- ./pbrain-mine")
    program, *arguments = words
    if Path(program).suffix.lower() == ".exe" and os.name != "nt":
        return _through_wine(program, arguments)
    path = shutil.which(program)
    if path is None:
        raise EngineStartError(_missing(program))
    return [str(Path(path).absolute()), *arguments]


def _through_wine(program: str, arguments: Sequence[str]) -> list[str]:
    if not Path(program).is_file():
        raise EngineStartError(f"no file {program}")
    wine = shutil.which("wine64") or shutil.which("wine")
    if wine is None:
        raise EngineStartError(
            f"{program} is a Windows program, and wine, which would run it, is not installed"
        )
    return [wine, str(Path(program).absolute()), *arguments]


def _missing(program: str) -> str:
    if Path(program).is_dir():
        return f"{program} is a folder; give the engine's program in it"
    if Path(program).is_file():
        return f"{program} can't be run; chmod +x {program}, or name its interpreter before it"
    return f"no program {program}; give its path, such as ./{Path(program).name}"


def display_name(command: Sequence[str]) -> str:
    """What the engine is called: its file's name without ``pbrain-``, as names may be."""
    words = [word for word in command if not word.startswith("-")]
    stems = [Path(word).stem for word in words]
    program = next((stem for stem in stems if not _INTERPRETER.fullmatch(stem)), stems[0])
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", _PREFIX.sub("", program)).strip("-._")
    return name[:MAX_NAME] or "engine"
