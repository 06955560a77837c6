"""`meijin owner`: become an owner."""

from typing import Annotated

import typer

from meijin.cli.commands.tokens import print_secret
from meijin.cli.connection import USUAL_SERVER, Server, connect, with_server
from meijin.v1 import owner_service_pb2 as pb
from meijin.wire.contract import OPERATOR_TOKEN_VARIABLE

app = typer.Typer(help="Become an owner of bots.", no_args_is_help=True)


@app.callback()
def owner() -> None:
    """Become an owner of bots."""


@app.command()
@with_server
def join(
    name: Annotated[str, typer.Argument(help="1 to 40 letters, digits, -, _ or .")],
    invitation: Annotated[str, typer.Option(help="What the operator gave you.")],
    server: Server = USUAL_SERVER,
) -> None:
    """Become an owner by an invitation and print the owner's token, which is shown this once."""
    request = pb.JoinRequest(invitation=invitation.strip(), name=name)
    with connect(server, "") as connection:
        response = connection.ask_with_token(connection.owners.Join, request)
    print_secret(response.token, f"the token of {name}; set {OPERATOR_TOKEN_VARIABLE} to it")
