"""Messages of records that several services answer with; what differs from the record's names."""

import json
from dataclasses import asdict

from google.protobuf.message import Message

from meijin.game import TimeControl
from meijin.ladder.posterior import outcomes_of
from meijin.ladder.statistics.fit.bradley_terry import Prior
from meijin.server.tournaments.creation import MAX_BOTS
from meijin.server.views.tournaments import TournamentSummary
from meijin.store.faults import FaultRow
from meijin.store.programs.programs import ProgramRow
from meijin.store.schema import RatingRun, WebhookEvent
from meijin.store.tournaments import TournamentRow
from meijin.store.webhooks.hooks import WebhookRow
from meijin.v1 import fault_service_pb2, hosting_service_pb2, webhook_service_pb2
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.wire.formats import detail_field, format_names, set_options
from meijin.wire.mapping import to_message


def fault_to_proto(fault: FaultRow) -> fault_service_pb2.Fault:
    """An entry of the ledger; of its evidence a traceback has a field of its own."""
    evidence = dict(fault.evidence)
    traceback = evidence.pop("traceback", "")
    message = to_message(fault, fault_service_pb2.Fault, evidence=None, traceback=traceback)
    message.evidence.update(evidence)
    return message


def run_to_proto(run: RatingRun) -> ladder_pb.RatingRun:
    found = run.parameters
    return to_message(
        run,
        ladder_pb.RatingRun,
        advantage=found.advantage,
        draws=found.draws,
        draw_slope=found.draw_slope,
        draw_slope_is_sure=found.draw_slope_is_sure,
        draw_level=found.draw_level,
        score_at_100=float(outcomes_of(found).score_with_both(100.0)),
        parameters=json.dumps(asdict(found), sort_keys=True),
        lineage_deviation=None if found.lineage == Prior().lineage else found.lineage,
        opening_deviation=found.openings,
        opening_is_sure=found.opening_is_sure,
        overdispersion=None if found.factor is None else found,
        fit=found.diagnosis,
    )


def tournament_to_proto(
    found: TournamentSummary, waiting_for: str = "", *, with_openings: bool = True
) -> tournament_pb.Tournament:
    row = found.row
    details = _of_formats(tournament_pb.Tournament())
    if found.detail is not None:
        details[detail_field(tournament_pb.Tournament(), row.format)] = found.detail
    return to_message(
        row,
        tournament_pb.Tournament,
        settings=_settings(row, with_openings=with_openings),
        planned_games=found.planned_games,
        finished_games=row.finished,
        running_games=row.running,
        waiting_for=waiting_for,
        may_end_early=found.may_end_early,
        final_run=found.final_run,
        leader=None,  # lists add it
        leader_points=None,
        **details,
    )


def _settings(row: TournamentRow, *, with_openings: bool) -> tournament_pb.TournamentSettings:
    message = to_message(
        row,
        tournament_pb.TournamentSettings,
        bots=[name for _, name in row.bots[:MAX_BOTS]],
        openings=row.openings if with_openings else (),
        unrated=row.ladder_id is None,
        time_controls=_controls(row),
        **_of_formats(tournament_pb.TournamentSettings()),
    )
    if row.options is not None:
        set_options(message, row.format, row.options)
    return message


def _of_formats(message: Message) -> dict[str, object]:
    """The fields that only a format has, none of them set."""
    names = (detail_field(message, name) for name in format_names())
    return {name: None for name in names if name in message.DESCRIPTOR.fields_by_name}


def _controls(row: TournamentRow) -> list[TimeControl]:
    """Those of the bots in their order; none where all have the same."""
    return [row.time_controls[bot_id] for bot_id, _ in row.bots] if row.time_controls else []


def program_to_proto(row: ProgramRow, *, with_findings: bool = True) -> hosting_service_pb2.Program:
    message = to_message(row, hosting_service_pb2.Program, findings=None)
    if with_findings:
        message.findings.extend(
            to_message(each, hosting_service_pb2.Finding) for each in row.findings
        )
    return message


def webhook_to_proto(row: WebhookRow) -> webhook_service_pb2.Webhook:
    return to_message(row, webhook_service_pb2.Webhook, events=map(WebhookEvent, row.events))
