"""Tournaments: made, and asked for with what came of them."""

import secrets

from meijin.arena.connection import CREATION_TIMEOUT, Connection
from meijin.v1 import tournament_service_pb2 as pb


def make_tournament(
    connection: Connection, wanted: pb.TournamentSettings, request_id: str = ""
) -> pb.Tournament:
    """Make a tournament; with the same request id there is no second one."""
    request = pb.CreateTournamentRequest(
        settings=wanted, request_id=request_id or secrets.token_hex(8)
    )
    create = connection.tournaments.CreateTournament
    return connection.ask_with_token(create, request, CREATION_TIMEOUT).tournament
