"""`meijin web`."""

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meijin.cli.errors import CommandError, needed_parts, unusable_file
from meijin.local.connection import Server
from meijin.wire.contract import DEFAULT_WEB, MAX_PORT, WEB_VARIABLE, is_local

if TYPE_CHECKING:
    from meijin.web.host import Certificate
    from meijin.web.state import SiteSettings


def web(
    server: Server,
    listen: Annotated[
        str, typer.Option(envvar=WEB_VARIABLE, help="Host and port; port 0 takes a free one.")
    ] = DEFAULT_WEB,
    url: Annotated[str, "Where people find the pages, such as https://arena.example."] = "",
    certificate: Annotated[Path | None, "PEM file of a certificate, to serve by TLS."] = None,
    key: Annotated[Path | None, "PEM file of the certificate's key."] = None,
) -> None:
    """Serve a server's pages for browsers as a process apart, until Ctrl-C or SIGTERM.

    The pages are those that `meijin serve` has itself, fed by gRPC; let that one serve none, with
    --web off. To the server all visitors are one address: raise its limits, such as
    MEIJIN_REQUESTS_PER_SECOND, where many come.
    """
    with needed_parts():
        from meijin.web.host import Certificate  # noqa: PLC0415 - the bare install has no pages
        from meijin.web.policy import Hosts  # noqa: PLC0415 - as above
        from meijin.web.state import SiteSettings  # noqa: PLC0415 - as above
    if (certificate is None) != (key is None):
        raise CommandError("--certificate and --key go together; give both or none")
    if not (is_local(listen) or certificate or server.security.plaintext):
        raise CommandError(
            f"other machines reach {listen}, and without TLS tokens can be read on the way; give "
            "--certificate and --key, or, where the way is safe, --plaintext"
        )
    name, _, port = listen.rpartition(":")
    if not name or not port.isdecimal() or int(port) > MAX_PORT:
        raise CommandError(f"--listen must be HOST:PORT, not {listen!r}")
    try:
        own = None if certificate is None or key is None else Certificate(certificate, key)
        settings = SiteSettings(Hosts(url.rstrip("/"), is_local=is_local(listen)))
        asyncio.run(_serve(server, settings, (name, int(port)), own))
    except OSError as error:
        raise unusable_file(error) from None
    except ValueError as error:
        raise CommandError(str(error)) from None


async def _serve(
    server: Server,
    settings: "SiteSettings",
    where: tuple[str, int],
    certificate: "Certificate | None",
) -> None:
    from meijin.web.gateway import RemoteGateway  # noqa: PLC0415 - as above
    from meijin.web.host import Host, open_listener  # noqa: PLC0415 - as above
    from meijin.web.state import SiteState  # noqa: PLC0415 - as above
    from meijin.wire.channel import open_async_channel  # noqa: PLC0415 - as above
    from meijin.wire.contract import client_keepalive_options, parse_address  # noqa: PLC0415

    try:
        listener = open_listener(*where)
    except OSError as error:
        raise OSError(f"can't listen on {where[0]}:{where[1]}: {error.strerror}") from error
    address = parse_address(server.address)
    async with open_async_channel(address, server.security, client_keepalive_options()) as channel:
        host = Host(SiteState(RemoteGateway(channel), settings), listener, certificate)
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        serving = asyncio.create_task(host.run())
        typer.echo(f"pages for browsers are at {settings.hosts.public_url or host.url}")
        await stop.wait()
        await host.stop()
        await serving
