"""Admission: a server is told how an examination came out."""

from collections.abc import Sequence

from meijin.cli.connection import Connection
from meijin.cli.doctor.check import Check, has_passed
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import play_service_pb2

NO_DIGEST = "version:"
"""How a server's name of a version begins that has said no digest."""


def has_digest(version: pb.BotVersion) -> bool:
    """Whether the bot has said a digest in its hello."""
    return not version.digest.startswith(NO_DIGEST)


def report_to(
    connection: Connection, version: pb.BotVersion, *, name: str, checks: Sequence[Check]
) -> None:
    """Tell a server whether a version has passed, as that version will say hello there.

    Args:
        name: The bot's; empty where the token says it.

    Raises:
        grpc.RpcError: the server does not take it.
    """
    engine = play_service_pb2.Engine(
        version=version.version,
        digest=version.digest if has_digest(version) else "",
        configuration=version.configuration,
    )
    request = pb.ReportDoctorRequest(name=name, engine=engine, passed=has_passed(checks))
    connection.ask_with_token(connection.bots.ReportDoctor, request)
