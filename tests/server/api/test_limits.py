"""What an address and a bot may open and ask for: with invented time, then over real sockets."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

import grpc
import pytest
from tests.peer import ending_of_request

from meijin.server.api.calls import limits as module
from meijin.server.api.calls.limits import (
    HELLOS_AT_ONCE,
    MAX_REMEMBERED,
    MAX_WAITING,
    REQUESTS_AT_ONCE,
    STREAMS_OF_A_BOT,
    SUSPENSIONS_OF_AN_ADDRESS,
    Address,
    ConcurrencyLimit,
    KeyedSemaphore,
    Limits,
    LruSet,
    RateLimit,
    SignInThrottle,
    Suspensions,
    address_of,
)
from meijin.server.errors import (
    SuspendedError,
    TooManyHellosError,
    TooManyRequestsError,
    TooManySignInsError,
    TooManyStreamsError,
)
from meijin.server.settings import Settings
from meijin.server.storage import READERS
from meijin.server.token_bucket import Rate
from meijin.store.access.tokens import Identity
from meijin.store.schema import BotId, TokenId, TokenKind

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

HERE, THERE = Address("ipv4:192.0.2.1"), Address("ipv4:192.0.2.2")
LOCAL = Address("ipv4:127.0.0.1")
LIST_BOTS, LIST_GAMES = "BotService/ListBots", "GameService/ListGames"
WATCH, WATCH_GAME = "TournamentService/WatchTournament", "GameService/WatchGame"


class Clock:
    """A clock that moves when it is told to, and notes who waits for how long."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:192.0.2.1:4711", "ipv4:192.0.2.1"),
        ("ipv6:%5B2001:db8:0:1::7%5D:4711", "ipv6:2001:db8:0:1::/64"),
        ("ipv6:[2001:db8:0:1:ffff::1]:1", "ipv6:2001:db8:0:1::/64"),
        ("ipv6:[fe80::1%25eth0]:1", "ipv6:fe80::/64"),
        ("ipv6:[::ffff:192.0.2.1]:1", "ipv4:192.0.2.1"),
        ("unix:/run/meijin.sock", "unix"),
        ("unix-abstract:x", "unix-abstract"),
    ],
)
def test_an_address_has_no_port(peer: str, address: str) -> None:
    """Nor the half of an IPv6 address that its owner chooses at will."""
    assert address_of(peer) == address


# -- with invented time -----------------------------------------------------------


def test_places_are_counted_for_each_key() -> None:
    """They are free again at the end, and then nothing is kept."""
    places = ConcurrencyLimit[str](2, "streams")
    with places.hold("a"), places.hold("b"):
        with places.hold("a"), pytest.raises(TooManyStreamsError, match="2 streams are open"):
            places.hold("a").__enter__()
        with places.hold("a"):
            pass
    assert not places._held


