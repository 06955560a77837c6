"""The server that a command talks to: the options that say which, and how."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from meijin.arena.connection import (
    PAGE,
    USUAL_SERVER,
    Connection,
    Server,
    connect,
    pages,
)
from meijin.wire.channel import Security
from meijin.wire.contract import (
    CA_VARIABLE,
    CLIENT_CERTIFICATE_VARIABLE,
    CLIENT_KEY_VARIABLE,
    DEFAULT_SERVER,
    OPERATOR_TOKEN_VARIABLE,
    PLAINTEXT_VARIABLE,
    SERVER_VARIABLE,
)

__all__ = [
    "PAGE",
    "USUAL_SERVER",
    "CaOption",
    "ClientCertificateOption",
    "ClientKeyOption",
    "Connection",
    "JsonOption",
    "PlaintextOption",
    "Server",
    "ServerOption",
    "TokenOption",
    "connect",
    "pages",
    "with_optional_server",
    "with_server",
]

ServerOption = Annotated[
    str,
    typer.Option(
        "--server",
        "-s",
        envvar=SERVER_VARIABLE,
        help="The server's host and port; grpcs://host:port with TLS.",
    ),
]
CaOption = Annotated[
    Path | None,
    typer.Option(envvar=CA_VARIABLE, help="PEM file of the authority to trust; else public ones."),
]
ClientCertificateOption = Annotated[
    Path | None,
    typer.Option(
        envvar=CLIENT_CERTIFICATE_VARIABLE,
        help="PEM file of a certificate, for a server that asks for one.",
    ),
]
ClientKeyOption = Annotated[
    Path | None,
    typer.Option(envvar=CLIENT_KEY_VARIABLE, help="PEM file of that certificate's key."),
]
PlaintextOption = Annotated[
    bool,
    typer.Option(
        "--plaintext",
        envvar=PLAINTEXT_VARIABLE,
        help="Send a token to another machine without TLS too.",
    ),
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar=OPERATOR_TOKEN_VARIABLE,
        help="An operator's or owner's token; else read from operator.token in the data folder.",
        show_envvar=True,
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of a table.")
]


def _server(
    server: ServerOption = DEFAULT_SERVER,
    ca: CaOption = None,
    client_certificate: ClientCertificateOption = None,
    client_key: ClientKeyOption = None,
    plaintext: PlaintextOption = False,
) -> Server:
    """What the options ask for."""
    return Server(server, Security(ca, client_certificate, client_key, plaintext))


def _optional_server(
    server: Annotated[
        str,
        typer.Option(
            "--server",
            "-s",
            help="A server's host and port, to be asked in place of this machine; grpcs://host:port "
            "with TLS.",
            show_default=False,
        ),
    ] = "",
    ca: CaOption = None,
    client_certificate: ClientCertificateOption = None,
    client_key: ClientKeyOption = None,
    plaintext: PlaintextOption = False,
) -> Server | None:
    """What the options ask for; ``None`` where that is no server."""
    return _server(server, ca, client_certificate, client_key, plaintext) if server else None


def with_server(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in the place of its `server`, the options that say which one, and how."""
    return _with_options_of(_server, command)


def with_optional_server(command: Callable[..., None]) -> Callable[..., None]:
    """As `with_server`, for a command that needs none and is given ``None`` then."""
    return _with_options_of(_optional_server, command)


def _with_options_of(
    make: Callable[..., Server | None], command: Callable[..., None]
) -> Callable[..., None]:
    options = inspect.signature(make).parameters
    own = inspect.signature(command).parameters

    @wraps(command, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def with_options(*given: Any, **values: Any) -> None:  # noqa: ANN401 - the command's own
        server = make(**{name: values.pop(name) for name in options})
        command(*given, server=server, **values)

    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # read by typer
        [
            parameter
            for name in own
            for parameter in (options.values() if name == "server" else (own[name],))
        ]
    )
    return with_options
