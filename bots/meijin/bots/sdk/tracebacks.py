"""Tracebacks: where in its author's program a bot has failed, as it is told to the server."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.errors import GameFailedError, SupplierError
from meijin.bots.sdk.wire import MAX_FAILURE_BYTES
from meijin.wire.contract import MAX_TRACEBACK

_CUT = "\n  ...\n"
_HEAD = MAX_TRACEBACK // 4
"""Characters that are kept of the beginning of a long traceback; the rest is its end."""

_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


def failure_of(error: BaseException) -> Failure:
    """What is sent for an exception that came out of the author's program.

    The message ends with the file and the line of the innermost of the author's own frames,
    however long its words are.
    """
    is_suppliers = isinstance(error, SupplierError)
    if isinstance(error, GameFailedError):
        return Failure(_words(error), is_suppliers)
    steps = _steps(error.__traceback__)
    name, text, place = type(error).__name__, _words(error), _place(steps)
    message = _kept(f"{name}: {text}" if text else name, place)
    return Failure(message, is_suppliers, _text(error, steps))


def _kept(words: str, place: str) -> str:
    """A message of which the words are cut, and never the place."""
    told = words.encode(errors="backslashreplace")
    return told[: MAX_FAILURE_BYTES - len(place.encode())].decode(errors="ignore") + place


def with_place(failure: Failure, method: object) -> Failure:
    """A failure whose message ends with where the author's method begins; as it is without one."""
    code = getattr(method, "__code__", None)
    if code is None:
        return failure
    place = f" ({Path(code.co_filename).name}, line {code.co_firstlineno})"
    return replace(failure, message=_kept(failure.message, place))


def _steps(trace: TracebackType | None) -> Sequence[TracebackType]:
    """The frames from the first of a bot's on, outermost first; none where the SDK itself failed."""
    steps = list(_walk(trace))
    first = next((number for number, step in enumerate(steps) if _is_bots(step)), len(steps))
    return steps[first:]


def _walk(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_bots(step: TracebackType) -> bool:
    """Whether a frame is of a bot, or what it uses, and not ours but for the built-in bots."""
    name = str(step.tb_frame.f_globals.get("__name__", ""))
    is_ours = name.startswith("meijin.") and not name.startswith("meijin.bots.")
    return not (is_ours or name.startswith("meijin.bots.sdk."))


def _is_library(step: TracebackType) -> bool:
    return step.tb_frame.f_code.co_filename.startswith((*_LIBRARIES, "<"))


def _place(steps: Sequence[TracebackType]) -> str:
    """The innermost frame of the author's own, or of the bot's where that is a library itself."""
    of_bot = [step for step in steps if _is_bots(step)]
    own = [step for step in of_bot if not _is_library(step)] or of_bot
    if not own:
        return ""
    return f" ({Path(own[-1].tb_frame.f_code.co_filename).name}, line {own[-1].tb_lineno})"


def _text(error: BaseException, steps: Sequence[TracebackType]) -> str:
    """The frames as Python writes them, but of files the names alone; empty without any."""
    if not steps:
        return ""
    frames = [
        traceback.FrameSummary(Path(frame.filename).name, frame.lineno, frame.name, line=frame.line)
        for frame in traceback.extract_tb(steps[0])
    ]
    lines = traceback.StackSummary.from_list(frames).format()
    text = "".join([*lines, *traceback.format_exception_only(error)]).rstrip()
    if len(text) <= MAX_TRACEBACK:
        return text
    return text[:_HEAD] + _CUT + text[_HEAD + len(_CUT) - MAX_TRACEBACK :]


def _words(error: BaseException) -> str:
    """What an exception says; its own method may fail."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever it is, a search thread must not end by it
        return "<no words: its __str__ failed>"
