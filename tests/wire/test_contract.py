"""The contract's constants."""

from datetime import timedelta

import pytest

from meijin.wire.contract import (
    check_bot_name,
    client_keepalive_options,
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


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost", "localhost:7464"),
        (" example.org:80\n", "example.org:80"),
        ("10.0.0.1", "10.0.0.1:7464"),
        ("[::1]", "[::1]:7464"),
        ("[::1]:99", "[::1]:99"),
        ("unix:/run/arena", "unix:/run/arena"),
    ],
)
def test_address(text: str, address: str) -> None:
    """The port may be left out."""
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "http://example.org", "host:port", "a b", "host:123456"])
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
