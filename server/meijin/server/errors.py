"""What the server refuses: one tree, each class with its status code and reason."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import ClassVar

import grpc


class MeijinError(Exception):
    """A request that can't be served; its message tells the caller what to do.

    `retry_after` is when it might be, where that is known.
    """

    code: ClassVar[grpc.StatusCode] = grpc.StatusCode.INTERNAL
    reason: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, retry_after: timedelta | None = None) -> None:
        if retry_after is not None:
            message += f"; come back in {math.ceil(retry_after.total_seconds())} s"
        super().__init__(message)
        self.retry_after = retry_after


class InvalidRequestError(MeijinError):
    """A field has a value that it can't have, or the message can't be decoded."""

    code = grpc.StatusCode.INVALID_ARGUMENT
    reason = "INVALID_REQUEST"


class NotFoundError(MeijinError):
    """No such bot, tournament, game, ladder or token; or it is somebody else's."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "NOT_FOUND"


class NameTakenError(MeijinError):
    """A bot or an owner of this name is there."""

    code = grpc.StatusCode.ALREADY_EXISTS
    reason = "NAME_TAKEN"


class UnauthenticatedError(MeijinError):
    """The token is missing, unknown, revoked or expired: the same words for all four."""

    code = grpc.StatusCode.UNAUTHENTICATED
    reason = "UNKNOWN_TOKEN"


class NotAllowedError(MeijinError):
    """A token that is valid, but not for this."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "NOT_ALLOWED"


class BannedError(MeijinError):
    """An operator has banned the bot, for the reason that is told."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "BANNED"


class DisabledError(MeijinError):
    """The bot's owner or an operator keeps it away for a while."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "DISABLED"


class LateSubmissionError(MeijinError):
    """After the deadline of its class a bot comes as another version than the one that counts."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "DEADLINE_PASSED"


class RegistrationClosedError(MeijinError):
    """Operators alone register bots and make owners on this server."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "REGISTRATION_CLOSED"


class PeopleOffError(MeijinError):
    """No people come to play on this server."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "PEOPLE_OFF"


class InvitationError(MeijinError):
    """The invitation is unknown, used up, expired or revoked: the same words for all four."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "INVITATION"


class QuotaError(MeijinError):
    """An owner has as many bots or games, or somebody as many tokens or webhooks, as may be."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "QUOTA"


class ProtocolError(MeijinError):
    """The stream's first message is no hello, or of another protocol version."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "PROTOCOL"


class WrongStateError(MeijinError):
    """The tournament or game is not in a state that allows this."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "WRONG_STATE"


class ReplacedError(MeijinError):
    """A newer stream of the same bot took this one's place."""

    code = grpc.StatusCode.ABORTED
    reason = "REPLACED"


class TooManyReplacementsError(MeijinError):
    """Streams of one bot keep taking each other's place."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_REPLACEMENTS"


class TooManyNoticesError(MeijinError):
    """The bot sent too many actions that had no effect."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_NOTICES"


class MessageTooLargeError(MeijinError):
    """A message is larger than the server takes; none of it is read."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "MESSAGE_TOO_LARGE"


class TooManyActionsError(MeijinError):
    """A message holds far more actions than the bot has games."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_ACTIONS"


class TooManyMessagesError(MeijinError):
    """The bot kept sending messages without effect faster than they are taken."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_MESSAGES"


class SuspendedError(MeijinError):
    """A bot comes back too soon after its stream was ended for what it sent."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "SUSPENDED"


class TooManyStreamsError(MeijinError):
    """The address, or the bot, has as many streams or watchers open as it may."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_STREAMS"


class TooManyHellosError(MeijinError):
    """Too many hellos of one address wait to be let in."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_HELLOS"


class TooManySignInsError(MeijinError):
    """Too many wrong tokens came from one address."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_SIGN_INS"


class TooManyRequestsError(MeijinError):
    """Too many requests of one address wait to be served."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_REQUESTS"


class BusyError(MeijinError):
    """The server has as much of this as it takes; try again later, or ask for less."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "BUSY"


class TooManyVersionsError(MeijinError):
    """The bot has, or has had today, as many versions as a bot may have."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_VERSIONS"


class NotReadingError(MeijinError):
    """The peer does not read, or reads too slowly."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "NOT_READING"


class StoreAwayError(MeijinError):
    """The database does not answer; try again."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "STORE_AWAY"


class UnimplementedError(MeijinError):
    """A method of gRPC's own services that its library leaves out."""

    code = grpc.StatusCode.UNIMPLEMENTED
    reason = "UNIMPLEMENTED"


class StoppingError(MeijinError):
    """The server is stopping; come back."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "STOPPING"


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
