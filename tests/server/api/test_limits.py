"""What an address and a bot may open and ask for: with invented time, then over real sockets."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import grpc
import pytest

from meijin.server.api import limits as module
from meijin.server.api.limits import (
    HELLOS_AT_ONCE,
    MAX_REMEMBERED,
    MAX_WAITING,
    REQUESTS_AT_ONCE,
    STREAMS_OF_A_BOT,
    SUSPENSIONS_OF_AN_ADDRESS,
    Address,
    Lanes,
    Limits,
    Places,
    Remembered,
    SignIns,
    Suspensions,
    Turns,
    address_of,
)
from meijin.server.errors import (
    SuspendedError,
    TooManyHellosError,
    TooManyRequestsError,
    TooManySignInsError,
    TooManyStreamsError,
)
from meijin.server.match.admission import let_in
from meijin.server.settings import Settings
from meijin.server.storage import READERS
from meijin.server.token_bucket import Rate
from meijin.store.access.tokens import Identity
from meijin.store.schema import BotId, TokenId, TokenKind
from meijin.testing.server import ServerInTest
from meijin.v1 import bot_service_pb2, game_service_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb

Code = grpc.StatusCode
HERE = Address("ipv4:192.0.2.1")
THERE = Address("ipv4:192.0.2.2")
LIST_BOTS = "/meijin.v1.BotService/ListBots"
LIST_GAMES = "/meijin.v1.GameService/ListGames"
PATIENCE = 20.0


class Clock:
    """A clock that moves when somebody sleeps, or when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        """The time."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Note that somebody waits so long, without moving the clock."""
        self.slept.append(seconds)


@pytest.fixture
def clock() -> Clock:
    """A clock at zero."""
    return Clock()


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:192.0.2.1:4711", "ipv4:192.0.2.1"),
        ("ipv6:[::1]:4711", "ipv6:::/64"),
        ("ipv6:%5B2001:db8:0:1::7%5D:4711", "ipv6:2001:db8:0:1::/64"),
        ("ipv6:[2001:db8:0:1:ffff::1]:1", "ipv6:2001:db8:0:1::/64"),
        ("ipv6:[fe80::1%25eth0]:1", "ipv6:fe80::/64"),
        ("ipv6:[::ffff:192.0.2.1]:1", "ipv4:192.0.2.1"),
        ("unix:/run/meijin.sock", "unix"),
        ("unix:", "unix"),
        ("unix-abstract:x", "unix-abstract"),
    ],
)
def test_an_address_has_no_port(peer: str, address: str) -> None:
    """Nor the half of an IPv6 address that its owner chooses at will."""
    assert address_of(peer) == address


# -- with invented time -----------------------------------------------------------


def test_places_are_counted_for_each_key() -> None:
    """They are free again at the end, and then nothing is kept."""
    places: Places[str] = Places(2, "streams")
    with places.hold("a"), places.hold("b"):
        with places.hold("a"), pytest.raises(TooManyStreamsError, match="2 streams are open"):
            places.hold("a").__enter__()
        with places.hold("a"):
            pass
    assert not places._held


async def test_lanes_have_few_at_a_time_and_few_that_wait() -> None:
    """Those of another key wait for none of them."""
    lanes: Lanes[str] = Lanes(3, TooManyRequestsError)
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
    turns: Turns[str] = Turns(Rate(10, 40), TooManyHellosError, clock, clock.sleep)
    for _ in range(40):
        await turns.wait("a")
    assert clock.slept == []
    for _ in range(100):
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
    """The oldest are forgotten."""
    remembered = Remembered()
    for number in range(MAX_REMEMBERED + 5):
        remembered.add(str(number))
    assert "4" not in remembered
    assert "5" in remembered
    remembered.discard("5")
    remembered.discard("5")
    assert "5" not in remembered


