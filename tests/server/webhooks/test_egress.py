"""What webhooks may reach."""

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from ipaddress import ip_network

import pytest

from meijin.server.errors import BusyError
from meijin.server.webhooks import egress as module
from meijin.server.webhooks.egress import (
    MAX_LOOKUPS,
    EgressPolicy,
    Lookups,
    Resolve,
    TargetError,
    parse_url,
)

PUBLIC = EgressPolicy()
LOOPBACK = EgressPolicy((ip_network("127.0.0.0/8"), ip_network("::1/128")))
URL = parse_url("https://hooks.example.org/")
GOOD = "93.184.216.34"

PRIVATE = (
    *("127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.1", "192.0.2.7"),
    *("198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1"),
    *("2002:7f00:1::", "2002:a00:1::", "2001:0:7f00:1::", "::127.0.0.1", "fe80::1%eth0"),
)
NUMBERS = (
    *("127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.1", "0x7f.0x0.0x0.0x1", "0x"),
    *("0177.0.0.1", "017700000001", "0", "00", "0.0", "127.0.0.1.", "127.0.0.1..", "1.2.3.256"),
    *("example.org.127.1", "93.184.216.034", "1572395042", "999999999999"),
)
NO_NAMES = (
    *("127.0.0.1%2eexample.org", "%31%32%37.0.0.1", "127.0.0.1%25", "127.0.0.1\\.example.org"),
    *("example..org", ".example.org", "-example.org", "ex*mple.org", "a" * 64 + ".org"),
    *(".".join(["a" * 60] * 5), "[fe80::1%]"),
)
NOT_PUBLIC = ("localhost", "LOCALHOST", "localhost.", "a.localhost", "ip6-localhost", "intranet")
TRICKS = (
    *("https://example.org@127.0.0.1/", "https://127.0.0.1@example.org/"),
    *("https://127.0.0.1\\@example.org/", "https://:@example.org/", "https://@example.org/"),
    *("https://\uff11\uff12\uff17.0.0.1/", "https://127\u30020.0.1/", "https://\u24dbocalhost/"),
)
NO_URLS = (
    *("", "hooks.example.org", "ftp://example.org/", "https://", "https:///path"),
    *("https://user:word@example.org/", "https://example.org:99999/", "https://[::1/"),
    *("https://example.org/a b", "https://exämple.org/", "https://example.org/\r\nX: 1"),
    *("file:///etc/passwd", "https://example.org/\x00", "gopher://example.org/"),
)


def leading_to(*addresses: str) -> Resolve:
    return lambda _host, _port: addresses


@pytest.mark.parametrize("address", PRIVATE)
def test_no_private_address_is_reached(address: str) -> None:
    """Neither as it is, when the webhook is made, nor by a name, even if a public one stands first."""
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(TargetError, match="public address"):
        PUBLIC.check(parse_url(f"https://{host}/"))
    for addresses in ((address,), (GOOD, address)):
        with pytest.raises(TargetError, match="no public address"):
            PUBLIC.resolve(URL, leading_to(*addresses))


@pytest.mark.parametrize(
    ("policy", "url", "reason"),
    [
        *((each, f"https://{host}/", "no name") for host in NUMBERS for each in (PUBLIC, LOOPBACK)),
        *((LOOPBACK, f"https://{host}/", ".") for host in NO_NAMES),
        *((PUBLIC, f"https://{host}/", "no public address") for host in NOT_PUBLIC),
        *((LOOPBACK, url, r"user name|plain ASCII|no URL") for url in TRICKS),
        *((PUBLIC, url, ".") for url in NO_URLS),
        *((PUBLIC, url, "https") for url in ("http://example.org/", f"http://{GOOD}/")),
    ],
)
def test_urls_that_are_refused(policy: EgressPolicy, url: str, reason: str) -> None:
    """What some system may read as an address, or one reader takes for the host and another not.

    Nothing of it comes into a request, and nobody is asked for the address of such a name.
    """
    with pytest.raises(TargetError, match=reason):
        policy.check(parse_url(url))


