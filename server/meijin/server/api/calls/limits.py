"""Limits of an address and of a bot: streams, watchers, hellos, sign-ins, requests, suspensions.

All of it is kept in memory, bounded, and looked up at once; a restart forgets it. An
address is a host, an IPv6 network of 64 bits, or all of a Unix socket's peers. Behind
a proxy all peers have one.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from ipaddress import IPv6Address, IPv6Network
from typing import Generic, NamedTuple, NewType, TypeAlias, TypeVar
from urllib.parse import unquote

from meijin.server.errors import (
    MeijinError,
    SuspendedError,
    TooManyActionsError,
    TooManyHellosError,
    TooManyMessagesError,
    TooManyNoticesError,
    TooManyRequestsError,
    TooManySignInsError,
    TooManyStreamsError,
)
from meijin.server.settings import Settings
from meijin.server.token_bucket import Rate, TokenBuckets
from meijin.store.access.tokens import Identity, token_digest
from meijin.store.schema import BotId
from meijin.wire.contract import MAX_CHUNK_BYTES, MAX_RECORDS_BYTES

BURST_SECONDS = 4
"""Hellos and requests may come at once that are allowed in this many seconds."""

LONGEST_WAIT = timedelta(seconds=10)
"""How long a hello or a request may wait for its turn before it is refused instead."""

HELLOS_AT_ONCE = 8
"""Hellos of the whole server that are with the store at the same time."""

REQUESTS_AT_ONCE = 4
"""Requests of an address that are served at the same time: half of the threads that read."""

MAX_WAITING = 250
"""Requests of an address, or sign-ins, that may wait for those before them."""

CHANGE_RATE = Rate(per_second=10, burst=100)
"""Of what an address may change: bots registered, tournaments made, games voided."""

STREAMS_OF_A_BOT = 8
"""Streams that a bot's token may hold: the open one, those that replace it, and broken ones."""

EVALUATIONS_OF_AN_ADDRESS = 8
"""Calls at once of an address that have bots evaluate positions."""

EVALUATIONS = 64
"""Calls at once of the whole server that have bots evaluate positions."""

UPLOADS_OF_AN_ADDRESS = 32
"""Programs that are uploaded at once from an address: a class may sit behind one."""

UPLOADS = 64
"""Programs that are uploaded at once to the whole server: each has a thread and a chunk."""

SUSPENSION = timedelta(seconds=10)
"""How long a bot has to stay away whose stream was ended for what it sent."""

SUSPENSIONS_OF_AN_ADDRESS = 5
"""Bots without a token that may be suspended before all of their address's are: names are free."""

MAX_REMEMBERED = 10_000
"""Sessions and tokens that are remembered; the oldest are forgotten."""

ABUSES = (TooManyActionsError, TooManyMessagesError, TooManyNoticesError)
"""What a bot is suspended for."""

WORK = "/meijin.v1.WorkerService/Work"
"""The method whose messages hold whole games."""

UPLOAD = "/meijin.v1.HostingService/UploadProgram"
"""The method whose messages hold programs in chunks."""

FIELD_BYTES = 16
"""Of a message beside a field's own bytes, at most."""

MINUTE = timedelta(minutes=1).total_seconds()

Address = NewType("Address", str)
BotKey: TypeAlias = BotId | tuple[Address, str]
"""A bot: by its token, or by its address and the name that it goes by."""

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Peer(NamedTuple):
    address: Address
    port: str


def peer_of(peer: str) -> Peer:
    """The other end of a connection, of what gRPC says of it."""
    return Peer(address_of(peer), peer.rpartition(":")[2])


def address_of(peer: str) -> Address:
    """Where a call comes from, of what gRPC says of its peer: without the port."""
    kind, _, rest = unquote(peer).partition(":")
    if kind == "ipv4":
        return Address(f"ipv4:{rest.rpartition(':')[0]}")
    if kind != "ipv6":
        return Address(kind)
    host = IPv6Address(rest.rpartition(":")[0].strip("[]").partition("%")[0])
    if host.ipv4_mapped is not None:
        return Address(f"ipv4:{host.ipv4_mapped}")
    return Address(f"ipv6:{IPv6Network((int(host), 64), strict=False)}")


@contextmanager
def counted(counter: Counter[K], key: K) -> Iterator[None]:
    """Count one of a key as long as the context lasts; of what has none nothing is kept."""
    counter[key] += 1
    try:
        yield
    finally:
        counter[key] -= 1
        if not counter[key]:
            del counter[key]


