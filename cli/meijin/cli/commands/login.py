"""`meijin login`: keep which server the commands talk to, and a token for it."""

from dataclasses import replace
from typing import Annotated

import typer

from meijin.cli.commands.tokens import kind_text
from meijin.cli.connection import JsonOption, TokenOption, connect, with_server
from meijin.cli.errors import UsageError
from meijin.cli.output import console, print_json
from meijin.cli.profile import Profile, profile_path, write_profile
from meijin.v1 import owner_service_pb2, status_service_pb2, token_service_pb2


@with_server
def login(
    profile: Profile,
    invitation: Annotated[
        str, typer.Option(help="Become an owner of bots by what an operator gave you.")
    ] = "",
    name: Annotated[
        str, typer.Option(help="With an invitation, your name: 1 to 40 letters, digits, -, _ or .")
    ] = "",
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep which server the commands talk to, and the token that they show.

    They are those of --server, --token and the other options of the connection; a token that is
    not given is asked for. The file is yours alone to read.
    """
    if bool(invitation) is not bool(name):
        raise UsageError("give --invitation and --name together")
    if invitation:
        token = _joined(profile, invitation.strip(), name)
    elif token is None:
        token = typer.prompt(
            "Token (none to look only)", default="", hide_input=True, show_default=False, err=True
        )
    kept = replace(profile, server=profile.endpoint.address, token=token or None)
    who = _who(kept)
    path = write_profile(kept)
    if as_json:
        print_json({"server": kept.server, "as": who, "file": str(path)})
    else:
        console.print(
            f"commands talk to {kept.server}{f' as {who}' if who else ''}; kept in {path}",
            soft_wrap=True,
        )


def _joined(profile: Profile, invitation: str, name: str) -> str:
    """The token of a new owner."""
    request = owner_service_pb2.JoinRequest(invitation=invitation, name=name)
    with connect(profile.endpoint, "") as connection:
        return connection.ask_with_token(connection.owners.Join, request).token


def _who(profile: Profile) -> str:
    """Whose a profile's token is, by its server's word; empty where it has none."""
    with connect(profile.endpoint, profile.token or "") as connection:
        if profile.token is None:
            connection.ask(connection.status.GetActivity, status_service_pb2.GetActivityRequest())
            return ""
        request = token_service_pb2.GetOwnTokenRequest()
        token = connection.ask_with_token(connection.tokens.GetOwnToken, request).token
    return f"{kind_text(token.kind)} {token.bot or token.owner}".rstrip()


def logout() -> None:
    """Forget what `meijin login` has kept."""
    path = profile_path()
    is_kept = path.exists()
    path.unlink(missing_ok=True)
    console.print(f"removed {path}" if is_kept else f"there is no {path}")
