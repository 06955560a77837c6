"""What can go wrong with an engine."""

from collections.abc import Sequence

from meijin.bots.sdk.errors import BotLoadError, GameFailedError


class EngineError(GameFailedError):
    """The engine fails in a game, which it forfeits; the message says how."""


class EngineRefusedError(EngineError):
    """The engine answers with UNKNOWN or ERROR, or with what is no answer."""


class EngineSilentError(EngineRefusedError):
    """The engine doesn't answer in time."""


class EngineDiedError(EngineError):
    """The engine has ended, or has closed its output."""

    def __init__(self, message: str, errors: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.errors = errors
        """The last lines that it wrote to its standard error."""


class EngineStartError(BotLoadError):
    """No engine can be started from a command, or none that any protocol is known of."""
