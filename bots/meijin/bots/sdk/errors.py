"""Errors between a bot and the arena."""

import grpc


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

    advice = "register the bot and give its token with --token, in MEIJIN_TOKEN or as token=..."


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
