"""Sides: what a worker finds out of its bots and engines, and how it makes players of them."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from meijin.bots.bridge.dialogue import EngineError, EngineStartError
from meijin.bots.bridge.settings import EngineLimits, WrapSettings
from meijin.bots.bridge.wrapped import WrappedBot
from meijin.bots.sdk.wire import hello_to_proto
from meijin.game import Variant
from meijin.v1.play_service_pb2 import Engine, Hello
from meijin.wire.capabilities import capabilities_to_proto
from meijin.wire.contract import PROTOCOL_VERSION
from meijin.worker.bot_player import BotPlayer
from meijin.worker.engine_player import EnginePlayer
from meijin.worker.plan import Plan, SidePlan
from meijin.worker.players import Player, PlayerError, PlaysManyError

HOST = (sys.executable, "-P", "-m", "meijin.worker.bot_host")
LISTENING_INTERVAL = timedelta(milliseconds=10)
"""Between two looks whether a bot's host listens."""
NOTICE_INTERVAL = timedelta(seconds=5)
"""After it a bot that is not loaded yet has its last line passed on, and then again."""

NO_OPTIONS: Mapping[str, str] = {}

logger = logging.getLogger("meijin.worker")


def _settings(options: Mapping[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in options.items()]


class Side(ABC):
    """A bot or an engine that a worker has."""

    def __init__(self, plan: SidePlan) -> None:
        self.plan = plan

    @abstractmethod
    def find_out(self) -> Hello:
        """Get it going, as far as all its players share it: what it says of itself.

        Raises:
            PlayerError: it can't be loaded, or started.
        """

    def check_options(self, names: Collection[str]) -> None:  # noqa: B027 - a bot is not loaded with others
        """See that it takes its options of these names, as far as it says so.

        Raises:
            PlayerError: it says that it doesn't, or can't be asked.
        """

    @abstractmethod
    def player(self, slot: int, options: Mapping[str, str] = NO_OPTIONS) -> Player:
        """A player of it for a slot, with `options` in the place of its own of these names."""

    @abstractmethod
    def close(self) -> None:
        """End what its players share."""


class BotSide(Side):
    """A bot of the SDK, and the process that its players are forked from."""

    def __init__(self, plan: SidePlan, folder: Path, sockets: Path) -> None:
        super().__init__(plan)
        self._path = str(sockets / plan.name)
        self._log = folder / f"{plan.name}.log"
        options = _settings(plan.options)
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [*HOST, f"--log={plan.log}", f"--name={plan.name}", self._path, plan.bot, *options],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def find_out(self) -> Hello:
        told = ""
        notice_time = time.monotonic() + NOTICE_INTERVAL.total_seconds()
        while not Path(self._path).exists():
            if self._process.poll() is not None:
                raise PlayerError(f"{self.plan.name} can't be loaded: {self._last_line}")
            line = self._last_line
            if time.monotonic() > notice_time and line != told:
                notice_time, told = time.monotonic() + NOTICE_INTERVAL.total_seconds(), line
                logger.info("%s: %s", self.plan.name, line)
            time.sleep(LISTENING_INTERVAL.total_seconds())
        player = BotPlayer(self.plan.name, self._path, _settings(self.plan.options))
        ready = player.connect()
        player.close()
        if ready.plays_many:
            raise PlaysManyError(self.plan.name)
        return Hello(
            protocol_version=PROTOCOL_VERSION,
            bot_name=self.plan.name,
            engine=Engine(
                version=ready.version, digest=ready.digest, configuration=ready.configuration
            ),
            capabilities=capabilities_to_proto(ready.capabilities),
            threads=ready.threads,
            memory_bytes=ready.memory_bytes,
        )

    @property
    def _last_line(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines()
        return lines[-1] if lines else ""

    def player(self, slot: int, options: Mapping[str, str] = NO_OPTIONS) -> Player:  # noqa: ARG002 - its processes are alike
        return BotPlayer(self.plan.name, self._path, _settings({**self.plan.options, **options}))

    def close(self) -> None:
        with suppress(OSError):  # it has ended
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()


class EngineSide(Side):
    """An existing engine, and what was found out by asking it."""

    def __init__(self, plan: SidePlan, variant: Variant) -> None:
        super().__init__(plan)
        self._variant = variant
        self._settings = WrapSettings(
            command=plan.command,
            protocol=plan.protocol,
            rules=[variant.rule],
            variant=variant,
            options=plan.options,
            limits=EngineLimits(memory=plan.memory, is_suspended=plan.is_suspended),
            files=[Path(file) for file in plan.files],
        )
        self._engine = WrappedBot(self._settings)

    def find_out(self) -> Hello:
        try:
            session, _ = self._engine.examine()
        except EngineStartError as error:
            raise PlayerError(f"{self.plan.name} can't be played: {error}") from error
        if session is not None:
            session.close(timedelta(0))
        engine = self._engine
        hello = hello_to_proto(engine, name=self.plan.name, digest=engine.digest, session_id="")
        return hello.hello

    def check_options(self, names: Collection[str]) -> None:
        options = {name: self.plan.options[name] for name in names}
        try:
            refused = self._find_refused(options)
        except (EngineError, EngineStartError) as error:
            raise PlayerError(
                f"{self.plan.name} can't be asked for its options: {error}"
            ) from error
        for name, said in refused.items():
            raise PlayerError(f"the engine doesn't take {name}={options[name]}: it says {said!r}")

    def _find_refused(self, options: Mapping[str, str]) -> Mapping[str, str]:
        session = self._engine.starter.with_options(options).launch()
        try:
            session.hold(session.protocol.start(self._variant))
            return session.hold(session.protocol.find_refused(self._variant))
        finally:
            session.close(timedelta(0))

    def player(self, slot: int, options: Mapping[str, str] = NO_OPTIONS) -> Player:
        plan, starter = self.plan, self._engine.starter
        if options:
            starter = starter.with_options({**plan.options, **options})
        return EnginePlayer(plan.name, starter, slot=slot, margin_ms=plan.margin_ms)

    def close(self) -> None:
        self._engine.close()


def make_sides(plan: Plan, sockets: Path) -> dict[str, Side]:
    """The sides of a plan by their names; what takes long to load has begun to.

    Args:
        sockets: A folder with a short path: that of a socket has 100 characters at most.
    """
    folder, variant = Path(plan.folder), Variant.parse(plan.variant)
    return {
        side.name: EngineSide(side, variant) if side.command else BotSide(side, folder, sockets)
        for side in plan.sides
    }