class ConcurrencyLimit(Generic[K]):
    """How much may go on at the same time for each key."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._held: Counter[K] = Counter()

    @contextmanager
    def hold(self, key: K) -> Iterator[None]:
        """Hold a place as long as the context lasts.

        Raises:
            TooManyStreamsError: all of them are held.
        """
        if self._held[key] >= self._most:
            raise TooManyStreamsError(f"{self._most} {self._what} are open", timedelta(seconds=5))
        with counted(self._held, key):
            yield


class KeyedSemaphore(Generic[K]):
    """How much is done at the same time for each key; others wait, up to a number."""

    def __init__(self, at_once: int, error: type[MeijinError]) -> None:
        self._at_once = at_once
        self._error = error
        self._lanes: dict[K, asyncio.Semaphore] = {}
        self._users: Counter[K] = Counter()

    @asynccontextmanager
    async def slot(self, key: K) -> AsyncIterator[None]:
        """Wait for a slot, and have it as long as the context lasts.

        Raises:
            MeijinError: too many wait already.
        """
        if self._users[key] >= self._at_once + MAX_WAITING:
            raise self._error(f"{MAX_WAITING} calls of your address wait", LONGEST_WAIT)
        lane = self._lanes.setdefault(key, asyncio.Semaphore(self._at_once))
        try:
            with counted(self._users, key):
                async with lane:
                    yield
        finally:
            if key not in self._users:
                del self._lanes[key]


class RateLimit(Generic[K]):
    """How much begins in a second for each key; others wait for their turn, up to a time."""

    def __init__(self, rate: Rate, error: type[MeijinError], clock: Clock, sleep: Sleep) -> None:
        self._rate = rate
        self._error = error
        self._clock = clock
        self._sleep = sleep
        self._buckets = TokenBuckets[K](rate)

    async def wait(self, key: K) -> None:
        """Wait for a turn.

        Raises:
            MeijinError: it would come too late.
        """
        now = self._clock()
        bucket = self._buckets.get(key, now)
        wait = bucket.wait(now)
        if wait > LONGEST_WAIT.total_seconds():
            what = f"more than {self._rate.per_second:g} a second from your address"
            raise self._error(what, timedelta(seconds=wait))
        bucket.reserve(now)
        if wait:
            await self._sleep(wait)


class LruSet:
    """The last texts that were added."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, text: str) -> bool:
        return text in self._texts

    def add(self, text: str) -> None:
        """Remember a text, and forget the oldest if there are too many."""
        self._texts[text] = None
        if len(self._texts) > MAX_REMEMBERED:
            self._texts.popitem(last=False)

    def discard(self, text: str) -> None:
        self._texts.pop(text, None)


class SignInThrottle:
    """Looks tokens up, few wrong ones for each address.

    A token that was right since the server's start is looked up whatever others at its
    address do; any other one has to wait while too many were wrong there.
    """

    def __init__(
        self, authenticate: Callable[[str], Awaitable[Identity | None]], failures: int, clock: Clock
    ) -> None:
        self._authenticate = authenticate
        self._clock = clock
        self._failures = TokenBuckets[Address](Rate(failures / MINUTE, failures))
        self._lanes = KeyedSemaphore[Address](HELLOS_AT_ONCE, TooManySignInsError)
        self._right = LruSet()

    async def identity(self, address: Address, token: str) -> Identity | None:
        """Whose token it is; ``None`` when it is unknown or revoked.

        Raises:
            TooManySignInsError: too many were wrong at this address; this one isn't looked up.
        """
        digest = token_digest(token)
        if digest in self._right:
            identity = await self._authenticate(token)
        else:
            async with self._lanes.slot(address):
                self._check(address)
                identity = await self._authenticate(token)
        if identity is None:
            self._right.discard(digest)
            now = self._clock()
            self._failures.get(address, now).take(now)
        else:
            self._right.add(digest)
        return identity

    def _check(self, address: Address) -> None:
        wait = self._failures.wait(address, self._clock())
        if wait:
            raise TooManySignInsError(
                "too many wrong tokens came from your address", timedelta(seconds=wait)
            )


