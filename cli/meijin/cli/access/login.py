"""`meijin login`: keep which server the commands talk to, and a token for it."""

from dataclasses import replace
from typing import Annotated

import typer

from meijin.cli.command import Output
from meijin.cli.errors import UsageError
from meijin.cli.output import console
from meijin.cli.profile import Profile, TokenOption, profile_path, write_profile
from meijin.local.connection import connect
from meijin.v1 import owner_service_pb2, status_service_pb2, token_service_pb2
from meijin.wire.enums import word_of


def login(
    profile: Profile,
    invitation: Annotated[str, "Become an owner of bots by what an operator gave you."] = "",
    name: Annotated[str, "With an invitation, your name: 1 to 40 letters, digits, -, _ or ."] = "",
    token: TokenOption = None,
) -> Output:
    """Keep which server the commands talk to, and the token that they show.

    They are those of --server, --token and the other options of the connection; a token that is
    not given is asked for. The file is yours alone to read.
    """
    if bool(invitation) is not bool(name):
        raise UsageError("give --invitation and --name together")
    if invitation:
        request = owner_service_pb2.JoinRequest(invitation=invitation.strip(), name=name)
        with connect(profile.endpoint, "") as connection:
            token = connection.ask_with_token(connection.owners.Join, request).token
    elif token is None and profile.data is None:
        token = typer.prompt(
            "Token (none to look only)", default="", hide_input=True, show_default=False, err=True
        )
    kept = replace(profile, server=profile.endpoint.address, token=token or None)
    who = _who(kept)
    path = write_profile(kept)
    said = f"commands talk to {kept.server}{f' as {who}' if who else ''}; kept in {path}"
    return Output({"server": kept.server, "as": who, "file": str(path)}, [said])


def _who(profile: Profile) -> str:
    """Whose a profile's token is, by its server's word; empty where it has none."""
    is_known = profile.token is not None or profile.data is not None
    with connect(profile.endpoint, profile.token if is_known else "") as connection:
        if not is_known:
            connection.ask(connection.status.GetActivity, status_service_pb2.GetActivityRequest())
            return ""
        request = token_service_pb2.GetOwnTokenRequest()
        token = connection.ask_with_token(connection.tokens.GetOwnToken, request).token
    return f"{word_of(token_service_pb2.TokenKind, token.kind)} {token.bot or token.owner}".rstrip()


def logout() -> None:
    """Forget what `meijin login` has kept."""
    path = profile_path()
    is_kept = path.exists()
    path.unlink(missing_ok=True)
    console.print(f"removed {path}" if is_kept else f"there is no {path}")
