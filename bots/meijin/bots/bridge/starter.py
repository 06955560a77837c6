"""Starting engines: their processes, and the protocol that is spoken with them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import timedelta

from meijin.bots.bridge.dialogue import EngineProtocol
from meijin.bots.bridge.gtp import GtpProtocol
from meijin.bots.bridge.identity import PROTOCOLS, identify
from meijin.bots.bridge.process import EngineProcess
from meijin.bots.bridge.session import EngineSession
from meijin.bots.bridge.settings import WrapSettings


class Starter:
    """Starts engines with all that is known of them so far."""

    def __init__(self, settings: WrapSettings) -> None:
        self.pause = settings.pause or timedelta(0)
        """Between an engine's answer and the next command."""
        self.answers_hints: bool | None = None
        """See `EngineProtocol.answers_hints`."""
        self.protocol: type[EngineProtocol] | None = None
        if settings.protocol is not None:
            self.protocol = PROTOCOLS[settings.protocol]
        self._settings = settings

    def launch(self, seat: int = 0, pause: timedelta = timedelta(0)) -> EngineSession:
        """Start an engine for a seat, with that pause at least."""
        return self._session(self._start(seat), max(pause, self.pause))

    async def identify(self) -> tuple[EngineSession, Mapping[str, str] | None]:
        """Learn the protocol of an engine that is started; also, what it has told of itself by that.

        Raises:
            EngineStartError: it speaks none that is known.
        """
        process = self._start(seat=0)
        try:
            identity = await identify(process)
        except BaseException:
            await asyncio.to_thread(process.close)
            raise
        self.protocol = PROTOCOLS[identity.protocol]
        is_gtp = identity.protocol == GtpProtocol.name
        return self._session(process, self.pause), None if is_gtp else identity.about

    def _start(self, seat: int) -> EngineProcess:
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
        core = cores[seat % len(cores)]
        return EngineProcess(self._settings.command, self._settings.limits, core=core)

    def _session(self, process: EngineProcess, pause: timedelta) -> EngineSession:
        assert self.protocol is not None
        protocol = self.protocol(self._settings.options)
        protocol.answers_hints = self.answers_hints
        is_suspended = self._settings.limits.is_suspended
        return EngineSession(process, protocol, pause=pause, is_suspended=is_suspended)