async def test_lanes_have_few_at_a_time_and_few_that_wait() -> None:
    """Those of another key wait for none of them."""
    lanes = KeyedSemaphore[str](3, TooManyRequestsError)
    gate, inside, refused = asyncio.Event(), [], []

    async def work(key: str) -> None:
        try:
            async with lanes.slot(key):
                inside.append(key)
                await gate.wait()
        except TooManyRequestsError as error:
            refused.append(error)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(3 + MAX_WAITING + 7):
            tasks.create_task(work("a"))
        tasks.create_task(work("b"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (inside.count("a"), inside.count("b"), len(refused)) == (3, 1, 7)
        gate.set()
    assert len(inside) == 3 + MAX_WAITING + 1
    assert not lanes._lanes


async def test_a_turn_is_waited_for_and_then_refused(clock: Clock) -> None:
    """The burst at once, then as many as fit into the longest wait, each behind the other."""
    turns = RateLimit[str](Rate(10, 40), TooManyHellosError, clock, clock.sleep)
    for _ in range(140):
        await turns.wait("a")
    assert clock.slept == pytest.approx([0.1 * number for number in range(1, 101)])
    with pytest.raises(TooManyHellosError, match=r"10 a second.*come back in") as caught:
        await turns.wait("a")
    assert caught.value.retry_after is not None
    await turns.wait("b")
    clock.now = 60
    await turns.wait("a")
    assert len(clock.slept) == 100


def test_what_is_remembered_is_bounded() -> None:
    remembered = LruSet()
    for number in range(MAX_REMEMBERED + 5):
        remembered.add(str(number))
    assert "4" not in remembered
    assert "5" in remembered
    for _ in range(2):
        remembered.discard("5")
    assert "5" not in remembered


class Tokens:
    """A store with one right token, which counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.right = "right"

    async def __call__(self, token: str) -> Identity | None:
        self.asked.append(token)
        await asyncio.sleep(0)
        return Identity(TokenKind.OPERATOR, None, TokenId(1)) if token == self.right else None


async def test_guesses_are_few(clock: Clock) -> None:
    """Beyond five a minute they are refused unseen, however many come at the same time."""
    tokens = Tokens()
    sign_ins = SignInThrottle(tokens, 5, clock)

    async def guess(token: str, address: Address = HERE) -> bool:
        try:
            assert await sign_ins.identity(address, token) is None
        except TooManySignInsError:
            return False
        return True

    heard = await asyncio.gather(*(guess(f"guess {number}") for number in range(200)))
    assert sum(heard) == len(tokens.asked) <= 5 + HELLOS_AT_ONCE
    assert await guess("another address", THERE)
    clock.now = 60.0
    heard = [await guess(f"later {number}") for number in range(20)]
    assert sum(heard) == 5


async def test_a_right_token_among_guesses(clock: Clock) -> None:
    """One that was right before is always looked up; a new one when a guess would be, too."""
    tokens = Tokens()
    sign_ins = SignInThrottle(tokens, 5, clock)
    assert await sign_ins.identity(HERE, "right")
    for number in range(5):
        assert await sign_ins.identity(HERE, f"guess {number}") is None
    for _ in range(1_000):
        assert await sign_ins.identity(HERE, "right")
    tokens.right = "new"
    assert await sign_ins.identity(HERE, "right") is None
    for token in ("new", "right"):
        with pytest.raises(TooManySignInsError, match="come back in 12 s"):
            await sign_ins.identity(HERE, token)
    assert await sign_ins.identity(THERE, "new")
    assert await sign_ins.identity(HERE, "new")


def test_a_suspended_bot_stays_away_for_a_while(clock: Clock) -> None:
    """By its token wherever it comes from; without one, by its name at its address."""
    suspensions = Suspensions(clock)
    for bot in (BotId(1), (HERE, "ada")):
        suspensions.add(bot, "session")
        with pytest.raises(SuspendedError, match="come back in 10 s"):
            suspensions.check(bot, is_return=True)
    for other in (BotId(2), (HERE, "bob"), (THERE, "ada")):
        suspensions.check(other, is_return=False)
    clock.now = 10.0
    suspensions.check(BotId(1), is_return=False)
    suspensions.check((HERE, "ada"), is_return=False)


def test_new_names_do_not_help_a_suspended_address(clock: Clock) -> None:
    """Nor do they harm who comes back to a session of its own, or has a token."""
    suspensions = Suspensions(clock)
    for number in range(SUSPENSIONS_OF_AN_ADDRESS):
        suspensions.check((HERE, f"new {number}"), is_return=False)
        suspensions.add((HERE, f"new {number}"), "session")
    with pytest.raises(SuspendedError):
        suspensions.check((HERE, "another"), is_return=False)
    suspensions.check((HERE, "another"), is_return=True)
    suspensions.check((THERE, "another"), is_return=False)
    suspensions.check(BotId(1), is_return=False)
    clock.now = 10.0
    suspensions.check((HERE, "another"), is_return=False)


# -- over sockets -----------------------------------------------------------------


@pytest.mark.settings(max_streams=3)
async def test_streams_of_an_address_are_counted(server: ServerInTest) -> None:
    """Whether they say hello or not; one that ends makes room."""
    bots = [await server.bot("ada"), await server.bot("bob")]
    silent = await server.peer()
    await silent.call.wait_for_connection()
    await server.until(lambda: server.tasks("Play") == 3)
    end = await (await server.peer()).closed()
    assert end.reason == "TOO_MANY_STREAMS"
    assert "3 streams of your address are open; come back in 5 s" in end.details
    bots[0].call.cancel()
    await server.away("ada")
    await server.until(lambda: server.tasks("Play") == 2)
    assert await server.bot("eve")


async def test_streams_of_a_bot_are_counted(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token can't be used to fill its address."""
    monkeypatch.setattr("meijin.server.api.streams.play.HELLO_TIMEOUT", timedelta(minutes=1))
    token = await server.register("ada")
    peers = [await server.peer(token) for _ in range(STREAMS_OF_A_BOT + 1)]
    ends = [asyncio.ensure_future(peer.closed()) for peer in peers]
    refused, others = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for each in others:
        each.cancel()
    assert [each.result().reason for each in refused] == ["TOO_MANY_STREAMS"]
    assert await server.bot("bob")


@pytest.mark.settings(max_watchers=2)
async def test_watchers_of_an_address_are_counted(server: ServerInTest) -> None:
    """Of games and tournaments together; bots' streams and requests are not among them."""
    await server.pair()
    first, second = server.watch(WATCH, tournament_id="1"), server.watch(WATCH_GAME, game_id="1")
    assert await first.read()
    assert await second.read()
    assert (await server.refusal(WATCH, tournament_id="1")).reason == "TOO_MANY_STREAMS"
    assert await server.bot("eve")
    first.cancel()
    await server.until(lambda: server.tasks("WatchTournament") == 0)
    third = server.watch(WATCH, tournament_id="1")
    assert await third.read()
    third.cancel()


@pytest.mark.settings(registration="closed")
async def test_guesses_are_refused(server: ServerInTest) -> None:
    """Whoever was in before gets in."""
    token = await server.register("ada")
    await server.bot("ada", token=token)
    ends = [await server.refusal(LIST_BOTS, f"gmk_bot_{number}") for number in range(7)]
    assert [end.reason for end in ends] == ["UNKNOWN_TOKEN"] * 5 + ["TOO_MANY_SIGN_INS"] * 2
    assert await server.bot("ada", token=token)


async def test_few_hellos_are_at_the_store(server: ServerInTest) -> None:
    """The others wait, and get in."""
    admitting = server.app.limits.admitting
    for _ in range(HELLOS_AT_ONCE):
        await admitting.acquire()
    joining = asyncio.create_task(server.bot("ada"))
    await server.until(lambda: admitting._waiters)
    admitting.release()
    assert (await joining).name == "ada"


async def test_hellos_beyond_the_queue_are_told_to_come_back(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that returns to its session waits in a line of its own."""
    limits = Limits(Settings.model_construct(hellos_per_second=1))
    monkeypatch.setattr(module, "LONGEST_WAIT", timedelta(0))
    monkeypatch.setattr(server.app.limits, "_hellos", limits._hellos)
    ada = await server.bot("ada")
    for number in range(10):
        peer = await server.peer()
        await peer.hello(f"bot-{number}")
    end = await peer.closed()
    assert (end.reason, "come back in" in end.details) == ("TOO_MANY_HELLOS", True)
    ada.call.cancel()
    assert await server.bot("ada", resume=ada.session_id)


async def test_an_address_takes_half_of_the_readers(server: ServerInTest) -> None:
    """What more it asks for waits; a bot is let in beside it."""
    assert 2 * REQUESTS_AT_ONCE <= READERS
    async with AsyncExitStack() as taken:
        for _ in range(REQUESTS_AT_ONCE):
            await taken.enter_async_context(server.app.limits._serving.slot(LOCAL))
        listing = asyncio.ensure_future(server.ask(LIST_BOTS))
        assert await server.bot("ada")
        assert not listing.done()
    assert [bot.name for bot in (await listing).bots] == ["ada"]


@pytest.mark.settings(requests_per_second=1)
async def test_requests_beyond_the_rate_are_told_to_come_back(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once their wait would be too long; health is always told."""
    monkeypatch.setattr(module, "LONGEST_WAIT", timedelta(0))
    ends = [await server.refusal(LIST_GAMES) for _ in range(20)]
    assert ends[0].code is grpc.StatusCode.OK
    assert ends[-1].reason == "TOO_MANY_REQUESTS"
    for _ in range(20):
        health = await ending_of_request(server.calls, "/grpc.health.v1.Health/Check", b"", None)
        assert health.code is grpc.StatusCode.OK
