"""Pages by TLS: the certificate that is served, and the one that takes its place."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

from tests.authority import AuthorityFiles
from tests.web.conftest import OpenSite

from meijin.web.certificate import Certificate
from meijin.web.host import Host, open_listener


async def serial(port: int, ca: Path) -> str:
    """The serial number of the certificate that is served."""
    context = ssl.create_default_context(cafile=str(ca))
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    shown = writer.get_extra_info("peercert")
    writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 200")
    writer.close()
    return str(shown["serialNumber"])


async def test_renewed_certificate_is_served(open_site: OpenSite, tmp_path: Path) -> None:
    """Without a restart; a file that is none leaves the old one in force."""
    files = AuthorityFiles(tmp_path)
    certificate = Certificate(**files.server())
    async with open_site() as site:
        listener = open_listener("127.0.0.1", 0)
        port = listener.getsockname()[1]
        host = Host(site.shell, listener, certificate)
        assert host.url == f"https://127.0.0.1:{port}"
        running = asyncio.create_task(host.run())
        first = await serial(port, files.ca)
        certificate.look()
        assert await serial(port, files.ca) == first
        (tmp_path / "server.pem").write_text("nothing of the kind")
        certificate.look()
        assert await serial(port, files.ca) == first
        files.server()
        certificate.look()
        assert await serial(port, files.ca) != first
        await host.stop()
        await running
