"""Openings: what was played in a position."""

from functools import partial

from meijin.game import Board, Variant, decode_moves
from meijin.server.api.convert_openings import explored_to_proto, strength_from_proto
from meijin.server.api.interceptor import Context
from meijin.server.errors import invalid_request
from meijin.server.storage import Storage
from meijin.server.views.openings import check_depth, explore
from meijin.v1 import opening_service_pb2 as pb
from meijin.v1.opening_service_pb2_grpc import OpeningServiceServicer
from meijin.wire import variant_from_proto


class OpeningServicer(OpeningServiceServicer):
    """The server's games by their openings."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def Explore(self, request: pb.ExploreRequest, context: Context) -> pb.ExploreResponse:
        """Look a position up in the counts."""
        variant, moves = _position(request)
        strength = strength_from_proto(request.strength)
        query = partial(explore, variant=variant, moves=moves, strength=strength)
        return explored_to_proto(await self._storage.read(query))


def _position(request: pb.ExploreRequest) -> tuple[Variant, list[int]]:
    with invalid_request("variant"):
        variant = variant_from_proto(request.variant)
    with invalid_request("moves"):
        moves = list(decode_moves(request.moves))
        check_depth(moves)
        Board.from_moves(moves, variant)
    return variant, moves
