"""The contract's constants."""

from datetime import timedelta

import pytest

from meijin.wire.contract import check_bot_name, keepalive_options


@pytest.mark.parametrize("name", ["a", "Ada-2", "v1.0_x", "a" * 40])
def test_bot_names(name: str) -> None:
    """Letters, digits and three marks make a name."""
    assert check_bot_name(name) == name


@pytest.mark.parametrize("name", ["", "a" * 41, "a b", "no/name", "ä", "a\n"])
def test_no_bot_names(name: str) -> None:
    """Other names are refused, with the form that they should have."""
    with pytest.raises(ValueError, match="is no bot name; use 1 to 40 letters"):
        check_bot_name(name)


def test_keepalive() -> None:
    """A peer has half of the interval to answer a probe, on the connection and on HTTP/2."""
    assert dict(keepalive_options(timedelta(seconds=1.5))) == {
        "grpc.keepalive_time_ms": 1500,
        "grpc.keepalive_timeout_ms": 750,
        "grpc.http2.ping_timeout_ms": 750,
    }
