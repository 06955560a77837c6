"""Budgets of challenges: how many games somebody may start, at once and in a day."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from meijin.server.errors import BusyError, QuotaError
from meijin.server.settings import Settings
from meijin.store import challenges as store
from meijin.store.challenges import Maker

DAY = timedelta(days=1)

MAX_RUNNING = 500
"""Challenges that run at once, of all; tournaments have as many places left."""

PERSON_GAMES = 4
"""Of one person, that run or wait at once."""

PERSON_GAMES_A_DAY = 200
"""Each move that a person takes back is a game."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many games of challenges somebody may start."""

    at_once: int
    """That run or wait."""
    a_day: int


@dataclass(frozen=True, slots=True)
class Budgets:
    """The budgets of a server."""

    owner: Budget
    person: Budget
    people: int
    """Challenges by people that may run at once, of all of them."""

    @property
    def people_of_an_address(self) -> int:
        """Challenges by people that may run at once, of those at one address: half of all."""
        return (self.people + 1) // 2

    @classmethod
    def of(cls, settings: Settings) -> "Budgets":
        """Those that the settings say."""
        return cls(
            Budget(settings.challenge_games, settings.challenge_games_a_day),
            Budget(PERSON_GAMES, PERSON_GAMES_A_DAY),
            settings.people_games,
        )

    def check(self, connection: Connection, maker: Maker, games: int, now: datetime) -> None:
        """Let somebody start so many games; operators have no budget of their own.

        Raises:
            BusyError: the server plays as many challenges as it may.
            QuotaError: these would be too many.
        """
        altogether, by_people = store.challenges_at_once(connection)
        if altogether >= MAX_RUNNING:
            raise BusyError(f"{altogether} challenges are running, the most; try again later")
        if maker.person_id is not None:
            if by_people >= self.people:
                message = f"{by_people} people are playing here, the most; try again later"
                raise BusyError(message)
            _check(connection, maker, self.person, games, now)
        elif maker.owner_id is not None:
            _check(connection, maker, self.owner, games, now)


def _check(connection: Connection, maker: Maker, budget: Budget, games: int, now: datetime) -> None:
    waiting = store.games_at_once(connection, maker)
    if waiting + games > budget.at_once:
        raise QuotaError(
            f"{waiting} games of your challenges run or wait and these are {games}, at most "
            f"{budget.at_once} at once; take some back, or come back when some have ended"
        )
    begun = store.games_since(connection, maker, now - DAY)
    over = sum(count for _, count in begun) + games - budget.a_day
    if over <= 0:
        return
    message = f"your challenges may have {budget.a_day} games in 24 hours"
    for time, count in begun:
        over -= count
        if over <= 0:
            raise QuotaError(message, time + DAY - now)
    raise QuotaError(f"{message}, and these are {games}; ask for fewer")
