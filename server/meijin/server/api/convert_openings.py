"""Converters of openings: views in, messages out."""

from meijin.game import encode_moves
from meijin.server.api.convert_games import game_to_proto
from meijin.server.errors import invalid_request
from meijin.server.views.openings import Continuation, ExploredPosition, OpeningResults
from meijin.store.openings.games_to_count import DEPTH
from meijin.store.schema import StrengthBand
from meijin.v1 import opening_service_pb2 as pb
from meijin.wire import variant_to_proto
from meijin.wire.enums import enum_table

_STRENGTHS = enum_table(StrengthBand, pb.StrengthBand)
_BANDS = {value: band for band, value in _STRENGTHS.items()}


def strength_from_proto(strength: pb.StrengthBand.ValueType) -> StrengthBand | None:
    """The band that is asked for; ``None`` for all.

    Raises:
        InvalidRequestError: there is no such band.
    """
    if not strength:
        return None
    with invalid_request("strength"):
        if strength not in _BANDS:
            raise ValueError(f"there is no {strength}; leave it out for all games")
    return _BANDS[strength]


def explored_to_proto(explored: ExploredPosition) -> pb.ExploreResponse:
    """What was played in a position."""
    return pb.ExploreResponse(
        results=results_to_proto(explored.results),
        ended=results_to_proto(explored.ended),
        continuations=map(_continuation_to_proto, explored.continuations),
        strengths=[
            pb.StrengthResults(strength=_STRENGTHS[band], results=results_to_proto(results))
            for band, results in explored.strengths
        ],
        games=map(game_to_proto, explored.games),
        counted_games=explored.counted_games,
        depth=DEPTH,
        variants=[
            pb.CountedVariant(variant=variant_to_proto(each.variant), games=each.games)
            for each in explored.variants
        ],
    )


def results_to_proto(results: OpeningResults) -> pb.OpeningResults:
    """How some games ended, with black's score where there are any."""
    message = pb.OpeningResults(
        black_wins=results.black_wins, draws=results.draws, white_wins=results.white_wins
    )
    if results.games:
        message.black_score = results.black_score
        message.black_score_low, message.black_score_high = results.interval
    return message


def _continuation_to_proto(continuation: Continuation) -> pb.Continuation:
    return pb.Continuation(
        cell=continuation.cell,
        same_cells=encode_moves(continuation.same_cells),
        results=results_to_proto(continuation.results),
        game_id=str(continuation.game_id),
    )
