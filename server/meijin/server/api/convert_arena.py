"""Converters of running games as they are told again and again: views in, messages out."""

from google.protobuf.timestamp_pb2 import Timestamp

from meijin.game import encode_moves
from meijin.server.api.convert_games import game_detail_to_proto
from meijin.server.views.arena import GameUpdate, LiveClocks
from meijin.server.views.games import GameDetail
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.wire import analysis_to_proto, color_to_proto

NS_PER_MS = 1_000_000


def update_to_proto(update: GameUpdate) -> pb.GameUpdate:
    """What has changed in a game."""
    message = pb.GameUpdate(
        game_id=str(update.id), ply=update.ply, moves=encode_moves(update.cells)
    )
    if update.summary is not None:
        whole = GameDetail(update.summary, (), update.choice)
        message.game.CopyFrom(game_detail_to_proto(whole))
    if update.clocks is not None:
        message.clocks.CopyFrom(_clocks_to_proto(update.clocks))
    for evaluation in update.evaluations:
        is_black = evaluation.ply % 2 == 0
        side = message.black_evaluation if is_black else message.white_evaluation
        side.ply = evaluation.ply
        side.analysis.CopyFrom(analysis_to_proto(evaluation.analysis))
    return message


def _clocks_to_proto(clocks: LiveClocks) -> pb.Clocks:
    running = clocks.running
    return pb.Clocks(
        black_ms=clocks.black_ns // NS_PER_MS,
        white_ms=clocks.white_ns // NS_PER_MS,
        running=game_pb2.COLOR_UNSPECIFIED if running is None else color_to_proto(running),
    )


def updates_to_proto(
    updates: list[pb.GameUpdate], *, is_last: bool, running: int
) -> pb.WatchArenaResponse:
    """A message of updates, as of now."""
    time = Timestamp()
    time.GetCurrentTime()
    return pb.WatchArenaResponse(time=time, games=updates, more=not is_last, running=running)
