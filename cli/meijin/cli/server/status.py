"""`meijin status`."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from operator import itemgetter

import typer
from google.protobuf.timestamp_pb2 import Timestamp
from rich.console import RenderableType

from meijin.cli.command import Output
from meijin.cli.output import Styled
from meijin.cli.tables import duration_text, table, text
from meijin.local.connection import Connection
from meijin.v1 import status_service_pb2 as pb

EXPIRY_WARNING = timedelta(days=14)
"""A certificate that expires sooner is warned of."""

CERTIFICATES = {
    "the certificate": "certificate_expire_time",
    "the clients' authority": "client_ca_expire_time",
}


def status(connection: Connection) -> Output:
    """Show how a server is doing; the exit status is 0 if that is fine, and 1 if not.

    Not fine is a server that doesn't answer, is about to stop, whose database takes no commits,
    or whose queue doesn't answer. A certificate that expires within two weeks is warned of.
    """
    response = connection.ask_with_token(connection.status.GetStatus, pb.GetStatusRequest())
    wrong = problems(response)
    lines = _lines(connection.server.address, response, datetime.now(UTC))
    return Output(response, lines, typer.Exit(1) if wrong else None)


def problems(response: pb.GetStatusResponse) -> list[str]:
    """What is not as it should be, in a sentence each."""
    has_queue = response.HasField("queued_jobs")
    said = {
        "it is about to stop": response.draining,
        "the database takes no commits; games wait": response.store_failing,
        "the queue does not answer; ladders follow more slowly": not has_queue,
    }
    return [sentence for sentence, is_so in said.items() if is_so]


def warnings(response: pb.GetStatusResponse, now: datetime) -> list[str]:
    """What will not be as it should be unless somebody sees to it, in a sentence each."""
    told = {field.name: value for field, value in response.ListFields()}
    found = []
    for name, field in CERTIFICATES.items():
        if field in told and (left := told[field].ToDatetime(UTC) - now) < EXPIRY_WARNING:
            ends = f"expires in {duration_text(left)}" if left > timedelta(0) else "has expired"
            found.append(f"{name} {ends}; renew it")
    return found


def _lines(
    server: str, response: pb.GetStatusResponse, now: datetime
) -> Iterator[RenderableType | Styled]:
    yield Styled(f"Meijin {response.version} on {server}", "bold")
    columns = (text("", itemgetter(0)), text("", itemgetter(1)))
    shown = table("", columns, rows(response, now))
    shown.show_header = False
    yield shown
    yield from (Styled(problem, "red") for problem in problems(response))
    yield from (Styled(warning, "yellow") for warning in warnings(response, now))


def rows(response: pb.GetStatusResponse, now: datetime) -> list[tuple[str, str]]:
    queued = response.queued_jobs if response.HasField("queued_jobs") else "no answer"
    has_backup = response.HasField("backup_time")
    return [
        ("serving", "no" if response.draining or response.store_failing else "yes"),
        ("up for", ago(response.start_time, now)),
        ("bots connected", str(response.connected_bots)),
        ("tournaments", str(response.running_tournaments)),
        ("games", f"{response.running_games} running, {response.pending_games} pending"),
        ("ladders", _ladders(response, now)),
        ("jobs queued", str(queued)),
        ("last backup", f"{ago(response.backup_time, now)} ago" if has_backup else "none"),
    ]


def _ladders(response: pb.GetStatusResponse, now: datetime) -> str:
    if not response.HasField("outdated_ladders"):
        return "can't be read"
    if not response.outdated_ladders:
        return "current"
    text = f"{response.outdated_ladders} being updated"
    if response.HasField("oldest_run_time"):
        text += f", the oldest run is {ago(response.oldest_run_time, now)} old"
    return text


def ago(when: Timestamp, now: datetime) -> str:
    """How long something is ago."""
    return duration_text(now - when.ToDatetime(UTC))
