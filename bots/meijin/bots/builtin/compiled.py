"""The base class of bots that search with the compiled core."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import math
import time
from collections.abc import Callable
from datetime import timedelta

from meijin.bots.core.cache import source_digest
from meijin.bots.sdk.bot import DIGEST_LENGTH, Bot
from meijin.bots.sdk.errors import MissingExtraError

logger = logging.getLogger("meijin.bots")

COMPILING = "compiling the search"
"""The words of the log line by which others know that a bot compiles."""

NOTICE_INTERVAL = timedelta(seconds=10)
"""Between two notices of a compilation, at least."""


class Progress:
    """Progress of a compilation: says that it runs, and again while it lasts."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._functions = 0
        self._next = -math.inf

    def begin(self, functions: int) -> None:
        """Another function is being compiled, the one of this number."""
        self._functions = functions
        now = self._now()
        if now < self._next:
            return
        self._next = now + NOTICE_INTERVAL.total_seconds()
        if functions == 1:
            logger.info("%s, once; it takes a minute, or more on a busy machine", COMPILING)
        else:
            logger.info("%s: %d functions so far", COMPILING, functions)

    def end(self) -> None:
        """Everything is there; nothing is said where all of it was loaded."""
        if self._functions:
            logger.info("compiled the search: %d functions", self._functions)


class CompiledBot(Bot):
    """A bot that needs numba, and is a new version whenever the core is."""

    def __init__(self) -> None:
        """Look for numba.

        Raises:
            MissingExtraError: it isn't installed.
        """
        if importlib.util.find_spec("numba") is None:
            raise MissingExtraError(f"{self.name} needs numba; pip install 'meijin[bots]'")

    @property
    def digest(self) -> str:
        """Tells versions apart, those of the core too."""
        both = f"{super().digest}{source_digest()}".encode()
        return hashlib.sha256(both).hexdigest()[:DIGEST_LENGTH]

    def prepare(self) -> None:
        """Load the compiled search, or compile it, before any clock runs."""
        from meijin.bots.core.jit import compilations  # noqa: PLC0415 - not in the bare install

        progress = Progress()
        with compilations(progress.begin):
            self.warm_up()
        progress.end()

    def warm_up(self) -> None:
        """Search once, so that the first move is no slower than the others."""
        raise NotImplementedError(f"{type(self).__name__} has no warm_up method")
