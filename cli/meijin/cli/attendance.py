"""Attendance: bots that are to play are waited for, until they are connected or time is up."""

import time
from collections.abc import Collection
from datetime import timedelta

from meijin.cli.connection import PAGE, Connection, pages
from meijin.cli.errors import CommandError
from meijin.cli.output import print_note
from meijin.v1 import bot_service_pb2 as pb

POLL_INTERVAL = timedelta(milliseconds=200)


def wait_for_bots(connection: Connection, names: Collection[str], wait: float) -> None:
    """Return when all of them are connected; bots that the server does not know it will name.

    Raises:
        CommandError: one is not connected in time.
    """
    deadline = time.monotonic() + wait
    is_told = False
    while away := _away(connection, names):
        left = deadline - time.monotonic()
        are = f"{' and '.join(away)} {'is' if len(away) == 1 else 'are'} not connected"
        if left <= 0:
            raise CommandError(
                f"{are} after {wait:g} s; start it with `meijin bot run`, or give a longer --wait"
            )
        if not is_told:
            print_note(f"{are}; waiting {wait:g} s")
            is_told = True
        time.sleep(min(left, POLL_INTERVAL.total_seconds()))


def _away(connection: Connection, names: Collection[str]) -> list[str]:
    """Which of the bots are registered and not connected; none where one is not registered."""
    there = {}
    request = pb.ListBotsRequest(page_size=PAGE)
    for page in pages(connection.ask, connection.bots.ListBots, request):
        there |= {bot.name: bot.connected for bot in page.bots}
    if not there.keys() >= set(names):
        return []  # who makes the match is told which one, or it is hidden
    return [name for name in names if not there[name]]
