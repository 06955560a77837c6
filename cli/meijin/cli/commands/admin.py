"""`meijin admin`: owners and their invitations, and the audit log."""

import json
from datetime import timedelta
from typing import Annotated
from urllib.parse import unquote

import typer
from google.protobuf.json_format import MessageToDict

from meijin.cli.commands.tokens import day_text, print_secret
from meijin.cli.connection import PAGE, Connection, JsonOption, pages, with_server
from meijin.cli.listing import OLDER, USUAL_LIMIT, LimitOption, read_list
from meijin.cli.output import console, print_json, table
from meijin.v1 import admin_service_pb2 as pb
from meijin.v1 import owner_service_pb2 as owner_pb

app = typer.Typer(help="Invite owners, list them, read the log.", no_args_is_help=True)


@app.command()
@with_server
def invite(
    connection: Connection,
    uses: Annotated[int, typer.Option(min=1, max=1000, help="How many may come by it.")] = 1,
    days: Annotated[float, typer.Option(min=0, max=365, help="How long it lasts.")] = 7,
    quota: Annotated[
        int | None, typer.Option(min=1, help="Bots that each may register; else the server's.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make an invitation to become an owner and print it; it is shown this once."""
    request = owner_pb.CreateInvitationRequest(uses=uses, quota=quota)
    request.lifetime.FromTimedelta(timedelta(days=days))
    response = connection.ask_with_token(connection.owners.CreateInvitation, request)
    if as_json:
        print_json(response)
    else:
        print_secret(response.secret, f"invitation {response.invitation.invitation_id}")


@app.command()
@with_server
def invitations(connection: Connection, as_json: JsonOption = False) -> None:
    """List the invitations that can be used."""
    response = owner_pb.ListInvitationsResponse()
    request = owner_pb.ListInvitationsRequest(page_size=PAGE)
    for page in pages(connection.ask_with_token, connection.owners.ListInvitations, request):
        response.invitations.extend(page.invitations)
    if as_json:
        print_json(response)
        return
    columns = ("invitation", "ends in", "made by", "until", "uses left", "quota")
    made = table("Invitations", columns, text_columns=4)
    for each in response.invitations:
        quota = str(each.quota) if each.HasField("quota") else ""
        made.add_row(
            each.invitation_id,
            each.suffix,
            each.creator,
            day_text(each.expire_time),
            str(each.uses_left),
            quota,
        )
    console.print(made)


@app.command()
@with_server
def uninvite(
    connection: Connection,
    invitation: Annotated[str, typer.Argument(help="Its number in `meijin admin invitations`.")],
) -> None:
    """Revoke an invitation: nobody can use it any more; who came by it stays."""
    request = owner_pb.RevokeInvitationRequest(invitation_id=invitation)
    connection.ask_with_token(connection.owners.RevokeInvitation, request)
    console.print(f"revoked invitation {invitation}")


@app.command()
@with_server
def owners(connection: Connection, as_json: JsonOption = False) -> None:
    """List the owners."""
    response = owner_pb.ListOwnersResponse()
    request = owner_pb.ListOwnersRequest(page_size=PAGE)
    for page in pages(connection.ask_with_token, connection.owners.ListOwners, request):
        response.owners.extend(page.owners)
    if as_json:
        print_json(response)
        return
    made = table("Owners", ("owner", "since", "bots", "quota"), text_columns=2)
    for each in response.owners:
        quota = str(each.quota) if each.HasField("quota") else ""
        made.add_row(each.name, day_text(each.create_time), str(each.bots), quota)
    console.print(made)


@app.command()
@with_server
def audit(
    connection: Connection,
    of: Annotated[
        str, typer.Option(help="Only by or to this name, or such as 'token 7' or 'game 17'.")
    ] = "",
    limit: LimitOption = USUAL_LIMIT,
    as_json: JsonOption = False,
) -> None:
    """Show what owners and operators have changed, newest first."""
    request = pb.ListAuditRequest(of=of)
    response = read_list(
        connection.ask_with_token,
        connection.admin.ListAudit,
        request,
        rows=lambda response: response.acts,
        limit=limit,
    )
    if as_json:
        print_json(response)
        return
    for act in response.acts:
        console.print(act_text(act), soft_wrap=True)
    if response.next_page_token:
        console.print(OLDER)


def act_text(act: pb.Act) -> str:
    """A line of the log: when in UTC, who, with what token, from where, and what it did."""
    who = f"{act.kind} {act.actor}".strip()
    token = f"token {act.token_id}, " if act.token_id else ""
    change = change_text(act)
    done = f"{act.action} {act.subject}{': ' if change else ''}{change}"
    return f"{act.time.ToDatetime():%Y-%m-%d %H:%M:%S}  {who} ({token}{_host(act.peer)})  {done}"


def change_text(act: pb.Act) -> str:
    """What is otherwise than it was, in one line."""
    before, after = MessageToDict(act.before), MessageToDict(act.after)
    changes = []
    for name in sorted({**before, **after}):
        if name not in before:
            changes.append(f"{name} {_value(after[name])}")
        elif name not in after:
            changes.append(f"{name} was {_value(before[name])}")
        elif before[name] != after[name]:
            changes.append(f"{name} {_value(before[name])} → {_value(after[name])}")
    return ", ".join(changes)


def _host(peer: str) -> str:
    """The address that a peer called from, without the port that it had for the call."""
    return unquote(peer.partition(":")[2].rpartition(":")[0]) or peer


def _value(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
