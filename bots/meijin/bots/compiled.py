"""What bots share that search with the compiled core."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
from typing import ClassVar

from meijin.bots.bot import DIGEST_LENGTH, Bot
from meijin.bots.core.cache import is_compiled, source_digest
from meijin.bots.errors import MissingExtraError

logger = logging.getLogger("meijin.bots")


class CompiledBot(Bot):
    """A bot that needs numba, and is a new version whenever the core is."""

    compiled: ClassVar[str]
    """The core's function, as ``module.name``, whose compilation takes longest."""

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
        if not is_compiled(self.compiled):
            logger.info("compiling the search, which takes up to a minute, once")
        self.warm_up()

    def warm_up(self) -> None:
        """Search once, so that the first move is no slower than the others."""
        raise NotImplementedError(f"{type(self).__name__} has no warm_up method")
