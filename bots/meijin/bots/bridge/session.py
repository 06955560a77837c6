"""Sessions: dialogues held with an engine's process."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from meijin.bots.bridge.dialogue import (
    SILENCE,
    Ask,
    Dialogue,
    EngineProtocol,
    EngineReply,
    ReplyKind,
)
from meijin.bots.bridge.process import EngineProcess

_Result = TypeVar("_Result")

MESSAGES_KEPT = 32
"""The last messages of a dialogue, which tell most of the analysis."""
WHOLE_PART = timedelta(milliseconds=150)
"""An answer without an end of line is taken for whole when nothing more has come for so long."""
SETTLING = timedelta(milliseconds=50)
"""How long an engine is left alone after its move, if it says more than it is asked for."""
BACKSTOP = timedelta(seconds=10)
"""Past the time of a move, when the server has ended the game long ago."""
_SHOWN = 200
_NOISES_LOGGED = 5

logger = logging.getLogger("meijin.bots.engine")


class EngineSession:
    """One engine's process and the protocol that it speaks."""

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
        self._heard_at = 0.0  # when the engine's last line came
        self.strays = 0
        """Lines that nobody asked for, so far."""
        self._noises = 0  # lines in this dialogue that answered nothing

    async def hold(
        self, dialogue: Dialogue[_Result], *, patience: timedelta | None = None
    ) -> _Result:
        """Hold a dialogue; `patience` is for what has none of its own.

        Raises:
            EngineError: the engine refuses, or has ended.
        """
        self.messages.clear()
        self._noises = 0
        self.process.resume()
        try:
            ask = next(dialogue)
            while True:
                ask = dialogue.send(await self._ask(ask, patience))
        except StopIteration as end:
            result: _Result = end.value
            return result
        finally:
            if self._is_suspended:
                self.process.suspend()

    def drop_strays(self) -> None:
        """Forget what the engine said unasked; from then on it is waited for such lines."""
        for line in self.process.stale_lines():
            kind = self._heard(line).kind
            if kind is ReplyKind.UNKNOWN:
                self.protocol.answers_hints = True
            if kind is not ReplyKind.MESSAGE:
                self.strays += 1
                self.pause = max(self.pause, SETTLING)
                self._noise(f"nobody asked for {line[:_SHOWN]!r}")

    def close(self, grace: timedelta) -> None:
        self.process.close(_text([self.protocol.farewell]), grace)

    def ask_to_end(self) -> None:
        self.process.ask_to_end(_text([self.protocol.farewell]))

    async def _ask(self, ask: Ask, patience: timedelta | None) -> EngineReply:
        if ask.lines:
            await self._write(ask.lines)
        if not ask.expects:
            return SILENCE
        allowed = ask.patience or patience
        deadline = None if allowed is None else time.monotonic() + allowed.total_seconds()
        while (line := await self._read(ask, deadline)) is not None:
            reply = self._heard(line)
            if reply.kind in ask.expects:
                return reply
            if reply.kind is not ReplyKind.MESSAGE:
                self._noise(f"passed over {line[:_SHOWN]!r}")
            if deadline is not None and time.monotonic() > deadline:
                break
        return SILENCE

    async def _write(self, lines: Sequence[str]) -> None:
        """Send lines, once the engine is ready for them, and forget what it said unasked."""
        wait = self._heard_at + self.pause.total_seconds() - time.monotonic()
        if self.pause and wait > 0:
            await asyncio.sleep(wait)
        self.drop_strays()
        for line in lines:
            logger.debug("> %s", line)
        await self.process.write(_text(lines))

    async def _read(self, ask: Ask, deadline: float | None) -> str | None:
        def patience(part: str) -> float | None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if part and self.protocol.read(part).kind in ask.expects:
                whole = WHOLE_PART.total_seconds()
                return whole if left is None else min(whole, left)
            return left

        line = await self.process.read_line(patience)
        self._heard_at = time.monotonic()
        return line

    def _heard(self, line: str) -> EngineReply:
        logger.debug("< %s", line[:_SHOWN])
        reply = self.protocol.read(line)
        if reply.kind is ReplyKind.MESSAGE:
            self.messages.append(reply.text)
        return reply

    def _noise(self, text: str) -> None:
        self._noises += 1
        if self._noises <= _NOISES_LOGGED:
            logger.info("%s", text)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\r\n" for line in lines)
