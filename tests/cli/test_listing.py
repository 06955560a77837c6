"""Lists as long as they are wanted."""

from unittest.mock import Mock

import grpc
import pytest

from meijin.cli import listing
from meijin.cli.listing import read_list
from meijin.v1 import game_service_pb2 as pb

GAMES = 25
MOST = 4
"""Rows that the server's page has room for."""


def ask(_: object, request: pb.ListGamesRequest) -> pb.ListGamesResponse:
    """What a server says that has games 0 to 24, and short pages."""
    first = int(request.page_token or 0)
    end = min(first + request.page_size, first + MOST, GAMES)
    response = pb.ListGamesResponse(next_page_token=str(end) if end < GAMES else "")
    for number in range(first, end):
        response.games.add(game_id=str(number))
    return response


@pytest.mark.parametrize(
    ("limit", "rows", "token"),
    [
        (1, 1, "1"),
        (4, 4, "4"),
        (7, 7, "7"),
        (24, 24, "24"),
        (25, 25, ""),
        (99, 25, ""),
        (0, 25, ""),
    ],
)
def test_as_many_rows_as_wanted(
    monkeypatch: pytest.MonkeyPatch, limit: int, rows: int, token: str
) -> None:
    """Over as many pages as it takes; the token says whether there are more."""
    monkeypatch.setattr(listing, "PAGE", 10)
    method = Mock(spec=grpc.UnaryUnaryMultiCallable)
    read: pb.ListGamesResponse = read_list(
        ask, method, pb.ListGamesRequest(), rows=lambda response: response.games, limit=limit
    )
    assert [game.game_id for game in read.games] == list(map(str, range(rows)))
    assert read.next_page_token == token
