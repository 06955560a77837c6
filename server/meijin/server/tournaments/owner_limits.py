"""Limits of owners: how much the tournaments of one owner may take of a server."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from meijin.server.errors import QuotaError
from meijin.server.settings import Settings
from meijin.store import tournaments as store
from meijin.store.schema import OwnerId

HOUR = timedelta(hours=1)


def check_owner(
    connection: Connection, settings: Settings, owner_id: OwnerId, games: int, now: datetime
) -> None:
    """Let an owner make a tournament, unless its games are too many.

    All of it is counted from what is stored, so that neither a restart nor two requests at once
    lead beyond it: this counts in the transaction that makes the tournament. Of a format that
    plans as it goes, games are those that it has planned.

    Raises:
        QuotaError: it would be too much.
    """
    load = store.load_of(connection, owner_id)
    if load.tournaments >= settings.owner_tournaments_at_once:
        raise QuotaError(
            f"{load.tournaments} tournaments of yours are being played, at most {settings.owner_tournaments_at_once} "
            "at once; come back when one has ended, or ask an operator to cancel one"
        )
    if load.games + games > settings.owner_tournament_games:
        raise QuotaError(
            f"{load.games} games of your tournaments run or wait and these are {games}, at "
            f"most {settings.owner_tournament_games} at once; ask for fewer, or come back when some have ended"
        )
    first = store.nth_newest(connection, owner_id, settings.owner_tournaments_an_hour)
    if first is not None and first > now - HOUR:
        message = f"you may make {settings.owner_tournaments_an_hour} tournaments in an hour"
        raise QuotaError(message, first + HOUR - now)
