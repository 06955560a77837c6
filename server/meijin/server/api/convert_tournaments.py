"""Between the wire's messages about tournaments and our own types."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from google.protobuf.message import Message

from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.report import Meeting, Report, TournamentStanding
from meijin.server.views.tournaments import CrosstableCell
from meijin.store.schema import BotId, FormatName, TournamentState
from meijin.store.tournaments import TournamentRow
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import (
    Options,
    format_field,
    format_from_proto,
    format_to_proto,
    options_from_proto,
    set_field,
    set_options,
    time_control_to_proto,
    time_to_proto,
    variant_to_proto,
)
from meijin.wire.enums import enum_table

TOURNAMENT_STATES = enum_table(TournamentState, pb.TournamentState)

Names = Mapping[BotId, str]


def requested_format(settings: pb.TournamentSettings) -> tuple[FormatName, Options | None]:
    """The format that a request asks for, and the settings of the format's own.

    Raises:
        InvalidRequestError: there is no such format, or its settings are another one's.
    """
    try:
        name = FormatName(format_from_proto(settings.format))
        options = options_from_proto(settings, name)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None
    if name not in FORMATS:
        raise InvalidRequestError(f"no tournament format {name}")
    return name, options


def tournament_to_proto(
    row: TournamentRow,
    detail: object | None = None,
    waiting_for: str = "",
    *,
    with_openings: bool = True,
) -> pb.Tournament:
    """A tournament and how far it is.

    Args:
        detail: What only its format tells; see `Format.detail`.
    """
    form = FORMATS[row.format]
    message = pb.Tournament(
        tournament_id=str(row.id),
        settings=_settings(row, with_openings=with_openings),
        state=TOURNAMENT_STATES[row.state],
        planned_games=form.planned_games(row),
        finished_games=row.finished,
        running_games=row.running,
        ladder=row.ladder,
        create_time=time_to_proto(row.create_time),
        waiting_for=waiting_for,
        verdict=row.verdict,
        may_end_early=form.MAY_END_EARLY,
    )
    if detail is not None:
        fill(getattr(message, format_field(row.format)), detail)
    if row.end_time is not None:
        message.end_time.CopyFrom(time_to_proto(row.end_time))
    return message


def _settings(row: TournamentRow, *, with_openings: bool) -> pb.TournamentSettings:
    message = pb.TournamentSettings(
        name=row.name,
        bots=[name for _, name in row.bots],
        format=format_to_proto(row.format),
        rounds=row.rounds,
        variant=variant_to_proto(row.variant),
        time_control=time_control_to_proto(row.time_control),
        seed=row.seed,
        openings=row.openings if with_openings else (),
        max_games=row.max_games,
        unrated=row.ladder_id is None,
    )
    if row.options is not None:
        set_options(message, row.format, row.options)
    return message


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


def crosstable_to_proto(cells: Iterable[CrosstableCell]) -> list[pb.CrosstableCell]:
    """What every bot scored against every other."""
    return [
        pb.CrosstableCell(
            bot=cell.bot,
            opponent=cell.opponent,
            wins=cell.wins,
            draws=cell.draws,
            losses=cell.losses,
        )
        for cell in cells
    ]


def standings_to_proto(report: Report, names: Names) -> list[pb.TournamentStanding]:
    """How the bots stand."""
    return [_standing(standing, names) for standing in report.standings]


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


def meetings_to_proto(report: Report, names: Names) -> list[pb.Meeting]:
    """Who meets whom, round by round."""
    return [_meeting(meeting, names) for meeting in report.meetings]


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


def _name(bot_id: BotId | None, names: Names) -> str:
    return "" if bot_id is None else names[bot_id]
