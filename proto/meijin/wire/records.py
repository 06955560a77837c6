"""Games as records: the contract's games in the words of files."""

from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from meijin.game import Analysis, GameRecord, SideChoice, decode_moves, encode_moves
from meijin.game.records.analysis import cells_on_board
from meijin.v1 import game_pb2
from meijin.wire.values import (
    color_from_proto,
    outcome_from_proto,
    time_control_from_proto,
    variant_from_proto,
)


def analysis_to_proto(analysis: Analysis) -> game_pb2.MoveAnalysis:
    """Write what a bot thought of a move."""
    return game_pb2.MoveAnalysis(
        score=analysis.score,
        depth=analysis.depth,
        nodes=analysis.nodes,
        pv=encode_moves(analysis.pv),
    )


def analysis_from_proto(message: game_pb2.MoveAnalysis) -> Analysis:
    """Read what a bot thought of a move.

    Raises:
        ValueError: the principal variation is no list of moves.
    """
    pv = tuple(decode_moves(message.pv))
    return Analysis(message.score, message.depth, message.nodes, pv)


def record_from_proto(message: game_pb2.Game) -> GameRecord:
    """Read a game with its moves as a record; its event is its tournament.

    Raises:
        ValueError: a value can't be, or was added by a later release.
    """
    variant = variant_from_proto(message.variant)
    has_end = message.HasField("outcome")
    choice = message.choice if message.HasField("choice") else None
    return GameRecord(
        variant=variant,
        black=message.black,
        white=message.white,
        moves=tuple(move.cell for move in message.moves),
        times=tuple(_microseconds(move.charged_time.ToNanoseconds()) for move in message.moves),
        raw_times=tuple(_microseconds(move.raw_time.ToNanoseconds()) for move in message.moves),
        analysis=tuple(_analysis(move, message) for move in message.moves),
        opening_plies=message.opening_plies,
        time_control=time_control_from_proto(message.time_control),
        outcome=outcome_from_proto(message.outcome) if has_end else None,
        start_time=_time(message.start_time) if message.HasField("start_time") else None,
        end_time=_time(message.end_time) if message.HasField("end_time") else None,
        event=f"tournament {message.tournament_id}",
        game_id=message.game_id,
        choice=None if choice is None else SideChoice(choice.ply, color_from_proto(choice.color)),
        black_version=message.black_version,
        white_version=message.white_version,
        white_time_control=time_control_from_proto(message.white_time_control)
        if message.HasField("white_time_control")
        else None,
    )


def _analysis(move: game_pb2.Move, game: game_pb2.Game) -> Analysis | None:
    if not move.HasField("analysis"):
        return None
    found = analysis_from_proto(move.analysis)
    pv = cells_on_board(found.pv, variant_from_proto(game.variant))
    return Analysis(found.score, found.depth, found.nodes, pv)


def _microseconds(nanoseconds: int) -> timedelta:
    return timedelta(microseconds=nanoseconds // 1000)


def _time(message: Timestamp) -> datetime:
    return message.ToDatetime(UTC)
