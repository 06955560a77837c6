"""Bots' streams, against a real server in the same process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from meijin.v1 import game_pb2

if TYPE_CHECKING:
    from tests.server.conftest import House, Serve


def test_whole(serve: Serve) -> None:
    async def script(house: House) -> None:
        async with house.innocents():
            pass

    serve(script)
