"""Attendance: bots that are to play are waited for, until they are connected or time is up."""

import time
from collections.abc import Collection
from datetime import timedelta

from meijin.arena.match_play import connected_bots
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
    if not _are_known(connection, _away(connection, names)):
        return  # who makes the match is told which one, or it is hidden
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
    """Which of the bots are not connected."""
    there = {bot.name for bot in connected_bots(connection)}
    return [name for name in names if name not in there]


def _are_known(connection: Connection, names: Collection[str]) -> bool:
    """Whether all of the bots are registered; a server may have very many, so it is asked once."""
    if not names:
        return True
    request = pb.ListBotsRequest(page_size=PAGE)
    listed = pages(connection.ask, connection.bots.ListBots, request)
    return set(names) <= {bot.name for page in listed for bot in page.bots}