@pytest.mark.parametrize("addresses", [["10.0.0.1"], [GOOD, "127.0.0.1"], []])
async def test_a_name_whose_addresses_are_not_all_public(addresses: list[str]) -> None:
    """It is refused when the webhook is made, as it is at every try."""
    with pytest.raises(TargetError, match=r"no public address|has no address"):
        await Lookups(leading_to(*addresses)).check(PUBLIC, URL)


@pytest.mark.parametrize(
    "name", ["example.org", "EXAMPLE.org.", "a_b.1e100.net", "xn--bcher-kva.ch"]
)
def test_names_are_names(name: str) -> None:
    """Where they lead is asked for."""
    PUBLIC.check(parse_url(f"https://{name}:8443/"))


@pytest.mark.parametrize("address", [GOOD, "2606:4700::1111", "64:ff9b::5db8:d822"])
def test_public_addresses_are_reached(address: str) -> None:
    """The connection goes to the one that was checked."""
    target = PUBLIC.resolve(parse_url("https://hooks.example.org:8443/a?b"), leading_to(address))
    assert (target.address, target.url.port, target.url.path) == (address, 8443, "/a?b")
    assert target.url.authority == "hooks.example.org:8443"


def test_networks_that_are_allowed() -> None:
    """In any way; others are as private as before, and public ones are not told in plain text."""
    for url in (
        *("http://localhost:8080/", "https://localhost/", "http://[::1]/", "http://inner/"),
        *("http://127.8.9.1/", "http://ip6-localhost:8080/"),
    ):
        LOOPBACK.check(parse_url(url))
    inner = parse_url("http://inner.example.org/")
    assert LOOPBACK.resolve(inner, leading_to("::1")).address == "::1"
    for addresses in (("127.0.0.1", "10.0.0.1"), (GOOD,)):
        with pytest.raises(TargetError, match="https"):
            LOOPBACK.resolve(inner, leading_to(*addresses))


class Resolver:
    """Answers when the test lets it."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.asked = threading.Semaphore(0)

    def __call__(self, _host: str, _port: int) -> Sequence[str]:
        self.asked.release()
        self.may_answer.wait()
        return [GOOD]


@pytest.fixture
def slow() -> Iterator[Resolver]:
    resolver = Resolver()
    yield resolver
    resolver.may_answer.set()


async def test_a_name_that_nobody_knows() -> None:
    """The system's reason is told."""

    def unknown(_host: str, _port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    words = "hooks.example.org has no address that is known here: Name or service not known"
    with pytest.raises(TargetError, match=words):
        await Lookups(unknown).check(PUBLIC, URL)


async def test_a_lookup_does_not_hold_the_event_loop(slow: Resolver) -> None:
    """Others go on until the answer is there."""
    lookup = asyncio.create_task(Lookups(slow).check(PUBLIC, URL))
    await asyncio.to_thread(slow.asked.acquire)
    assert not lookup.done()
    slow.may_answer.set()
    await lookup


async def test_callers_and_threads_are_bounded(
    slow: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has waited long enough is answered; its thread counts until the system has answered."""
    monkeypatch.setattr(module, "LOOKUP_LIMIT", timedelta(seconds=0.01))
    lookups = Lookups(slow)
    for _ in range(MAX_LOOKUPS):
        with pytest.raises(TargetError, match=r"hooks\.example\.org was not found within 0\.01 s"):
            await lookups.check(PUBLIC, URL)
    with pytest.raises(BusyError, match="8 names are being looked up; try again later"):
        await lookups.check(PUBLIC, URL)
    monkeypatch.setattr(module, "LOOKUP_LIMIT", timedelta(seconds=20))
    slow.may_answer.set()
    await asyncio.gather(*lookups._running)
    await lookups.check(PUBLIC, URL)
