"""Converters: between the wire's messages and our own types."""

from collections.abc import Iterable
from datetime import timedelta

from meijin.game import (
    TimeControl,
    Variant,
    decode_moves,
)
from meijin.server.api.requests import requested
from meijin.server.errors import InvalidRequestError
from meijin.v1 import game_pb2
from meijin.wire import (
    contract,
    time_control_from_proto,
    variant_from_proto,
)

MAX_INCREMENT = timedelta(hours=4)
"""A clock is told in milliseconds of 32 bits, 49 days: 7 to begin with and 241 increments."""


# -- values -----------------------------------------------------------------------


def requested_variant(message: game_pb2.Variant) -> Variant:
    """The variant that a request asks for.

    Raises:
        InvalidRequestError: there is no such board.
    """
    return requested("variant", variant_from_proto, message)


def requested_time_control(message: game_pb2.TimeControl) -> TimeControl:
    """The time control that a request asks for.

    Raises:
        InvalidRequestError: no limit, or one that is out of range.
    """
    control = requested("time_control", time_control_from_proto, message)
    if control.increment > MAX_INCREMENT:
        raise InvalidRequestError(
            f"time_control: increment {control.increment} is above {MAX_INCREMENT}"
        )
    return control


def openings_from_proto(openings: Iterable[bytes]) -> tuple[tuple[int, ...], ...]:
    """Openings as cells.

    Raises:
        InvalidRequestError: one has an odd number of bytes.
    """
    try:
        return tuple(tuple(decode_moves(opening)) for opening in openings)
    except ValueError as error:
        raise InvalidRequestError(f"openings: {error}") from None


def check_bot_name(name: str) -> None:
    """Accept a name that may be given to a bot.

    Raises:
        InvalidRequestError: it may not.
    """
    try:
        contract.check_bot_name(name)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None
