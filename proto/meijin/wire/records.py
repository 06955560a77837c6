"""Games as records: the contract's games in the words of files."""

from datetime import timedelta

from google.protobuf.duration_pb2 import Duration

from meijin.game import Analysis, Choose, Decision, Declare, GameRecord, Offer, Variant
from meijin.game.records.analysis import cells_on_board
from meijin.v1 import game_pb2
from meijin.wire.mapping import from_message
from meijin.wire.values import analysis_from_proto, color_from_proto, variant_from_proto


def record_from_proto(message: game_pb2.Game) -> GameRecord:
    """Read a game with its moves as a record; its event is its tournament.

    Raises:
        ValueError: a value can't be, or was added by a later release.
    """
    variant, moves = variant_from_proto(message.variant), message.moves
    return from_message(
        message,
        GameRecord,
        moves=tuple(move.cell for move in moves),
        times=tuple(_microseconds(move.charged_time) for move in moves),
        raw_times=tuple(_microseconds(move.raw_time) for move in moves),
        cpu_times=tuple(
            _microseconds(move.cpu_time) if move.HasField("cpu_time") else None for move in moves
        ),
        analysis=tuple(_analysis(move, variant) for move in moves),
        event=f"tournament {message.tournament_id}",
        decisions=tuple(map(_decision, message.decisions)),
    )


def decision_times(message: game_pb2.Game) -> list[timedelta]:
    """What each decision of the opening was charged."""
    return [_microseconds(decision.charged_time) for decision in message.decisions]


def _decision(message: game_pb2.OpeningDecision) -> Decision:
    if message.declared:
        return Decision(message.ply, Declare(message.declared))
    if message.offered:
        return Decision(message.ply, Offer(tuple(message.offered)))
    return Decision(message.ply, Choose(color_from_proto(message.color)))


def _analysis(move: game_pb2.Move, variant: Variant) -> Analysis | None:
    if not move.HasField("analysis"):
        return None
    found = analysis_from_proto(move.analysis)
    return Analysis(found.score, found.depth, found.nodes, cells_on_board(found.pv, variant))


def _microseconds(message: Duration) -> timedelta:
    return timedelta(microseconds=message.ToNanoseconds() // 1000)
