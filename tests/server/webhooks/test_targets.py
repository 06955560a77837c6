"""What webhooks may reach."""

from collections.abc import Sequence
from ipaddress import ip_network

import pytest

from meijin.server.webhooks.targets import Reach, Resolve, TargetError, Url, parse_url

PUBLIC = Reach()
LOOPBACK = Reach((ip_network("127.0.0.0/8"), ip_network("::1/128")))

PRIVATE = (
    *("127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.1", "192.0.2.7"),
    *("198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1"),
    *("2002:7f00:1::", "2002:a00:1::", "2001:0:7f00:1::", "::127.0.0.1", "fe80::1%eth0"),
)


def leading_to(*addresses: str) -> Resolve:
    """A resolver that knows one answer."""

    def resolve(_host: str, _port: int) -> Sequence[str]:
        return addresses

    return resolve


@pytest.mark.parametrize("address", PRIVATE)
def test_no_name_leads_to_a_private_address(address: str) -> None:
    """Nor where a public one stands before it."""
    url = parse_url("https://hooks.example.org/")
    for addresses in ((address,), ("93.184.216.34", address)):
        with pytest.raises(TargetError, match="no public address"):
            PUBLIC.find(url, leading_to(*addresses))


@pytest.mark.parametrize("address", PRIVATE)
def test_no_private_address_is_taken_as_it_is(address: str) -> None:
    """It is refused when the webhook is made."""
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(TargetError, match="public address"):
        PUBLIC.check(parse_url(f"https://{host}/"))


@pytest.mark.parametrize(
    "host",
    [
        *("127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.1", "0x7f.0x0.0x0.0x1", "0x"),
        *("0177.0.0.1", "017700000001", "0", "00", "0.0", "127.0.0.1.", "127.0.0.1..", "1.2.3.256"),
        *("example.org.127.1", "93.184.216.034", "1572395042", "999999999999"),
    ],
)
@pytest.mark.parametrize("reach", [PUBLIC, LOOPBACK])
def test_numbers_that_are_no_usual_address(host: str, reach: Reach) -> None:
    """What some system may read as an address is none, whatever it would lead to."""
    with pytest.raises(TargetError, match="no name"):
        reach.check(parse_url(f"https://{host}/"))


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1%2eexample.org", "%31%32%37.0.0.1", "127.0.0.1%25", "127.0.0.1\\.example.org"),
        *("example..org", ".example.org", "-example.org", "ex*mple.org", "a" * 64 + ".org"),
        *(".".join(["a" * 60] * 5), "[fe80::1%]"),
    ],
)
def test_what_is_no_name_of_a_host(host: str) -> None:
    """Nobody is asked what it might mean."""
    with pytest.raises(TargetError):
        LOOPBACK.check(parse_url(f"https://{host}/"))


@pytest.mark.parametrize(
    "text",
    [
        *("https://example.org@127.0.0.1/", "https://127.0.0.1@example.org/"),
        *("https://127.0.0.1\\@example.org/", "https://:@example.org/", "https://@example.org/"),
        *(
            "https://\uff11\uff12\uff17.0.0.1/",
            "https://127\u30020.0.1/",
            "https://\u24dbocalhost/",
        ),
    ],
)
def test_tricks_with_hosts(text: str) -> None:
    """What one reader takes for the host and another does not is no URL here."""
    with pytest.raises(TargetError, match=r"user name|plain ASCII|no URL"):
        LOOPBACK.check(parse_url(text))


@pytest.mark.parametrize(
    "name", ["example.org", "EXAMPLE.org.", "a_b.1e100.net", "xn--bcher-kva.ch"]
)
def test_names_are_names(name: str) -> None:
    """Where they lead is asked for."""
    PUBLIC.check(parse_url(f"https://{name}:8443/"))


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822"])
def test_public_addresses_are_reached(address: str) -> None:
    """The connection goes to the one that was checked."""
    target = PUBLIC.find(parse_url("https://hooks.example.org:8443/a?b"), leading_to(address))
    assert (target.address, target.url.port, target.url.path) == (address, 8443, "/a?b")
    assert target.url.host_header == "hooks.example.org:8443"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST", "localhost.", "a.localhost", "ip6-localhost", "intranet"]
)
def test_names_of_no_public_address(host: str) -> None:
    """They are refused before anybody asks for their addresses."""
    with pytest.raises(TargetError, match="no public address"):
        PUBLIC.check(parse_url(f"https://{host}/"))


def test_a_name_without_an_address() -> None:
    """It is said."""
    with pytest.raises(TargetError, match="has no address"):
        PUBLIC.find(parse_url("https://hooks.example.org/"), leading_to())


@pytest.mark.parametrize(
    "text",
    [
        *("", "hooks.example.org", "ftp://example.org/", "https://", "https:///path"),
        *("https://user:word@example.org/", "https://example.org:99999/", "https://[::1/"),
        *("https://example.org/a b", "https://exämple.org/", "https://example.org/\r\nX: 1"),
        *("file:///etc/passwd", "https://example.org/\x00", "gopher://example.org/"),
    ],
)
def test_what_is_no_url(text: str) -> None:
    """Nothing of it comes into a request."""
    with pytest.raises(TargetError):
        PUBLIC.check(parse_url(text))


def test_plain_text_goes_nowhere_public() -> None:
    """Not by a literal, by a name, or where networks are allowed that it is not in."""
    for url in ("http://example.org/", "http://93.184.216.34/"):
        with pytest.raises(TargetError, match="https"):
            PUBLIC.check(parse_url(url))
        with pytest.raises(TargetError, match="https"):
            LOOPBACK.find(parse_url(url), leading_to("93.184.216.34"))


def test_networks_that_are_allowed() -> None:
    """In any way; others are as private as before."""
    for url in (
        *("http://localhost:8080/", "https://localhost/", "http://[::1]/", "http://inner/"),
        *("http://127.8.9.1/", "http://ip6-localhost:8080/"),
    ):
        LOOPBACK.check(parse_url(url))
    assert LOOPBACK.find(parse_url("http://localhost/"), leading_to("::1")).address == "::1"
    with pytest.raises(TargetError):
        LOOPBACK.find(parse_url("http://inner.example.org/"), leading_to("127.0.0.1", "10.0.0.1"))


def test_the_host_as_a_header() -> None:
    """With brackets and a port where they are needed."""
    assert Url("::1", 443, "/", is_tls=True).host_header == "[::1]"
    assert Url("example.org", 443, "/", is_tls=False).host_header == "example.org:443"
