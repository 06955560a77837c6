"""Limits of owners: how much the tournaments of one owner may take of a server."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from meijin.server.errors import QuotaError
from meijin.server.settings import Settings
from meijin.store import tournaments as store
from meijin.store.schema import OwnerId

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class OwnerLimits:
    """What an owner's tournaments may come to.

    All of it is counted from what is stored, so that neither a restart nor two requests at once
    lead beyond it: a check counts in the transaction that makes the tournament.
    """

    games: int
    """That run or wait; of a format that plans as it goes those that it has planned."""
    at_once: int
    """Tournaments that are played."""
    an_hour: int
    """Tournaments that are made."""

    @classmethod
    def of(cls, settings: Settings) -> "OwnerLimits":
        """Those that the settings say."""
        return cls(
            settings.owner_tournament_games,
            settings.owner_tournaments_at_once,
            settings.owner_tournaments_an_hour,
        )

    def check(
        self, connection: Connection, owner_id: OwnerId | None, games: int, now: datetime
    ) -> None:
        """Let an owner make a tournament of so many games; operators have no limits.

        Raises:
            QuotaError: it would be too much.
        """
        if owner_id is None:
            return
        load = store.load_of(connection, owner_id)
        if load.tournaments >= self.at_once:
            raise QuotaError(
                f"{load.tournaments} tournaments of yours are being played, at most {self.at_once} "
                "at once; come back when one has ended, or ask an operator to cancel one"
            )
        if load.games + games > self.games:
            raise QuotaError(
                f"{load.games} games of your tournaments run or wait and these are {games}, at "
                f"most {self.games} at once; ask for fewer, or come back when some have ended"
            )
        first = store.nth_newest(connection, owner_id, self.an_hour)
        if first is not None and first > now - HOUR:
            message = f"you may make {self.an_hour} tournaments in an hour"
            raise QuotaError(message, first + HOUR - now)
