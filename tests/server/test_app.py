"""A server as a whole: where it is found, and what it refuses to start with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from meijin.game import TimeClasses, TimeControl, Variant
from meijin.store.errors import TimeClassError
from meijin.store.tournaments.pairings import ladder_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.conftest import StartServer


async def test_a_unix_socket_is_an_address(start_server: StartServer, tmp_path: Path) -> None:
    """The server says it as clients write it, and is reached by it."""
    address = f"unix:{tmp_path}/meijin.sock"
    async with start_server(listen=address) as server:
        assert server.address == address
        await server.bot("ada")


async def test_a_class_of_ladders_keeps_its_bounds(start_server: StartServer) -> None:
    """A server whose setting gives its name to others does not start."""
    two = TimeClasses.parse("quick=60,slow")
    async with start_server(time_classes=two) as server:
        quick = two.of(TimeControl.parse("1/move"))
        await server.parts.storage.write(lambda to: ladder_of(to, Variant(), quick))
    with pytest.raises(TimeClassError, match='"quick 0-30" has the name of "quick 0-60"'):
        async with start_server(time_classes=TimeClasses.parse("quick=30,slow")):
            pass
    async with start_server():
        pass
