"""The contract's constants."""

from datetime import timedelta

import pytest

from meijin.wire.contract import (
    Address,
    check_bot_name,
    check_own_name,
    client_keepalive_options,
    is_local,
    keepalive_options,
    parse_address,
)


@pytest.mark.parametrize("name", ["a", "Ada-2", "v1.0_x", "a" * 40])
def test_bot_names(name: str) -> None:
    """Letters, digits and three marks make a name."""
    assert check_bot_name(name) == name


@pytest.mark.parametrize("name", ["", "a" * 41, "a b", "no/name", "ä", "a\n"])
def test_no_bot_names(name: str) -> None:
    """Other names are refused, with the form that they should have."""
    with pytest.raises(ValueError, match="is no bot name; use 1 to 40 letters"):
        check_bot_name(name)


def test_own_names() -> None:
    """Options may end one, that is no longer for that and fits into a path."""
    for name in ("a", "alphabeta:nodes=3000", "a:b=-1.5,c=+2", "a" * 38 + ":b"):
        assert check_own_name(name) == name
    for name in ("a:", ":b", "a:b:c", "a:b=/c", "a:b=c d", "a" * 39 + ":b", "a:b\n"):
        with pytest.raises(ValueError, match="is no bot name"):
            check_own_name(name)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost", Address("localhost:7464")),
        (" example.org:80\n", Address("example.org:80")),
        ("10.0.0.1", Address("10.0.0.1:7464")),
        ("[::1]", Address("[::1]:7464")),
        ("[::1]:99", Address("[::1]:99")),
        ("unix:/run/arena", Address("unix:/run/arena")),
        ("grpcs://example.org", Address("example.org:7464", is_tls=True)),
        ("grpcs://[::1]:80\n", Address("[::1]:80", is_tls=True)),
        ("grpc://10.0.0.1", Address("10.0.0.1:7464")),
    ],
)
def test_address(text: str, address: Address) -> None:
    """The port may be left out, and the scheme says whether TLS is wanted."""
    assert parse_address(text) == address
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("target", "local"),
    [
        *((each, True) for each in ("127.0.0.1:7464", "127.3.2.1:1", "localhost:7464")),
        *((each, True) for each in ("LOCALHOST:1", "[::1]:7464", "[::ffff:127.0.0.1]:1")),
        ("unix:/run/arena", True),
        *((each, False) for each in ("0.0.0.0:7464", "[::]:7464", "10.0.0.1:7464", "*:7464")),
        *((each, False) for each in ("example.org:7464", "0:7464", ":7464", "127.1:7464")),
        *((each, False) for each in ("localhost.example.org:1", "[::ffff:10.0.0.1]:1")),
        *((each, False) for each in ("[fe80::1]:1", "dns:///localhost:1", "2130706433:7464")),
    ],
)
def test_local(target: str, local: bool) -> None:  # noqa: FBT001 - a table
    """Loopback addresses, their name and Unix sockets are of this machine, and nothing else is."""
    assert is_local(target) is local


@pytest.mark.parametrize(
    "text",
    [
        *("", "http://a", "grpcs://", "grpcs:a", "grpcs://a/b"),
        *("host:port", "a b", "host:123456", "host:65536"),
    ],
)
def test_no_address(text: str) -> None:
    """What is no address is answered with how to write one."""
    with pytest.raises(ValueError, match="write it like"):
        parse_address(text)


def test_keepalive() -> None:
    """A peer has half of the interval to answer a probe, on the connection and on HTTP/2."""
    assert dict(keepalive_options(timedelta(seconds=1.5))) == {
        "grpc.keepalive_time_ms": 1500,
        "grpc.keepalive_timeout_ms": 750,
        "grpc.http2.ping_timeout_ms": 750,
    }


def test_keepalive_of_a_client() -> None:
    """It probes a server that has nothing to tell as often as one that has."""
    options = client_keepalive_options()
    assert set(keepalive_options()) < set(options)
    assert dict(options)["grpc.http2.max_pings_without_data"] == 0
