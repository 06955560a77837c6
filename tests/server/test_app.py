"""Where a server is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.conftest import StartServer


async def test_a_unix_socket_is_an_address(start_server: StartServer, tmp_path: Path) -> None:
    """The server says it as clients write it, and is reached by it."""
    address = f"unix:{tmp_path}/meijin.sock"
    async with start_server(listen=address) as server:
        assert server.address == address
        await server.bot("ada")
