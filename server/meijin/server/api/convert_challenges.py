"""Converters of challenges: requests in, challenges out."""

from meijin.server.access.challenges import ChallengeRequest
from meijin.server.api.convert_tournaments import TOURNAMENT_STATES
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.store.challenges import ChallengeRow
from meijin.store.schema import ChallengeColors
from meijin.v1 import challenge_service_pb2 as pb
from meijin.wire import (
    time_control_from_proto,
    time_control_to_proto,
    time_to_proto,
    variant_from_proto,
    variant_to_proto,
)
from meijin.wire.enums import enum_table

_COLORS = enum_table(ChallengeColors, pb.ChallengeColors)
_COLORS_BY_VALUE = {
    pb.CHALLENGE_COLORS_UNSPECIFIED: ChallengeColors.ALTERNATE,
    **{value: colors for colors, value in _COLORS.items()},
}


def request_from_proto(request: pb.CreateChallengeRequest) -> ChallengeRequest:
    """What a challenge is asked to be.

    Raises:
        InvalidRequestError: a field has a value that it can't have.
    """
    settings = request.settings
    with invalid_request("variant"):
        variant = variant_from_proto(settings.variant)
    with invalid_request("time_control"):
        time_control = time_control_from_proto(settings.time_control)
    other = time_control
    if settings.HasField("opponent_time_control"):
        with invalid_request("opponent_time_control"):
            other = time_control_from_proto(settings.opponent_time_control)
    if settings.colors not in _COLORS_BY_VALUE:
        raise InvalidRequestError(f"colors: there is no {settings.colors}")
    return ChallengeRequest(
        opponent=request.opponent,
        challenger=request.challenger,
        games=settings.games or 1,
        variant=variant,
        time_control=time_control,
        opponent_time_control=other,
        colors=_COLORS_BY_VALUE[settings.colors],
        openings=tuple(settings.openings),
        is_dealt=settings.server_openings,
        request_id=request.request_id,
    )


def challenge_to_proto(row: ChallengeRow, waiting_for: str, *, is_mine: bool) -> pb.Challenge:
    """A challenge and how far it is."""
    message = pb.Challenge(
        challenge_id=str(row.id),
        challenger=row.challenger,
        opponent=row.opponent,
        owner=row.owner,
        by_person=row.is_by_person,
        settings=_settings(row),
        state=TOURNAMENT_STATES[row.state],
        finished_games=row.finished,
        running_games=row.running,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
        waiting_for=waiting_for,
        create_time=time_to_proto(row.create_time),
        mine=is_mine,
    )
    if row.end_time is not None:
        message.end_time.CopyFrom(time_to_proto(row.end_time))
    return message


def _settings(row: ChallengeRow) -> pb.ChallengeSettings:
    message = pb.ChallengeSettings(
        games=row.games,
        variant=variant_to_proto(row.variant),
        time_control=time_control_to_proto(row.time_control),
        colors=_COLORS[row.colors],
        openings=[opening for opening in row.openings if opening],
        server_openings=not row.openings,
    )
    if row.opponent_time_control != row.time_control:
        message.opponent_time_control.CopyFrom(time_control_to_proto(row.opponent_time_control))
    return message