class Tokens:
    """A store with one right token, which counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.right = "right"

    async def __call__(self, token: str) -> Identity | None:
        """Whose token it is."""
        self.asked.append(token)
        await asyncio.sleep(0)
        return Identity(TokenKind.OPERATOR, None, TokenId(1)) if token == self.right else None


async def test_guesses_are_few(clock: Clock) -> None:
    """Beyond five a minute they are refused unseen, however many come at the same time."""
    tokens = Tokens()
    sign_ins = SignIns(tokens, 5, clock)

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
    sign_ins = SignIns(tokens, 5, clock)
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
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS")
    assert "3 streams of your address are open; come back in 5 s" in end.details
    bots[0].call.cancel()
    await server.away("ada")
    await server.until(lambda: server.tasks("Play") == 2)
    assert await server.bot("eve")


async def test_streams_of_a_bot_are_counted(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token can't be used to fill its address."""
    monkeypatch.setattr("meijin.server.api.play.HELLO_TIMEOUT", timedelta(minutes=1))
    token = await server.register("ada")
    peers = [await server.peer(token) for _ in range(STREAMS_OF_A_BOT + 1)]
    ends = [asyncio.ensure_future(peer.closed()) for peer in peers]
    refused, others = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for each in others:
        each.cancel()
    (end,) = (each.result() for each in refused)
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS")
    assert await server.bot("bob")


@pytest.mark.settings(max_watchers=2)
async def test_watchers_of_an_address_are_counted(
    server: ServerInTest, ending_of_call: Callable[..., Any]
) -> None:
    """Of games and tournaments together; bots' streams and requests are not among them."""
    await server.pair()
    games, tournaments = await server.games(), await server.tournaments()
    watch = tournament_service_pb2.WatchTournamentRequest(tournament_id="1")
    first = tournaments.WatchTournament(watch)
    second = games.WatchGame(game_service_pb2.WatchGameRequest(game_id="1"))
    assert await first.read()
    assert await second.read()
    end = await ending_of_call(tournaments.WatchTournament(watch))
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS")
    assert await server.bot("eve")
    first.cancel()
    await server.until(lambda: server.tasks("WatchTournament") == 0)
    assert await tournaments.WatchTournament(watch).read()


