"""Attendance: bots that are to play are waited for, until they are connected or time is up."""

import time
from collections.abc import Collection
from datetime import timedelta

from meijin.cli.connection import PAGE, Connection, pages
from meijin.cli.errors import CommandError
from meijin.cli.output import print_note
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import tournament_service_pb2 as tournament_pb

POLL_INTERVAL = timedelta(milliseconds=200)

BEGIN_TIMEOUT = timedelta(seconds=5)
"""The first game of bots that are connected begins in this time, or never."""

RUNNING = tournament_pb.TOURNAMENT_STATE_RUNNING

ABSENCE = "not connected"
"""In what a tournament waits for: who is away may come."""


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


def wait_for_games(connection: Connection, made: tournament_pb.Tournament) -> None:
    """Return when a game has begun, or waits for a bot that is away.

    Raises:
        CommandError: none can begin, such as on a board that a bot does not play; the match is
            cancelled.
    """
    service, key = connection.tournaments, made.tournament_id
    deadline = time.monotonic() + BEGIN_TIMEOUT.total_seconds()
    while time.monotonic() < deadline:
        request = tournament_pb.GetTournamentRequest(tournament_id=key)
        found = connection.ask(service.GetTournament, request).tournament
        has_begun = found.running_games or found.finished_games
        if has_begun or ABSENCE in found.waiting_for or found.state != RUNNING:
            return
        time.sleep(POLL_INTERVAL.total_seconds())
    if found.waiting_for:
        cancel = tournament_pb.CancelTournamentRequest(tournament_id=key)
        connection.ask_with_token(service.CancelTournament, cancel)
        raise CommandError(f"no game can begin: {found.waiting_for}")


def _away(connection: Connection, names: Collection[str]) -> list[str]:
    """Which of the bots are registered and not connected; none where one is not registered."""
    there = {}
    request = pb.ListBotsRequest(page_size=PAGE)
    for page in pages(connection.ask, connection.bots.ListBots, request):
        there |= {bot.name: bot.connected for bot in page.bots}
    if not there.keys() >= set(names):
        return []  # who makes the match is told which one, or it is hidden
    return [name for name in names if not there[name]]
