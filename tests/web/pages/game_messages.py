"""Games as the server tells of them, made of records."""

from datetime import UTC, datetime

from meijin.game import Choose, Declare, Ending, GameRecord, Offer
from meijin.v1 import game_pb2
from meijin.wire.mapping import to_message
from meijin.wire.values import (
    analysis_to_proto,
    color_to_proto,
    outcome_to_proto,
    time_control_to_proto,
    time_to_proto,
    variant_to_proto,
)

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def game_message(record: GameRecord) -> game_pb2.Game:
    """A game that has ended, or a running one where the record has no outcome."""
    message = game_pb2.Game(
        game_id=record.game_id or "17",
        tournament_id="5",
        tournament_name="cup",
        ladder="freestyle-15x15-blitz",
        black=record.black,
        white=record.white,
        black_version=record.black_version,
        white_version=record.white_version,
        black_engine=to_message(record.black_engine, game_pb2.GameEngine),
        white_engine=to_message(record.white_engine, game_pb2.GameEngine),
        pair=record.pair,
        round=record.round,
        seed=record.seed,
        release=record.release,
        variant=variant_to_proto(record.variant),
        state=game_pb2.GAME_STATE_RUNNING,
        opening_plies=record.opening_plies,
        ply=len(record.moves),
        start_time=time_to_proto(NOON),
    )
    if record.time_control is not None:
        message.time_control.CopyFrom(time_control_to_proto(record.time_control))
    if record.outcome is not None:
        message.outcome.CopyFrom(outcome_to_proto(record.outcome))
        is_void = record.outcome.ending is Ending.VOID
        message.state = game_pb2.GAME_STATE_VOID if is_void else game_pb2.GAME_STATE_FINISHED
        message.end_time.CopyFrom(time_to_proto(record.end_time or NOON))
    for ply, action in record.decisions:
        match action:
            case Choose(color):
                message.decisions.add(ply=ply, color=color_to_proto(color))
            case Declare(offers):
                message.decisions.add(ply=ply, declared=offers)
            case Offer(cells):
                message.decisions.add(ply=ply, offered=cells)
    message.moves.extend(_move(record, ply) for ply in range(len(record.moves)))
    return message


def _move(record: GameRecord, ply: int) -> game_pb2.Move:
    move = game_pb2.Move(cell=record.moves[ply])
    if record.times and ply >= record.opening_plies:
        move.charged_time.FromTimedelta(record.times[ply])
        move.raw_time.FromTimedelta(record.raw_times[ply])
    said = record.analysis[ply] if record.analysis else None
    if said is not None:
        move.analysis.CopyFrom(analysis_to_proto(said))
    return move
