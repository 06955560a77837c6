"""Evaluations outside of games, in the contract's words."""

from datetime import timedelta

from meijin.game import Board, TimeControl, Variant, decode_moves
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.match.live.evaluations import Found, Search
from meijin.v1 import analysis_service_pb2 as pb
from meijin.wire import Capabilities, analysis_to_proto, variant_from_proto

USUAL_TIME = timedelta(seconds=1)
LONGEST_TIME = timedelta(minutes=1)
"""Of one search; that of one which is to end by its nodes."""


def time_from_proto(request: pb.EvaluateRequest) -> timedelta:
    """What each search may take.

    Raises:
        InvalidRequestError: it is too long.
    """
    if not request.time_ms:
        return LONGEST_TIME if request.nodes else USUAL_TIME
    time = timedelta(milliseconds=request.time_ms)
    if time > LONGEST_TIME:
        longest_ms = int(LONGEST_TIME.total_seconds() * 1000)
        raise InvalidRequestError(f"time_ms {request.time_ms} is above {longest_ms}")
    return time


def search_from_proto(
    request: pb.EvaluateRequest, index: int, time: timedelta, capabilities: Capabilities
) -> Search:
    """One of the positions, as a bot of these capabilities searches it.

    Raises:
        InvalidRequestError: it can't be, is over, or the bot doesn't play it.
    """
    message = request.positions[index]
    with invalid_request(f"positions[{index}]"):
        variant = variant_from_proto(message.variant)
        _check_objection(capabilities, variant, time)
        board = Board.from_moves(decode_moves(message.moves), variant)
        if board.is_over:
            raise ValueError("the game is over there; give positions with a move to choose")
    return Search(board, time, request.nodes)


def _check_objection(capabilities: Capabilities, variant: Variant, time: timedelta) -> None:
    objection = capabilities.objection(variant, TimeControl(initial=None, per_move=time))
    if objection is not None:
        raise ValueError(f"the bot {objection}")


def found_to_proto(index: int, found: Found) -> pb.EvaluateResponse:
    """What a bot has found in one of the positions."""
    message = pb.EvaluateResponse(position=index, cell=found.cell, failure=found.failure)
    if found.analysis is not None:
        message.analysis.CopyFrom(analysis_to_proto(found.analysis))
    if found.time is not None:
        message.search_time.FromTimedelta(found.time)
    return message
