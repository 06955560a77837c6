"""`meijin status`."""

from datetime import UTC, datetime, timedelta

import typer
from google.protobuf.timestamp_pb2 import Timestamp

from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.output import console, print_json, table
from meijin.v1 import status_service_pb2 as pb

NOT_FINE = 1
"""The exit status of a server that is not as it should be."""

EXPIRY_WARNING = timedelta(days=14)
"""A certificate that expires sooner is warned of."""


@with_server
def status(connection: Connection, as_json: JsonOption = False) -> None:
    """Show how a server is doing; the exit status is 0 if that is fine, and 1 if not.

    Not fine is a server that doesn't answer, is about to stop, whose database takes no commits,
    or whose queue doesn't answer. A certificate that expires within two weeks is warned of.
    """
    response = connection.ask_with_token(connection.status.GetStatus, pb.GetStatusRequest())
    if as_json:
        print_json(response)
    else:
        _show(connection.server.address, response, datetime.now(UTC))
    if problems(response):
        raise typer.Exit(NOT_FINE)


def problems(response: pb.GetStatusResponse) -> list[str]:
    """What is not as it should be, in a sentence each."""
    said = {
        "it is about to stop": response.draining,
        "the database takes no commits; games wait": response.store_failing,
        "the queue does not answer; ladders follow more slowly": not response.HasField(
            "queued_jobs"
        ),
    }
    return [sentence for sentence, is_so in said.items() if is_so]


def warnings(response: pb.GetStatusResponse, now: datetime) -> list[str]:
    """What will not be as it should be unless somebody sees to it, in a sentence each."""
    return [
        f"{name} expires in {until(end, now)}; renew it"
        if end.ToDatetime(UTC) > now
        else f"{name} has expired; renew it"
        for name, end in _certificates(response)
        if end.ToDatetime(UTC) - now < EXPIRY_WARNING
    ]


def _certificates(response: pb.GetStatusResponse) -> list[tuple[str, Timestamp]]:
    """The certificates that a server uses, and when each expires."""
    found = []
    if response.HasField("certificate_expire_time"):
        found.append(("the certificate", response.certificate_expire_time))
    if response.HasField("client_ca_expire_time"):
        found.append(("the clients' authority", response.client_ca_expire_time))
    return found


def _show(server: str, response: pb.GetStatusResponse, now: datetime) -> None:
    console.print(f"Meijin {response.version} on {server}", style="bold", soft_wrap=True)
    shown = table("", ("", ""), text_columns=2)
    shown.show_header = False
    for name, value in rows(response, now):
        shown.add_row(name, value)
    console.print(shown)
    for problem in problems(response):
        console.print(problem, style="red")
    for warning in warnings(response, now):
        console.print(warning, style="yellow")


def rows(response: pb.GetStatusResponse, now: datetime) -> list[tuple[str, str]]:
    """The lines of the table."""
    queued = response.queued_jobs if response.HasField("queued_jobs") else "no answer"
    return [
        ("serving", "no" if response.draining or response.store_failing else "yes"),
        ("up for", ago(response.start_time, now)),
        ("bots connected", str(response.connected_bots)),
        ("tournaments", str(response.running_tournaments)),
        ("games", f"{response.running_games} running, {response.pending_games} pending"),
        ("ladders", _ladders(response, now)),
        ("jobs queued", str(queued)),
        (
            "last backup",
            f"{ago(response.backup_time, now)} ago" if response.HasField("backup_time") else "none",
        ),
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
    """How long something is ago, such as ``2 h 5 min``."""
    return _duration(now - when.ToDatetime(UTC))


def until(when: Timestamp, now: datetime) -> str:
    """How long something is ahead, such as ``2 h 5 min``."""
    return _duration(when.ToDatetime(UTC) - now)


def _duration(duration: timedelta) -> str:
    seconds = max(0, int(duration / timedelta(seconds=1)))
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    parts = []
    for name, size in units:
        if seconds >= size:
            parts.append(f"{seconds // size} {name}")
            seconds %= size
    return " ".join(parts[:2]) or "0 s"
