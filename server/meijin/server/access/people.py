"""People: let in with a token of their own, and forgotten when they have done nothing."""

import asyncio
import re
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from meijin.server.access.challenges import ChallengeControl
from meijin.server.errors import BusyError, PeopleOffError, StoreAwayError, invalid_request
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.server.token_bucket import Rate, TokenBuckets
from meijin.store.access.classes import class_of_key
from meijin.store.access.people import forget_idle, idle_people
from meijin.store.access.tokens import add_token, new_secret
from meijin.store.bots import add_bot
from meijin.store.schema import PERSON_PREFIX, BotId, TokenKind, TournamentId
from meijin.store.tournaments.challenges import challenges_of_people
from meijin.wire.text import check_display_name

LIFETIME = timedelta(days=30)
"""Of a person's token."""

IDLE = timedelta(days=1)
"""After it a person is forgotten who has challenged nobody."""

AWAY = timedelta(minutes=5)
"""After it a challenge is taken back whose person has not come back."""

LOOK_INTERVAL = timedelta(minutes=1)

FORGOTTEN_AT_ONCE = 500

RATE_OF_AN_ADDRESS = Rate(per_second=60 / 3600, burst=20)
"""People who come from one address; all who come by one proxy have the same."""

RATE_OF_A_CLASS = Rate(per_second=500 / 3600, burst=100)
"""People who come by one class's link, from any address."""

RATE_OF_ALL = Rate(per_second=1000 / 3600, burst=200)

_LONGEST_WORD = 20
_SUFFIX_BYTES = 4


class Person(NamedTuple):
    name: str
    display_name: str
    """May be empty."""
    token: str
    expire_time: datetime


class People:
    """Lets people in, and clears up behind them.

    Args:
        is_open: Whether people may come at all.
    """

    def __init__(
        self,
        storage: Storage,
        lobby: Lobby,
        challenges: ChallengeControl,
        *,
        is_open: bool,
    ) -> None:
        self._storage = storage
        self._lobby = lobby
        self._challenges = challenges
        self._is_open = is_open
        self._of_address = TokenBuckets[str](RATE_OF_AN_ADDRESS)
        self._of_class = TokenBuckets[str](RATE_OF_A_CLASS)
        self._of_all = TokenBuckets[str](RATE_OF_ALL)
        self._away_since: dict[TournamentId, float] = {}
        """Challenges whose person is not here, in seconds of the monotonic clock."""

    async def enter(self, address: str, display_name: str, class_key: str = "") -> Person:
        """Let a person in.

        Args:
            class_key: The end of the class's link by which the person came.

        Raises:
            InvalidRequestError: nobody can be called so.
            PeopleOffError: no people come to this server.
            BusyError: too many came of late.
        """
        if not self._is_open:
            raise PeopleOffError("people don't play on this server; bots do")
        if display_name:
            with invalid_request("display_name"):
                display_name = check_display_name(display_name)
        found = await self._storage.read(class_of_key, class_key) if class_key else None
        self._count(address, "" if found is None else found.name)
        secret, now = new_secret(TokenKind.PERSON.value), datetime.now(UTC)
        while True:
            name = _new_name(display_name)
            try:
                await self._storage.write(_add, name, display_name, secret, now)
            except IntegrityError:
                continue  # another of 4 billion such names
            return Person(name, display_name, secret, now + LIFETIME)

    def _count(self, address: str, class_name: str) -> None:
        """Count who comes for its class, or where it has none for its address."""
        now = monotonic()
        origin = (self._of_class, class_name) if class_name else (self._of_address, address)
        counted = (origin, (self._of_all, "all"))
        for buckets, key in counted:
            wait = buckets.wait(key, now)
            if wait:
                raise BusyError("too many people came of late", timedelta(seconds=wait))
        for buckets, key in counted:
            buckets.get(key, now).take(now)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_INTERVAL.total_seconds())
            await self.clear_up(monotonic())

    async def clear_up(self, now: float) -> None:
        """Take challenges back whose person has left, and forget people who did nothing."""
        try:
            running = await self._storage.read(challenges_of_people)
            for challenge_id in self._abandoned(running, now):
                await self._challenges.abandon(challenge_id)
            await self._forget(datetime.now(UTC) - IDLE)
        except StoreAwayError:
            return

    async def _forget(self, since: datetime) -> None:
        """Forget people who did nothing; who they are is looked up where no game waits for it."""
        people = await self._storage.read(idle_people, since=since, limit=FORGOTTEN_AT_ONCE)
        if people:
            await self._storage.write(forget_idle, since=since, people=people)

    def _abandoned(
        self, running: Mapping[TournamentId, BotId], now: float
    ) -> Sequence[TournamentId]:
        """Challenges whose person has been away for too long, with no game that waits."""
        here = self._lobby.players
        away = [key for key, person_id in running.items() if person_id not in here]
        self._away_since = {key: self._away_since.get(key, now) for key in away}
        longest = AWAY.total_seconds()
        return [key for key, since in self._away_since.items() if now - since >= longest]


def _add(connection: Connection, name: str, display_name: str, secret: str, now: datetime) -> None:
    person_id = add_bot(connection, name, now, display_name=display_name)
    expire_time = now + LIFETIME
    add_token(connection, secret, TokenKind.PERSON, now, bot_id=person_id, expire_time=expire_time)


def _new_name(display_name: str) -> str:
    """A name like that a person goes by, as far as it is of letters that names have."""
    plain = unicodedata.normalize("NFKD", display_name).encode("ascii", "ignore").decode()
    word = re.sub("[^a-z0-9]+", "-", plain.lower())[:_LONGEST_WORD].strip("-") or "guest"
    return f"{PERSON_PREFIX}{word}-{secrets.token_hex(_SUFFIX_BYTES)}"
