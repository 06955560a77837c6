"""What the server refuses: one tree, each class with its status code and reason."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import grpc


class MeijinError(Exception):
    """A request that can't be served; its message tells the caller what to do."""

    code: ClassVar[grpc.StatusCode] = grpc.StatusCode.INTERNAL
    reason: ClassVar[str] = "INTERNAL"


class InvalidRequestError(MeijinError):
    """A field has a value that it can't have, or the message can't be decoded."""

    code = grpc.StatusCode.INVALID_ARGUMENT
    reason = "INVALID_REQUEST"


class NotFoundError(MeijinError):
    """No such bot, tournament, game or ladder."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "NOT_FOUND"


class NameTakenError(MeijinError):
    """A bot of this name is registered."""

    code = grpc.StatusCode.ALREADY_EXISTS
    reason = "NAME_TAKEN"


class UnauthenticatedError(MeijinError):
    """The token is missing, unknown or revoked: the same words for all three."""

    code = grpc.StatusCode.UNAUTHENTICATED
    reason = "UNKNOWN_TOKEN"


class NotAllowedError(MeijinError):
    """A token that is valid, but not for this."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "NOT_ALLOWED"


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


class TooManyNoticesError(MeijinError):
    """The bot sent too many actions that had no effect."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_NOTICES"


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

    Raises:
        InvalidRequestError: there was one; the message names the field, if there is one to name.
    """
    try:
        yield
    except ValueError as error:
        raise InvalidRequestError(f"{field}: {error}" if field else str(error)) from None
