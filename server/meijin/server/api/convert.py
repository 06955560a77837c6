"""Converters: between the wire's messages and our own types."""

from collections.abc import Iterable
from datetime import timedelta

from meijin.game import (
    TimeControl,
    Variant,
    decode_moves,
)
from meijin.server.api.convert_sprt import sprt_to_proto, standing_to_proto
from meijin.server.api.requests import requested
from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats.ladder_plan import LadderPlan
from meijin.server.tournaments.formats.schedule import MAX_GAMES
from meijin.server.tournaments.formats.sprt_plan import SprtPlan
from meijin.store.schema import TournamentFormat, TournamentState
from meijin.store.tournaments import TournamentRow
from meijin.v1 import game_pb2, tournament_service_pb2
from meijin.wire import (
    contract,
    time_control_from_proto,
    time_control_to_proto,
    time_to_proto,
    variant_from_proto,
    variant_to_proto,
)
from meijin.wire.enums import enum_table

MAX_INCREMENT = timedelta(hours=4)
"""A clock is told in milliseconds of 32 bits, 49 days: 7 to begin with and 241 increments."""

TOURNAMENT_STATES = enum_table(TournamentState, tournament_service_pb2.TournamentState)
FORMATS = enum_table(TournamentFormat, tournament_service_pb2.TournamentFormat)


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


# -- tournaments and ladders ------------------------------------------------------


def tournament_to_proto(
    row: TournamentRow, waiting_for: str = "", *, with_openings: bool = True
) -> tournament_service_pb2.Tournament:
    """A tournament and how far it is."""
    plan, ladder = SprtPlan.of(row), LadderPlan.of(row)
    message = tournament_service_pb2.Tournament(
        tournament_id=str(row.id),
        settings=tournament_service_pb2.TournamentSettings(
            name=row.name,
            bots=[name for _, name in row.bots],
            format=FORMATS[row.format],
            rounds=row.rounds,
            variant=variant_to_proto(row.variant),
            time_control=time_control_to_proto(row.time_control),
            seed=row.seed,
            openings=row.openings if with_openings else (),
            max_games=row.max_games,
            unrated=row.ladder_id is None,
            sprt=None if plan is None else sprt_to_proto(plan),
            ladder=None if ladder is None else ladder_run_to_proto(ladder),
        ),
        state=TOURNAMENT_STATES[row.state],
        planned_games=row.planned,
        finished_games=row.finished,
        running_games=row.running,
        ladder=row.ladder,
        create_time=time_to_proto(row.create_time),
        waiting_for=waiting_for,
        verdict=row.verdict,
    )
    if plan is not None and row.counts is not None:
        message.sprt.CopyFrom(standing_to_proto(plan, plan.standing(row.counts)))
    if row.end_time is not None:
        message.end_time.CopyFrom(time_to_proto(row.end_time))
    return message


def requested_ladder(message: tournament_service_pb2.LadderRun) -> LadderPlan:
    """What is to end a continuous ladder.

    Raises:
        InvalidRequestError: it can't be what it says.
    """
    if not 0 <= message.confidence < 1:
        raise InvalidRequestError(f"ladder.confidence {message.confidence:g} is not in 0 to 1")
    if message.most_games > MAX_GAMES:
        raise InvalidRequestError(f"ladder.most_games {message.most_games} is above {MAX_GAMES}")
    return LadderPlan(message.confidence, message.most_games)


def ladder_run_to_proto(plan: LadderPlan) -> tournament_service_pb2.LadderRun:
    """What ends a continuous ladder."""
    return tournament_service_pb2.LadderRun(confidence=plan.confidence, most_games=plan.most_games)


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
