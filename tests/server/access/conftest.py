"""Callers with tokens of each kind."""

import pytest

from meijin.testing.desk import Desk
from meijin.testing.server import ServerInTest


@pytest.fixture
async def desk(server: ServerInTest) -> Desk:
    """Calls of the server's methods."""
    return Desk(server, await server.channel())
