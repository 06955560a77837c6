"""What can go wrong with an engine."""

from meijin.bots.sdk.errors import BotLoadError


class EngineError(Exception):
    """The engine fails in a game, which it forfeits; the message says how."""


class EngineRefusedError(EngineError):
    """The engine answers with UNKNOWN or ERROR, or with what is no answer."""


class EngineDiedError(EngineError):
    """The engine has ended, or has closed its output."""


class EngineStartError(BotLoadError):
    """No engine can be started from a command, or none that any protocol is known of."""
