"""Openings: what was played in a position."""

from meijin.game import Board, decode_moves
from meijin.server.api.answers.openings import explore
from meijin.server.api.answers.pages import member_if_any
from meijin.server.api.calls.interceptor import Context
from meijin.server.errors import invalid_request
from meijin.server.storage import Storage
from meijin.store.ladders.openings import DEPTH
from meijin.store.schema import StrengthBand
from meijin.v1 import opening_service_pb2 as pb
from meijin.v1.opening_service_pb2_grpc import OpeningServiceServicer
from meijin.wire.values import variant_from_proto


class OpeningServicer(OpeningServiceServicer):
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def Explore(self, request: pb.ExploreRequest, context: Context) -> pb.ExploreResponse:
        with invalid_request("variant"):
            variant = variant_from_proto(request.variant)
        with invalid_request("moves"):
            moves = list(decode_moves(request.moves))
            if len(moves) > DEPTH:
                raise ValueError(
                    f"{len(moves)} moves; openings are counted to {DEPTH}: take the last away"
                )
            Board.from_moves(moves, variant)
        strength = member_if_any(request, "strength", StrengthBand)
        return await self._storage.read(explore, variant, moves, strength)
