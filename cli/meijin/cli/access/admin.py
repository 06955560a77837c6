"""`meijin admin`: owners and their invitations, and the audit log."""

import json
from datetime import timedelta
from functools import partial
from typing import Annotated, Literal
from urllib.parse import unquote

import typer

from meijin.cli.access.tokens import secret_output
from meijin.cli.command import (
    OLDER,
    USUAL_LIMIT,
    Commands,
    LimitOption,
    Output,
    list_output,
    option,
)
from meijin.cli.files import SaveOption
from meijin.cli.output import console
from meijin.cli.tables import number, table, text, time_of
from meijin.local.connection import Connection, read_list
from meijin.v1 import admin_service_pb2 as pb
from meijin.v1 import owner_service_pb2 as owner_pb

app = Commands()

QUOTA = number("quota", lambda row: row.quota if row.HasField("quota") else "")
INVITATIONS = (
    text("invitation", "invitation_id"),
    text("ends in", "suffix"),
    text("made by", "creator"),
    text("until", time_of("expire_time")),
    number("uses left", "uses_left"),
    QUOTA,
)
SECONDS_PER_HOUR = 3600
OWNERS = (
    text("owner", "name"),
    text("since", time_of("create_time")),
    number("bots"),
    QUOTA,
    number("programs", lambda row: _given(row, "program_quota")),
    number("bytes", lambda row: _given(row, "program_bytes_quota")),
    number("CPU hours", lambda row: _hours(row) if row.HasField("program_cpu_quota") else ""),
)


def _given(row: owner_pb.Owner, field: Literal["program_quota", "program_bytes_quota"]) -> object:
    return getattr(row, field) if row.HasField(field) else ""


def _hours(row: owner_pb.Owner) -> str:
    return f"{row.program_cpu_quota / SECONDS_PER_HOUR:g}"


@app.command()
def invite(
    connection: Connection,
    uses: Annotated[int, option("How many may come by it.", 1, 1000)] = 1,
    days: Annotated[float, option("How long it lasts.", 0, 365)] = 7,
    quota: Annotated[
        int | None, option("Bots that each may register; else the server's.", 1)
    ] = None,
    save: SaveOption = None,
) -> Output:
    """Make an invitation to become an owner and print it; it is shown this once."""
    request = owner_pb.CreateInvitationRequest(uses=uses, quota=quota)
    request.lifetime.FromTimedelta(timedelta(days=days))
    ask = partial(connection.ask_with_token, connection.owners.CreateInvitation, request)
    return secret_output(ask, lambda made: f"invitation {made.invitation.invitation_id}", save)


@app.command()
def invitations(connection: Connection) -> Output:
    """List the invitations that can be used."""
    request, method = owner_pb.ListInvitationsRequest(), connection.owners.ListInvitations
    return list_output(connection.ask_with_token, method, request, "Invitations", INVITATIONS)


@app.command()
def uninvite(
    connection: Connection,
    invitation: Annotated[str, typer.Argument(help="Its number in `meijin admin invitations`.")],
) -> None:
    """Revoke an invitation: nobody can use it any more; who came by it stays."""
    request = owner_pb.RevokeInvitationRequest(invitation_id=invitation)
    connection.ask_with_token(connection.owners.RevokeInvitation, request)
    console.print(f"revoked invitation {invitation}")


@app.command()
def owners(connection: Connection) -> Output:
    """List the owners."""
    request, method = owner_pb.ListOwnersRequest(), connection.owners.ListOwners
    return list_output(connection.ask_with_token, method, request, "Owners", OWNERS)


@app.command()
def owner(
    connection: Connection,
    name: Annotated[str, typer.Argument(help="The owner's name.")],
    bots: Annotated[int | None, option("The most bots that it may register.", 1)] = None,
    programs: Annotated[
        int | None, option("The most programs of its bots that are kept.", 0)
    ] = None,
    program_bytes: Annotated[int | None, option("The most bytes of those.", 0)] = None,
    cpu_hours: Annotated[
        float | None, option("Processor time a day that its programs may use.", 0)
    ] = None,
) -> Output:
    """Change what an owner may have."""
    request = owner_pb.UpdateOwnerRequest(
        name=name,
        quota=bots,
        program_quota=programs,
        program_bytes_quota=program_bytes,
        program_cpu_quota=None if cpu_hours is None else round(cpu_hours * SECONDS_PER_HOUR),
    )
    found = connection.ask_with_token(connection.owners.UpdateOwner, request)
    return Output(found, [table("Owner", OWNERS, [found.owner])])


@app.command()
def audit(
    connection: Connection,
    of: Annotated[str, "Only by or to this name, or such as 'token 7' or 'game 17'."] = "",
    limit: LimitOption = USUAL_LIMIT,
) -> Output:
    """Show what owners and operators have changed, newest first."""
    request, method = pb.ListAuditRequest(of=of), connection.admin.ListAudit
    found = read_list(connection.ask_with_token, method, request, limit)
    lines = list(map(act_text, found.acts))
    return Output(found, [*lines, OLDER] if found.next_page_token else lines)


def act_text(act: pb.Act) -> str:
    """A line of the log: when in UTC, who, with what token, from where, and what it did."""
    who = f"{act.kind} {act.actor}".strip()
    token = f"token {act.token_id}, " if act.token_id else ""
    host = unquote(act.peer.partition(":")[2].rpartition(":")[0]) or act.peer  # without the port
    done = ": ".join(filter(None, (f"{act.action} {act.subject}", change_text(act))))
    return f"{act.time.ToDatetime():%Y-%m-%d %H:%M:%S}  {who} ({token}{host})  {done}"


def change_text(act: pb.Act) -> str:
    from meijin.wire.json import struct_object  # noqa: PLC0415 - as in `output`

    before, after = struct_object(act.before), struct_object(act.after)
    changes = []
    for name in sorted({**before, **after}):
        if name not in before:
            changes.append(f"{name} {_value(after[name])}")
        elif name not in after:
            changes.append(f"{name} was {_value(before[name])}")
        elif before[name] != after[name]:
            changes.append(f"{name} {_value(before[name])} → {_value(after[name])}")
    return ", ".join(changes)


def _value(value: object) -> str:
    is_text = isinstance(value, str) and value
    return str(value) if is_text else json.dumps(value, ensure_ascii=False)
