"""Sessions: dialogues held with an engine's process."""

from __future__ import annotations

import logging
import re
import time
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from meijin.bots.bridge.dialogue import (
    SILENCE,
    Ask,
    Dialogue,
    EngineError,
    EngineProtocol,
    EngineReply,
    ReplyKind,
)
from meijin.bots.bridge.process import EngineProcess
from meijin.game.arbiter.moment import nanoseconds

_Result = TypeVar("_Result")

TRANSCRIPT = 200
"""Lines of what was said that are kept."""
MESSAGES_KEPT = 32
"""The last messages of a dialogue, which tell most of the analysis."""
SETTLING = timedelta(milliseconds=50)
"""How long an engine is left alone after its move, if it says more than it is asked for."""
USUAL_PAUSE = timedelta(milliseconds=30)
"""How long an engine is left alone that isn't known to hear what follows its move at once."""
BACKSTOP = timedelta(seconds=10)
"""Past the time of a move, when the server has ended the game long ago."""
_REFUSALS = frozenset({ReplyKind.UNKNOWN, ReplyKind.ERROR})
_WORDS = frozenset({ReplyKind.MESSAGE, ReplyKind.NOISE})
_SHOWN = 200
_NOISES_LOGGED = 20
_NUMBERS = re.compile(r"[0-9]+")

logger = logging.getLogger("meijin.bots.engine")


class EngineSession:
    """One engine's process and the protocol that it speaks.

    It belongs to one thread at a time; any other may call `interrupt`.
    """

    def __init__(
        self,
        process: EngineProcess,
        protocol: EngineProtocol,
        *,
        pause: timedelta = timedelta(0),
        is_suspended: bool = False,
    ) -> None:
        self.process = process
        self.protocol = protocol
        self.messages: deque[str] = deque(maxlen=MESSAGES_KEPT)
        """What the engine said in the last dialogue beside its answers."""
        self.pause = pause
        """How long the engine is left alone after what it says."""
        self._is_suspended = is_suspended
        self.asked_ns = 0
        """When the last dialogue's question was about to be written, on the monotonic clock; it may
        have been asked in other words since."""
        self.answered_ns = 0
        """When the last of its answers was read."""
        self.transcript: deque[str] = deque(maxlen=TRANSCRIPT)
        """The last lines, ``> `` to the engine and ``< `` by it."""
        self._written_ns = 0  # the last lines, on the monotonic clock
        self._is_logged = logger.isEnabledFor(logging.DEBUG)
        self.refusals = 0
        """UNKNOWN and ERROR, so far."""
        self.strays = 0
        """Lines that nobody asked for, so far."""
        self._noises: set[str] = set()  # what answered nothing, without its numbers

    def hold(self, dialogue: Dialogue[_Result], *, patience_ns: int | None = None) -> _Result:
        """Hold a dialogue, waiting for its answers: so long for those without a patience of their own.

        Raises:
            EngineError: the engine refuses, or has ended.
            EngineInterruptedError: another thread has called `interrupt`.
        """
        self.messages.clear()
        self.asked_ns = 0
        try:
            if self._is_suspended:
                self.process.resume()
            ask = next(dialogue)
            while True:
                ask = dialogue.send(self._ask(ask, patience_ns))
        except StopIteration as end:
            result: _Result = end.value
            return result
        except EngineError as error:
            error.evidence = tuple(self.transcript)
            raise
        finally:
            if self._is_suspended:
                self.process.suspend()

    def drop_strays(self) -> None:
        """Forget what the engine said unasked; from then on it is waited for such lines."""
        for line in self.process.stale_lines():
            kind = self._heard(line).kind
            if kind is ReplyKind.UNKNOWN:
                self.protocol.traits.answers_hints = True
            if kind is not ReplyKind.MESSAGE:
                self.strays += 1
                self.pause = max(self.pause, SETTLING)
                self._noise(f"nobody asked for {line[:_SHOWN]!r}")

    def interrupt(self) -> None:
        """End the wait of another thread, or the next one; what the engine does then is unknown."""
        self.process.interrupt()

    def close(self, grace: timedelta) -> None:
        self.process.close(_text([self.protocol.farewell]), grace)

    def ask_to_end(self) -> None:
        self.process.ask_to_end(_text([self.protocol.farewell]))

    def _ask(self, ask: Ask, patience_ns: int | None) -> EngineReply:
        if ask.lines:
            self._write(ask)
        if not ask.expects:
            return SILENCE
        if ask.patience is not None:
            patience_ns = nanoseconds(ask.patience)
        deadline_ns = None if patience_ns is None else self._written_ns + patience_ns

        def is_whole(part: str) -> bool:
            return self.protocol.read(part).kind in ask.expects

        while (line := self.process.read_line(deadline_ns, is_whole)) is not None:
            reply = self._heard(line)
            if reply.kind in ask.expects:
                self.answered_ns = self.process.heard_ns
                return reply
            if reply.kind is not ReplyKind.MESSAGE:
                self._noise(f"passed over {line[:_SHOWN]!r}")
            if deadline_ns is not None and time.monotonic_ns() > deadline_ns:
                break
        return SILENCE

    def _write(self, ask: Ask) -> None:
        """Send lines, once the engine is ready for them, and forget what it said unasked."""
        if self.pause:
            ready_ns = self.process.heard_ns + nanoseconds(self.pause)
            if (wait_ns := ready_ns - time.monotonic_ns()) > 0:
                self.process.sleep(wait_ns / 1e9)
        self.drop_strays()
        for line in ask.lines:
            self._transcribe(f"> {line}")
        text = _text(ask.lines)
        if ask.expects and not self.asked_ns:
            self.asked_ns = time.monotonic_ns()
        self.process.write(text)
        self._written_ns = time.monotonic_ns()

    def _heard(self, line: str) -> EngineReply:
        self._transcribe(f"< {line[:_SHOWN]}")
        reply = self.protocol.read(line)
        if reply.kind in _REFUSALS:
            self.refusals += 1
        elif reply.kind in _WORDS:
            self.messages.append(reply.text)
        return reply

    def _transcribe(self, line: str) -> None:
        self.transcript.append(line)
        if self._is_logged:
            logger.debug("%s", line)

    def _noise(self, text: str) -> None:
        """Log what answered nothing: once, however often it comes with other numbers."""
        kind = _NUMBERS.sub("0", text)
        if kind not in self._noises and len(self._noises) < _NOISES_LOGGED:
            self._noises.add(kind)
            logger.info("%s", text)


def _text(lines: Sequence[str]) -> str:
    return "\r\n".join((*lines, ""))
