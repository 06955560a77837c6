"""Where a bot plays, and as whom."""

from pathlib import Path

import pytest

from meijin.bots.sdk.settings import Settings
from meijin.wire.channel import Security
from meijin.wire.contract import Address


def resolve(
    server: str | None = None,
    token: str | None = None,
    name: str | None = None,
    security: Security | None = None,
) -> Settings:
    """Settings of a bot called ``mine``."""
    return Settings.resolve(
        server=server, token=token, name=name, security=security, default_name="mine"
    )


def test_defaults() -> None:
    """Without anything said, the bot plays on this machine under its own name."""
    assert resolve() == Settings(Address("127.0.0.1:7464"), Security(), token="", name="mine")


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment fills in what isn't said."""
    monkeypatch.setenv("MEIJIN_SERVER", "grpcs://example.org")
    monkeypatch.setenv("MEIJIN_CA", "ca.pem")
    monkeypatch.setenv("MEIJIN_TOKEN", "secret\n")
    assert resolve() == Settings(
        Address("example.org:7464", is_tls=True), Security(Path("ca.pem")), token="secret", name=""
    )
    given = resolve(server="localhost", token="mine", security=Security())
    assert given == Settings(Address("localhost:7464"), Security(), token="mine", name="")


def test_name_beside_a_token() -> None:
    """A token says which bot it is; only a name that is asked for goes with it."""
    assert not resolve(token="secret").name
    assert resolve(token="secret", name="other").name == "other"


def test_impossible_address() -> None:
    """What is no address of a server is refused before connecting."""
    with pytest.raises(ValueError, match="is no address"):
        resolve(server="http://example.org")


@pytest.mark.parametrize("name", ["a b", "x" * 41, "ü", "a/b"])
def test_impossible_name(name: str) -> None:
    """A name that no server takes is refused before connecting."""
    with pytest.raises(ValueError, match="1 to 40 letters"):
        resolve(name=name)


@pytest.mark.parametrize("token", ["a\nb", "schlüssel"])
def test_impossible_token(token: str) -> None:
    """A token that can't travel is refused, without being repeated."""
    with pytest.raises(ValueError, match="copy it again") as error:
        resolve(token=token)
    assert token not in str(error.value)
