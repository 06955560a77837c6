"""What the server refuses: one tree, each class with its status code and reason."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import ClassVar

from grpc import StatusCode as Code

from meijin.wire.contract import COME_BACK


class MeijinError(Exception):
    """A request that can't be served; its message tells the caller what to do.

    `retry_after` is when it might be, where that is known.
    """

    code: ClassVar[Code] = Code.INTERNAL
    reason: ClassVar[str] = "INTERNAL"

    def __init_subclass__(cls, code: Code, reason: str) -> None:
        cls.code, cls.reason = code, reason

    def __init__(self, message: str, retry_after: timedelta | None = None) -> None:
        if retry_after is not None:
            message += f"; {COME_BACK} {math.ceil(retry_after.total_seconds())} s"
        super().__init__(message)
        self.retry_after = retry_after


class InvalidRequestError(MeijinError, code=Code.INVALID_ARGUMENT, reason="INVALID_REQUEST"):
    """A field has a value that it can't have, or the message can't be decoded."""


class NotFoundError(MeijinError, code=Code.NOT_FOUND, reason="NOT_FOUND"):
    """No such bot, tournament, game, ladder or token; or it is somebody else's."""


class NameTakenError(MeijinError, code=Code.ALREADY_EXISTS, reason="NAME_TAKEN"):
    """A bot or an owner of this name is there."""


class UnauthenticatedError(MeijinError, code=Code.UNAUTHENTICATED, reason="UNKNOWN_TOKEN"):
    """The token is missing, unknown, revoked or expired: the same words for all four."""


class NotAllowedError(MeijinError, code=Code.PERMISSION_DENIED, reason="NOT_ALLOWED"):
    """A token that is valid, but not for this."""


class BannedError(MeijinError, code=Code.PERMISSION_DENIED, reason="BANNED"):
    """An operator has banned the bot, for the reason that is told."""


class DisabledError(MeijinError, code=Code.PERMISSION_DENIED, reason="DISABLED"):
    """The bot's owner or an operator keeps it away for a while."""


class LateSubmissionError(MeijinError, code=Code.PERMISSION_DENIED, reason="DEADLINE_PASSED"):
    """After the deadline of its class a bot comes as another version than the one that counts."""


class RegistrationClosedError(
    MeijinError, code=Code.FAILED_PRECONDITION, reason="REGISTRATION_CLOSED"
):
    """Operators alone register bots and make owners on this server."""


class PeopleOffError(MeijinError, code=Code.FAILED_PRECONDITION, reason="PEOPLE_OFF"):
    """No people come to play on this server."""


class HostingOffError(MeijinError, code=Code.FAILED_PRECONDITION, reason="HOSTING_OFF"):
    """No programs are hosted on this server."""

    def __init__(self) -> None:
        super().__init__("this server hosts no programs; its operator may set MEIJIN_HOSTING=true")


class NoRoomError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="NO_ROOM"):
    """The server has no room for a program's bytes."""


class StalledError(MeijinError, code=Code.DEADLINE_EXCEEDED, reason="STALLED"):
    """An upload sends nothing for too long, or takes too long; what is there is kept for a day."""


class InvitationError(MeijinError, code=Code.PERMISSION_DENIED, reason="INVITATION"):
    """The invitation is unknown, used up, expired or revoked: the same words for all four."""


class QuotaError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="QUOTA"):
    """An owner has as many bots or games, or somebody as many tokens or webhooks, as may be."""


class ProtocolError(MeijinError, code=Code.FAILED_PRECONDITION, reason="PROTOCOL"):
    """The stream's first message is no hello, or of another protocol version."""


class WrongStateError(MeijinError, code=Code.FAILED_PRECONDITION, reason="WRONG_STATE"):
    """The tournament or game is not in a state that allows this."""


class UnsureAnchorError(MeijinError, code=Code.FAILED_PRECONDITION, reason="UNSURE_ANCHOR"):
    """Relative to this bot all ratings of a ladder would be unsure."""


class ReplacedError(MeijinError, code=Code.ABORTED, reason="REPLACED"):
    """A newer stream of the same bot took this one's place."""


class TooManyReplacementsError(
    MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="TOO_MANY_REPLACEMENTS"
):
    """Streams of one bot keep taking each other's place."""


class TooManyNoticesError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="TOO_MANY_NOTICES"):
    """The bot sent too many actions that had no effect."""


class MessageTooLargeError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="MESSAGE_TOO_LARGE"):
    """A message is larger than the server takes; none of it is read."""


class TooManyActionsError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="TOO_MANY_ACTIONS"):
    """A message holds far more actions than the bot has games."""


class TooManyMessagesError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="TOO_MANY_MESSAGES"):
    """The bot kept sending messages without effect faster than they are taken."""


class SuspendedError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="SUSPENDED"):
    """A bot comes back too soon after its stream was ended for what it sent."""


class TooManyStreamsError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="TOO_MANY_STREAMS"):
    """The address, or the bot, has as many streams or watchers open as it may."""


class TooManyHellosError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="TOO_MANY_HELLOS"):
    """Too many hellos of one address wait to be let in."""


class TooManySignInsError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="TOO_MANY_SIGN_INS"):
    """Too many wrong tokens came from one address."""


class TooManyRequestsError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="TOO_MANY_REQUESTS"):
    """Too many requests of one address wait to be served."""


class BusyError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="BUSY"):
    """The server has as much of this as it takes; try again later, or ask for less."""


class TooManyVersionsError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="TOO_MANY_VERSIONS"):
    """The bot has, or has had today, as many versions as a bot may have."""


class NotReadingError(MeijinError, code=Code.RESOURCE_EXHAUSTED, reason="NOT_READING"):
    """The peer does not read, or reads too slowly."""


class StoreAwayError(MeijinError, code=Code.UNAVAILABLE, reason="STORE_AWAY"):
    """The database does not answer; try again."""


class UnimplementedError(MeijinError, code=Code.UNIMPLEMENTED, reason="UNIMPLEMENTED"):
    """A method of gRPC's own services that its library leaves out."""


class StoppingError(MeijinError, code=Code.UNAVAILABLE, reason="STOPPING"):
    """The server is stopping; come back."""


@contextmanager
def invalid_request(field: str = "") -> Iterator[None]:
    """Validation of a request's field: what is a `ValueError` inside is the caller's mistake.

    So is a number that is too large to be read.

    Raises:
        InvalidRequestError: there was one; the message names the field, if there is one to name.
    """
    try:
        yield
    except (ValueError, OverflowError) as error:
        raise InvalidRequestError(f"{field}: {error}" if field else str(error)) from None


class CertificateError(Exception):
    """A file is missing, or isn't the certificate or key that it should be."""
