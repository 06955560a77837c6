"""Between the wire's messages about tournaments and our own types."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum

from google.protobuf.message import Message

from meijin.game import TimeControl
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.tournaments.creation import MAX_BOTS, TournamentSettings
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.report import Meeting, TournamentStanding
from meijin.server.views.llr_paths import LlrPath, LlrPoint
from meijin.server.views.tournaments import CrosstableCell, TournamentDetail, TournamentSummary
from meijin.store.schema import BotId, FormatName, TournamentState
from meijin.store.tournaments import TournamentRow
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import (
    Options,
    adjudication_from_proto,
    adjudication_to_proto,
    detail_field,
    format_from_proto,
    format_to_proto,
    options_from_proto,
    set_field,
    set_options,
    time_control_from_proto,
    time_control_to_proto,
    time_to_proto,
    variant_from_proto,
    variant_to_proto,
)
from meijin.wire.enums import enum_table

TOURNAMENT_STATES: Mapping[TournamentState, pb.TournamentState.ValueType] = {
    **enum_table(set(TournamentState) - {TournamentState.PLANNING}, pb.TournamentState)
}
"""Nobody is told of one in planning."""

Names = Mapping[BotId, str]


def settings_from_proto(message: pb.TournamentSettings) -> TournamentSettings:
    """What a request asks a tournament to be.

    Raises:
        InvalidRequestError: a field has a value that it can't have.
    """
    name, options = _requested_format(message)
    with invalid_request("variant"):
        variant = variant_from_proto(message.variant)
    with invalid_request("time_controls"):
        controls = tuple(map(time_control_from_proto, message.time_controls))
    with invalid_request("time_control"):
        time_control = controls[0] if controls else time_control_from_proto(message.time_control)
    with invalid_request("adjudication"):
        rules = message.adjudication if message.HasField("adjudication") else None
        adjudication = None if rules is None else adjudication_from_proto(rules)
    return TournamentSettings(
        name=message.name,
        format=name,
        options=options,
        bots=tuple(message.bots),
        rounds=message.rounds,
        variant=variant,
        time_control=time_control,
        seed=message.seed,
        openings=tuple(message.openings),
        max_games=message.max_games,
        is_rated=not message.unrated,
        time_controls=controls if len(set(controls)) > 1 else (),
        adjudication=adjudication,
        max_faults=message.max_faults,
    )


def _requested_format(message: pb.TournamentSettings) -> tuple[FormatName, Options | None]:
    with invalid_request():
        name = FormatName(format_from_proto(message.format))
        options = options_from_proto(message, name)
    if name not in FORMATS:
        raise InvalidRequestError(f"no tournament format {name}")
    return name, options


def tournament_to_proto(
    found: TournamentSummary, waiting_for: str = "", *, with_openings: bool = True
) -> pb.Tournament:
    """A tournament and how far it is."""
    row = found.row
    message = pb.Tournament(
        tournament_id=str(row.id),
        settings=_settings(row, with_openings=with_openings),
        state=TOURNAMENT_STATES[row.state],
        planned_games=found.planned_games,
        finished_games=row.finished,
        running_games=row.running,
        ladder=row.ladder,
        create_time=time_to_proto(row.create_time),
        waiting_for=waiting_for,
        verdict=row.verdict,
        may_end_early=found.may_end_early,
        final_run="" if found.final_run is None else str(found.final_run),
    )
    if found.detail is not None:
        fill(getattr(message, detail_field(message, row.format)), found.detail)
    if row.end_time is not None:
        message.end_time.CopyFrom(time_to_proto(row.end_time))
    return message


def _settings(row: TournamentRow, *, with_openings: bool) -> pb.TournamentSettings:
    message = pb.TournamentSettings(
        name=row.name,
        bots=[name for _, name in row.bots[:MAX_BOTS]],
        format=format_to_proto(row.format),
        rounds=row.rounds,
        variant=variant_to_proto(row.variant),
        time_control=time_control_to_proto(row.time_control),
        seed=row.seed,
        openings=row.openings if with_openings else (),
        max_games=row.max_games,
        unrated=row.ladder_id is None,
        time_controls=map(time_control_to_proto, _controls(row)),
        max_faults=row.max_faults,
    )
    if row.adjudication is not None:
        message.adjudication.CopyFrom(adjudication_to_proto(row.adjudication))
    if row.options is not None:
        set_options(message, row.format, row.options)
    return message


def _controls(row: TournamentRow) -> Sequence[TimeControl]:
    """Those of the bots in their order; none where all have the same."""
    return [row.time_controls[bot_id] for bot_id, _ in row.bots] if row.time_controls else []


def fill(message: Message, value: object) -> None:
    """Write a dataclass into the message that has its fields."""
    assert is_dataclass(value)
    message.SetInParent()
    for field in fields(value):
        part = getattr(value, field.name)
        if is_dataclass(part):
            fill(getattr(message, field.name), part)
        elif isinstance(part, tuple):
            getattr(message, field.name).extend(part)
        elif part is not None:
            set_field(message, field.name, part.name if isinstance(part, Enum) else part)


def detail_to_proto(detail: TournamentDetail) -> pb.GetTournamentResponse:
    """How the bots of a tournament stand and have met; without the tournament itself."""
    names = dict(detail.summary.row.bots)
    return pb.GetTournamentResponse(
        standings=[_standing(standing, names) for standing in detail.standings],
        meetings=[_meeting(meeting, names) for meeting in detail.meetings],
        crosstable=[_cell(cell) for cell in detail.crosstable],
        faults=[pb.FaultCount(bot=line.bot, faults=line.faults) for line in detail.faults],
    )


def _cell(cell: CrosstableCell) -> pb.CrosstableCell:
    return pb.CrosstableCell(
        bot=cell.bot,
        opponent=cell.opponent,
        wins=cell.wins,
        draws=cell.draws,
        losses=cell.losses,
    )


def _standing(standing: TournamentStanding, names: Names) -> pb.TournamentStanding:
    return pb.TournamentStanding(
        rank=standing.rank,
        bot=names[standing.bot_id],
        points=standing.points,
        games=standing.games,
        wins=standing.wins,
        draws=standing.draws,
        losses=standing.losses,
        tie_breaks=[pb.TieBreak(name=each.name, value=each.value) for each in standing.tie_breaks],
        note=standing.note,
    )


def _meeting(meeting: Meeting, names: Names) -> pb.Meeting:
    return pb.Meeting(
        round=meeting.round,
        number=meeting.number,
        first=_name(meeting.first, names),
        second=_name(meeting.second, names),
        first_points=meeting.first_points,
        second_points=meeting.second_points,
        winner=_name(meeting.winner, names),
        next=meeting.next,
        bye=meeting.is_bye,
        over=meeting.is_over,
        note=meeting.note,
    )


def llr_path_to_proto(path: LlrPath) -> pb.ListTestPointsResponse:
    """How the ratio of a test moved."""
    return pb.ListTestPointsResponse(
        points=map(_point, path.points), lower=path.lower, upper=path.upper
    )


def _point(point: LlrPoint) -> pb.TestPoint:
    message = pb.TestPoint(games=point.games, llr=point.llr, time=time_to_proto(point.time))
    if point.estimate is not None:
        message.elo = point.estimate.elo
        message.elo_low, message.elo_high = point.estimate.elo_low, point.estimate.elo_high
    return message


def _name(bot_id: BotId | None, names: Names) -> str:
    return "" if bot_id is None else names[bot_id]
