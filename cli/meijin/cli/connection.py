"""The server that a command talks to: the options that say which, and how."""

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from meijin.arena.connection import PAGE, Connection, Server, connect, pages
from meijin.cli.profile import Profile, read_profile
from meijin.wire.contract import (
    CA_VARIABLE,
    CLIENT_CERTIFICATE_VARIABLE,
    CLIENT_KEY_VARIABLE,
    OPERATOR_TOKEN_VARIABLE,
    PLAINTEXT_VARIABLE,
    SERVER_VARIABLE,
)

__all__ = [
    "PAGE",
    "Connection",
    "JsonOption",
    "Server",
    "TokenOption",
    "connect",
    "pages",
    "with_server",
]

ServerOption = Annotated[
    str, typer.Option("--server", "-s", envvar=SERVER_VARIABLE, hidden=True, show_default=False)
]
CaOption = Annotated[Path | None, typer.Option(envvar=CA_VARIABLE, hidden=True)]
ClientCertificateOption = Annotated[
    Path | None, typer.Option(envvar=CLIENT_CERTIFICATE_VARIABLE, hidden=True)
]
ClientKeyOption = Annotated[Path | None, typer.Option(envvar=CLIENT_KEY_VARIABLE, hidden=True)]
PlaintextOption = Annotated[
    bool, typer.Option("--plaintext", envvar=PLAINTEXT_VARIABLE, hidden=True)
]
TokenOption = Annotated[
    str | None, typer.Option("--token", envvar=OPERATOR_TOKEN_VARIABLE, hidden=True)
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of a table.")
]

HINT = "The options that say which server is asked, and how, are in `meijin --help`."
"""The end of the help of each command that talks to one."""


def _options(
    server: ServerOption = "",
    ca: CaOption = None,
    client_certificate: ClientCertificateOption = None,
    client_key: ClientKeyOption = None,
    plaintext: PlaintextOption = False,
    token: TokenOption = None,
) -> Profile:
    """What the options ask for."""
    return Profile(server, ca, client_certificate, client_key, plaintext, token)


def with_server(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a connection, and what they say.

    They are taken by every such command, and shown by the help of `meijin` alone. A parameter that
    is a `Connection` is open while the command runs; a `Server` or a `Profile` says where to. An
    option of the command's own takes the place of that of its name.
    """
    own = inspect.signature(command).parameters
    injected = {
        name: parameter.annotation
        for name, parameter in own.items()
        if parameter.annotation in {Connection, Server, Profile}
    }
    shown = {name: each for name, each in own.items() if name not in injected}
    options = inspect.signature(_options).parameters

    @wraps(command, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def with_options(**values: Any) -> None:  # noqa: ANN401 - the command's own
        profile = _options(**{name: values[name] for name in options}).over(read_profile())
        with ExitStack() as stack:
            made = {name: _made(kind, profile, stack) for name, kind in injected.items()}
            command(**{name: values[name] for name in shown}, **made)

    with_options.__doc__ = f"{inspect.getdoc(command)}\n\n{HINT}"
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [each.replace(kind=kind) for each in {**options, **shown}.values()]
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by typer
    return with_options


def _made(kind: type, profile: Profile, stack: ExitStack) -> Connection | Server | Profile:
    if kind is Profile:
        return profile
    if kind is Server:
        return profile.endpoint
    return stack.enter_context(connect(profile.endpoint, profile.token))
