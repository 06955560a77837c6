"""Budgets of challenges: how many games somebody may start, at once and in a day."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from meijin.server.errors import BusyError, QuotaError
from meijin.server.settings import Settings
from meijin.store.tournaments import challenges as store
from meijin.store.tournaments.challenges import Maker

DAY = timedelta(days=1)

MAX_RUNNING = 500
"""Challenges that run at once, of all; tournaments have as many places left."""

PERSON_GAMES = 4
"""Of one person, that run or wait at once."""

PERSON_GAMES_A_DAY = 200
"""Each move that a person takes back is a game."""


def check_budget(
    connection: Connection, settings: Settings, maker: Maker, games: int, now: datetime
) -> None:
    """Let somebody start this many games; operators have no budget of their own.

    Raises:
        BusyError: the server plays as many challenges as it may.
        QuotaError: these would be too many.
    """
    altogether, by_people = store.challenges_at_once(connection)
    if altogether >= MAX_RUNNING:
        raise BusyError(f"{altogether} challenges are running, the most; try again later")
    if maker.person_id is not None:
        if by_people >= settings.people_games:
            raise BusyError(f"{by_people} people are playing here, the most; try again later")
        _check_at_once(connection, maker, games, PERSON_GAMES)
        _check_a_day(connection, maker, games, PERSON_GAMES_A_DAY, now)
    elif maker.owner_id is not None:
        _check_at_once(connection, maker, games, settings.challenge_games)
        _check_a_day(connection, maker, games, settings.challenge_games_a_day, now)


def _check_at_once(connection: Connection, maker: Maker, games: int, most: int) -> None:
    waiting = store.games_at_once(connection, maker)
    if waiting + games > most:
        raise QuotaError(
            f"{waiting} games of your challenges run or wait and these are {games}, at most "
            f"{most} at once; take some back, or come back when some have ended"
        )


def _check_a_day(
    connection: Connection, maker: Maker, games: int, most: int, now: datetime
) -> None:
    begun = store.games_since(connection, maker, now - DAY)
    over = sum(count for _, count in begun) + games - most
    if over <= 0:
        return
    message = f"your challenges may have {most} games in 24 hours"
    for time, count in begun:
        over -= count
        if over <= 0:
            raise QuotaError(message, time + DAY - now)
    raise QuotaError(f"{message}, and these are {games}; ask for fewer")
