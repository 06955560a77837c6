"""Receivers of webhooks, and callers who have some made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.server.webhooks.receivers import Receiver

from meijin.testing.desk import Desk
from meijin.testing.server import ServerInTest


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that takes everything."""
    with Receiver().running() as receiver:
        yield receiver


@pytest.fixture
async def desk(server: ServerInTest) -> Desk:
    """Calls of the server's methods."""
    return Desk(server, await server.channel())
