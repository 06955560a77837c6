"""Errors between a bot and the arena, and where in its author's program a bot has failed."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import TypeAlias

import grpc

from meijin.bots.sdk.answer import Failure
from meijin.wire.contract import MAX_TRACEBACK, TOKEN_VARIABLE


class ArenaError(Exception):
    """Anything that stops a bot; the message says what to do about it."""


class BotLoadError(ArenaError):
    """A bot's name, file or options lead to no bot."""


class MissingExtraError(BotLoadError):
    """A bot needs a package that the bare install lacks."""


class SupplierError(Exception):
    """Raised by a bot: what it depends on failed, such as the host of its model or licence.

    The game is void and played again, for up to five games in 24 hours; then it is forfeited.
    """


class GameFailedError(Exception):
    """Raised by a bot that can't go on with a game, for a reason that the message tells whole.

    The game is forfeited as after any exception; the message is logged without a traceback.
    """

    evidence: Sequence[str] = ()
    """Lines for the author that go with the failure in place of the stack; the last ones are kept."""


class StreamLostError(ArenaError):
    """The stream has ended, and the bot may return; the message is the reason."""


class RefusedError(ArenaError):
    """The server refuses the bot, and would refuse it again: there is no point in returning."""

    advice = ""
    """What to do about it, where the server's own words don't say."""

    def __init__(self, details: str) -> None:
        super().__init__(f"{details.rstrip('.')}: {self.advice}" if self.advice else details)
        self.details = details
        """The server's own words."""


class TokenRefusedError(RefusedError):
    """The token is missing, unknown or revoked (UNAUTHENTICATED)."""

    advice = f"register the bot, and set {TOKEN_VARIABLE} to its token"


class NotAllowedError(RefusedError):
    """The token is another's, or the bot is disabled or banned (PERMISSION_DENIED)."""


class VersionRefusedError(RefusedError):
    """The server speaks another version of the protocol (FAILED_PRECONDITION)."""

    advice = "install the release of meijin that the server runs"


class InvalidBotError(RefusedError):
    """The server can make nothing of what the bot says (INVALID_ARGUMENT)."""

    advice = "check the bot's name, version, configuration and capabilities"


class ReplacedError(RefusedError):
    """Another process has connected as the same bot (ABORTED)."""

    advice = "run one process per bot, or register the second one under its own name"


class NoArenaError(RefusedError):
    """A gRPC server answers that isn't Meijin's (UNIMPLEMENTED)."""

    advice = "check the address and the port of the server"


_REFUSALS = {
    grpc.StatusCode.UNAUTHENTICATED: TokenRefusedError,
    grpc.StatusCode.PERMISSION_DENIED: NotAllowedError,
    grpc.StatusCode.FAILED_PRECONDITION: VersionRefusedError,
    grpc.StatusCode.INVALID_ARGUMENT: InvalidBotError,
    grpc.StatusCode.ABORTED: ReplacedError,
    grpc.StatusCode.UNIMPLEMENTED: NoArenaError,
}


def refusal(code: grpc.StatusCode, details: str) -> RefusedError | None:
    """Find the error that a stream's end with `code` means; none if a retry may help."""
    kind = _REFUSALS.get(code)
    return kind(details or code.name) if kind else None


MAX_FAILURE_BYTES = 500
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
        return Failure(_words(error), is_suppliers, "\n".join(error.evidence)[-MAX_TRACEBACK:])
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


_Step: TypeAlias = tuple[FrameType, int]
"""A frame of the stack and the line where it is."""


def _steps(trace: TracebackType | None) -> Sequence[_Step]:
    """The frames from the first of a bot's on, outermost first; none where the SDK itself failed."""
    steps = list(traceback.walk_tb(trace))
    first = next((number for number, step in enumerate(steps) if _is_bots(step)), len(steps))
    return steps[first:]


def _is_bots(step: _Step) -> bool:
    """Whether a frame is of a bot, or what it uses, and not ours but for the built-in bots."""
    name = str(step[0].f_globals.get("__name__", ""))
    is_ours = name.startswith("meijin.") and not name.startswith("meijin.bots.")
    return not (is_ours or name.startswith("meijin.bots.sdk."))


def _place(steps: Sequence[_Step]) -> str:
    """The innermost frame of the author's own, or of the bot's where that is a library itself."""
    of_bot = [(frame.f_code.co_filename, line) for frame, line in filter(_is_bots, steps)]
    own = [step for step in of_bot if not step[0].startswith((*_LIBRARIES, "<"))] or of_bot
    return f" ({Path(own[-1][0]).name}, line {own[-1][1]})" if own else ""


def _text(error: BaseException, steps: Sequence[_Step]) -> str:
    """The frames as Python writes them, but of files the names alone; empty without any."""
    if not steps:
        return ""
    frames = [
        traceback.FrameSummary(Path(frame.filename).name, frame.lineno, frame.name, line=frame.line)
        for frame in traceback.StackSummary.extract(iter(steps))
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