class Suspensions:
    """The bots that have to stay away for a while, since their stream was ended for what it sent.

    A bot without a token is known by its name at its address, and a few of them suspend
    the address, but for bots that resume a session which was not ended so.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        seconds = SUSPENSION.total_seconds()
        self._bots = TokenBuckets[BotKey](Rate(1 / seconds, 1))
        self._addresses = TokenBuckets[Address](Rate(1 / seconds, SUSPENSIONS_OF_AN_ADDRESS))
        self.sessions = LruSet()
        """The sessions that bots may come back to."""

    def add(self, bot: BotKey, session_id: str) -> None:
        now = self._clock()
        self._bots.get(bot, now).take(now)
        if isinstance(bot, tuple):
            self._addresses.get(bot[0], now).take(now)
        self.sessions.discard(session_id)

    def check(self, bot: BotKey, *, is_return: bool) -> None:
        """Let a bot in.

        Raises:
            SuspendedError: it may not come in yet.
        """
        now = self._clock()
        wait = self._bots.wait(bot, now)
        if isinstance(bot, tuple) and not is_return:
            wait = max(wait, self._addresses.wait(bot[0], now))
        if wait:
            message = "a stream was ended for what it sent; look for the defect"
            raise SuspendedError(message, timedelta(seconds=wait))


class Limits:
    def __init__(
        self, settings: Settings, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.clock = clock
        self._message_bytes = settings.max_message_bytes
        self.write_timeout = settings.write_timeout
        self.failed_sign_ins = settings.max_failed_sign_ins
        self.calling: Counter[Peer] = Counter()
        """How many calls each connection has."""
        self.streams = ConcurrencyLimit[Address](settings.max_streams, "streams of your address")
        self.streams_of_bot = ConcurrencyLimit[BotId](STREAMS_OF_A_BOT, "streams of this bot")
        self.watchers = ConcurrencyLimit[Address](settings.max_watchers, "watchers of your address")
        self.evaluations = ConcurrencyLimit[Address](
            EVALUATIONS_OF_AN_ADDRESS, "calls of Evaluate from your address"
        )
        self.evaluations_of_all = ConcurrencyLimit[str](
            EVALUATIONS, "calls of Evaluate on this server"
        )
        self.evaluations_of_person = ConcurrencyLimit[BotId](1, "call of Evaluate of yours")
        """Of each person."""
        self.uploads = ConcurrencyLimit[Address](UPLOADS_OF_AN_ADDRESS, "uploads of your address")
        self.uploads_of_bot = ConcurrencyLimit[BotId](1, "upload for this bot")
        self.uploads_of_all = ConcurrencyLimit[str](UPLOADS, "uploads on this server")
        self.suspensions = Suspensions(clock)
        hellos, requests = settings.hellos_per_second, settings.requests_per_second
        self._hellos = RateLimit[tuple[Address, bool]](
            Rate(hellos, hellos * BURST_SECONDS), TooManyHellosError, clock, sleep
        )
        self._requests = RateLimit[Address](
            Rate(requests, requests * BURST_SECONDS), TooManyRequestsError, clock, sleep
        )
        self._changes = RateLimit[Address](CHANGE_RATE, TooManyRequestsError, clock, sleep)
        self._serving = KeyedSemaphore[Address](REQUESTS_AT_ONCE, TooManyRequestsError)
        self.admitting = asyncio.Semaphore(HELLOS_AT_ONCE)
        """Held while a hello is with the store."""

    def message_bytes(self, method: str) -> int:
        """The largest message that a method takes."""
        if method == UPLOAD:
            return max(self._message_bytes, MAX_CHUNK_BYTES + FIELD_BYTES)
        return MAX_RECORDS_BYTES if method == WORK else self._message_bytes

    async def hello_turn(self, address: Address, *, is_return: bool) -> None:
        """Let a hello have its turn; bots that come back don't wait behind those that are new.

        Raises:
            TooManyHellosError: too many of the address wait already.
        """
        await self._hellos.wait((address, is_return))

    async def turn(self, address: Address, *, is_change: bool) -> None:
        """Let a request have its turn; one that changes something has fewer.

        Raises:
            TooManyRequestsError: too many of the address wait already.
        """
        await self._requests.wait(address)
        if is_change:
            await self._changes.wait(address)

    async def served(self, address: Address, serve: Callable[[], Awaitable[T]]) -> T:
        """Serve a request that reads, when few others of its address are being served.

        Raises:
            TooManyRequestsError: too many of the address wait already.
        """
        async with self._serving.slot(address):
            return await serve()