@pytest.mark.settings(write_timeout=timedelta(seconds=0.3))
async def test_a_watcher_that_never_reads_is_dropped(
    server: ServerInTest, ending_of_call: Callable[..., Any]
) -> None:
    """While the tournament goes on it no longer counts among those who are told."""
    async with server.innocents():
        bots = [await server.bot(name, max_games=100) for name in ("ada", "bob")]
        small = (("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0))
        channel = await server.channel(*small)
        method: Any = channel.unary_stream(
            "/meijin.v1.TournamentService/WatchTournament",
            request_serializer=tournament_service_pb2.WatchTournamentRequest.SerializeToString,
        )
        key = await server.tournament("ada", "bob", rounds=2_000, unrated=True)
        call = method(tournament_service_pb2.WatchTournamentRequest(tournament_id=key))
        feed = server.parts.feed
        await server.until(lambda: len(feed._subscribers) == 1)
        resigning = [asyncio.create_task(_resign_all(bot)) for bot in bots]
        await server.until(lambda: not feed._subscribers)
        for task in resigning:
            task.cancel()
        await asyncio.gather(*resigning, return_exceptions=True)
    end = await ending_of_call(call)
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "NOT_READING")


async def _resign_all(bot: Any) -> None:
    while True:
        await bot.resign((await bot.started()).game)


@pytest.mark.settings(registration="closed")
async def test_guessing_asks_the_store_a_few_times(
    server: ServerInTest, ending: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest hears so at once; whoever was in before gets in."""
    token = await server.register("ada")
    await server.bot("ada", token=token)
    storage = server.parts.storage
    read, lookups = storage.read_for_sign_in, []

    async def counted(query: Any) -> Any:
        lookups.append(query)
        return await read(query)

    monkeypatch.setattr(storage, "read_for_sign_in", counted)
    channel = await server.channel()
    ends = [await ending(channel, LIST_BOTS, b"", f"gmk_bot_{number}") for number in range(50)]
    assert [end.reason for end in ends] == ["UNKNOWN_TOKEN"] * 5 + ["TOO_MANY_SIGN_INS"] * 45
    assert {end.code for end in ends} == {Code.UNAUTHENTICATED, Code.RESOURCE_EXHAUSTED}
    assert len(lookups) == 5
    assert (await ending(channel, LIST_BOTS, b"", None)).code is Code.OK
    assert await server.bot("ada", token=token)


async def test_a_storm_of_hellos_has_few_at_the_store(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others wait, and all of them get in."""
    waiting, most = 0, 0
    write = server.parts.storage.write

    async def counted(work: Any, **arguments: Any) -> Any:
        nonlocal waiting, most
        if getattr(work, "func", None) is not let_in:  # what the server writes for itself
            return await write(work, **arguments)
        waiting += 1
        most = max(most, waiting)
        try:
            return await write(work, **arguments)
        finally:
            waiting -= 1

    monkeypatch.setattr(server.parts.storage, "write", counted)
    with server.held():
        joining = [asyncio.create_task(server.bot(f"bot-{number}")) for number in range(40)]
        await server.until(lambda: waiting == HELLOS_AT_ONCE)
    assert {peer.name for peer in await asyncio.gather(*joining)} == {
        f"bot-{number}" for number in range(40)
    }
    assert most == HELLOS_AT_ONCE


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
        await peer.write(hello=pb.Hello(protocol_version=1, bot_name=f"bot-{number}"))
        end = await peer.closed() if number >= 8 else None
    assert end is not None
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_HELLOS")
    assert "come back in" in end.details
    ada.call.cancel()
    assert await server.bot("ada", resume=ada.session_id)


async def test_an_address_takes_half_of_the_readers(server: ServerInTest) -> None:
    """However many lists it asks for; others are served beside it."""
    assert 2 * REQUESTS_AT_ONCE <= READERS
    gate = threading.Event()
    inside, lock = [0, 0], threading.Lock()
    read = server.database.read

    def slow(query: Any, *args: Any, **kwargs: Any) -> Any:
        if not getattr(query, "func", query).__module__.startswith("meijin.server.api"):
            return read(query, *args, **kwargs)  # what the server looks up for itself
        with lock:
            inside[0] += 1
            inside[1] = max(inside)
        gate.wait(PATIENCE)
        with lock:
            inside[0] -= 1
        return read(query, *args, **kwargs)

    server.parts.storage._database = type("Slow", (), {"read": staticmethod(slow)})()
    games = await server.games()
    async with AsyncExitStack() as stack:
        stack.callback(gate.set)
        calls: list[Any] = [games.ListGames(game_service_pb2.ListGamesRequest()) for _ in range(6)]
        other = await server.bots()
        calls += [other.ListBots(bot_service_pb2.ListBotsRequest()) for _ in range(6)]
        await server.until(lambda: inside[0] == REQUESTS_AT_ONCE)
        assert await server.bot("ada")
    await asyncio.gather(*calls)
    assert inside == [0, REQUESTS_AT_ONCE]


@pytest.mark.settings(requests_per_second=1)
async def test_requests_beyond_the_rate_are_told_to_come_back(
    server: ServerInTest, ending: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once their wait would be too long; health is always told."""
    monkeypatch.setattr(module, "LONGEST_WAIT", timedelta(0))
    channel = await server.channel()
    ends = [await ending(channel, LIST_GAMES, b"", None) for _ in range(20)]
    last = ends[-1]
    assert ends[0].code is Code.OK
    assert (last.code, last.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS")
    for _ in range(20):
        assert (await ending(channel, "/grpc.health.v1.Health/Check", b"", None)).code is Code.OK
